// Measures the library's errors against the float64 oracle on random inputs, over head_dim, keys, the spread of the scores and
// the signs of values.
//
//   accuracy [--dump DIR] [--seed N]       ATTEND_BACKEND in the environment chooses the backend
//   accuracy --formats                     errors of caches in other formats against one of floats, as a table for
//   bench/speed/results/accuracy.md
//
// Prints one line for each case, and ends with status 1 when an error passes its bound. With --dump the lines go to
// DIR/cases.txt with the inputs and the oracle's outputs beside them, about 400 MB, and it is for accuracy.py to judge: that
// measures numpy on the same data.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "../../../tests/conformance/format_error.h"
#include "../../../tests/conformance/oracle.h"
#include "../../../tests/support/random.h"
#include "attend/layers.h"

namespace {

using Floats = std::vector<float>;

constexpr int head_dims[] = {8, 16, 32, 64, 128, 256};  // the value width too
constexpr int key_counts[] = {1, 16, 64, 256, 512, 1024, 4096};
constexpr double spreads[] = {0.1, 2.0, 20.0, 100.0, 1000.0};  // the largest |score| of a case, in natural-log units

// Values of both signs cancel, as models' do, and so do their errors. Those of one sign do not: uniform in 1/2 ... 1, or all 1.
enum class Values { both_signs, one_sign, ones };
constexpr Values all_values[] = {Values::both_signs, Values::one_sign, Values::ones};
constexpr const char* value_names[] = {"both_signs", "one_sign", "ones"};

float value_of(Values values, float uniform) {
  return values == Values::both_signs ? uniform : values == Values::ones ? 1.0f : 0.5f + 0.5f * std::fabs(uniform);
}

// The stated limits of the largest error on such inputs, relative to the largest |value|; none for wider heads or larger
// scores.
double bound(int head_dim, double spread, Values values) {
  if (head_dim > 128 || spread > 20.0) return std::numeric_limits<double>::infinity();
  return spread > 2.0 ? 2e-5 : values == Values::both_signs ? 3e-7 : 1e-6;
}

// Where scores are large, their errors are, and signs of values make no difference.
bool is_measured(double spread, Values values) { return spread <= 20.0 || values == Values::both_signs; }

// Query rows of a case. The errors of small scores come from every output element alike, so few rows do. Those of large scores
// come from the rows whose best keys nearly tie, which are rare; there the largest error is an accident unless rows are many.
// The first limit keeps the oracle's time short, the second the dump small, and the least is what the largest error needs.
int row_count(int head_dim, int keys, double spread) {
  const int products = spread > 20.0 ? 1 << 27 : spread > 2.0 ? 1 << 26 : 1 << 24;
  const int outputs = spread > 20.0 ? 1 << 18 : spread > 2.0 ? 1 << 17 : 1 << 16;
  return std::max(64, std::min(products / (head_dim * keys), outputs / head_dim));
}

double largest_magnitude(const Floats& numbers) {
  float largest = 0.0f;
  for (const float number : numbers) largest = std::max(largest, std::fabs(number));
  return double(largest);
}

[[noreturn]] void fail(const std::string& reason) {
  std::fprintf(stderr, "accuracy: %s\n", reason.c_str());
  std::exit(2);
}

struct Arguments {
  std::string directory;  // empty: no dump
  std::uint64_t seed = 1;
};

// One head_dim and key count: keys in [-1, 1), and queries that are scaled to each spread in turn.
class Cell {
 public:
  Cell(int head_dim, int keys, const Arguments& arguments)
      : arguments_(arguments), key_(std::size_t(keys * head_dim)), uniform_(key_.size()), value_(key_.size()), problem_{} {
    int most_rows = 0;
    for (const double spread : spreads) most_rows = std::max(most_rows, row_count(head_dim, keys, spread));
    unit_query_.resize(std::size_t(most_rows * head_dim));
    query_.resize(unit_query_.size());
    output_.resize(unit_query_.size());
    attend_test::Random random(arguments.seed << 32 | std::uint64_t(head_dim) << 16 | std::uint64_t(keys));
    random.fill(unit_query_.data(), unit_query_.size());
    random.fill(key_.data(), key_.size());
    random.fill(uniform_.data(), uniform_.size());
    problem_.output = {output_.data(), head_dim, 0};
    problem_.key = {key_.data(), head_dim, 0};
    problem_.value = {value_.data(), head_dim, 0};
    problem_.query_heads = problem_.kv_heads = 1;
    problem_.head_dim = problem_.value_dim = head_dim;
    problem_.keys = keys;
    problem_.scale = attend::default_scale(head_dim);
    problem_.row_block = attend::config::row_block;
    problem_.key_block = attend::config::key_block;
    scratch_.resize(attend::core::scratch_floats(problem_.row_block, problem_.key_block, head_dim, head_dim, keys, false) +
                    attend::config::alignment);
    void* scratch = scratch_.data();
    std::size_t bytes = scratch_.size() * sizeof(float);
    problem_.scratch = static_cast<float*>(std::align(attend::config::alignment, sizeof(float), scratch, bytes));
    if (!dumping()) return;
    write(".query", unit_query_);
    write(".key", key_);
  }

  void choose(Values values) {
    values_ = values;
    for (std::size_t i = 0; i < value_.size(); ++i) value_[i] = value_of(values, uniform_[i]);
    if (dumping()) write((std::string("_") + name() + ".value").c_str(), value_);
  }

  // Measures one spread with the chosen values and writes its line. False when the error passes its bound.
  bool measure(double spread, std::FILE* table) {
    problem_.query = {unit_query_.data(), problem_.head_dim, 0};
    if (const int rows = row_count(problem_.head_dim, problem_.keys, spread); rows != problem_.queries) {
      problem_.queries = rows;
      unit_score_ = attend_test::largest_score(problem_);
    }
    const auto factor = float(spread / unit_score_);
    for (std::size_t i = 0; i < query_.size(); ++i) query_[i] = unit_query_[i] * factor;
    problem_.query.data = query_.data();
    const std::vector<double> expected = attend_test::oracle(problem_);
    attend::core::Floats::run(problem_);
    const attend_test::Errors errors = attend_test::errors_against(expected, problem_);
    const double unit = largest_magnitude(value_);
    const double relative = errors.largest / unit;
    const double limit = bound(problem_.head_dim, spread, values_);
    std::fprintf(table, "%9d %5d %7g %6d %14.9g %11.9g %9.3e %9.3e %9.3e %9.3e %7g %s\n", problem_.head_dim, problem_.keys,
                 spread, problem_.queries, double(factor), unit, errors.largest, errors.root_mean_square, relative,
                 errors.root_mean_square / unit, limit, name());
    if (dumping()) {
      char suffix[48];
      std::snprintf(suffix, sizeof suffix, "_%s_%g.oracle", name(), spread);
      write(suffix, expected);
    }
    return relative <= limit;
  }

 private:
  const char* name() const { return value_names[int(values_)]; }
  bool dumping() const { return !arguments_.directory.empty(); }

  // The numbers as they lie in memory, nothing else, in DIR/<head_dim>x<keys><suffix>.
  template <class Number>
  void write(const char* suffix, const std::vector<Number>& numbers) const {
    const std::string name = std::to_string(problem_.head_dim) + "x" + std::to_string(problem_.keys) + suffix;
    const std::string path = arguments_.directory + "/" + name;
    std::FILE* file = std::fopen(path.c_str(), "wb");
    const bool written = file != nullptr && std::fwrite(numbers.data(), sizeof(Number), numbers.size(), file) == numbers.size();
    if (file == nullptr || std::fclose(file) != 0 || !written) fail("cannot write " + path);
  }

  const Arguments& arguments_;
  Floats unit_query_, query_;  // [rows][head_dim], before and after scaling to the spread
  Floats key_;                 // [keys][head_dim]
  Floats uniform_, value_;     // likewise: what values are made of, and they
  Floats output_, scratch_;
  attend::core::Problem problem_;
  Values values_ = Values::both_signs;
  double unit_score_ = 0.0;  // the largest |score| of the problem's queries before scaling
};

// Lines of head dims and key counts, columns of formats. False when bytes pass their bound.
bool print_formats() {
  using attend::core::Format;
  std::printf("Largest error relative to max|v|, of the format's cache against one of floats:\n\n");
  std::printf(
      "| head_dim | keys | float16 | bfloat16 | int8 keys, float16 values | int8 |\n| --- | --- | --- | --- | --- | --- |\n");
  bool good = true;
  for (const int head_dim : {32, 64, 128}) {
    for (const int keys : {64, 256, 1024, 4096}) {
      const attend_test::FormatError error(head_dim, keys, 1);
      const double bytes = error.largest(Format::int8, Format::int8);
      std::printf("| %d | %d | %.3f %% | %.2f %% | %.2f %% | %.2f %% |\n", head_dim, keys,
                  100.0 * error.largest(Format::float16, Format::float16),
                  100.0 * error.largest(Format::bfloat16, Format::bfloat16),
                  100.0 * error.largest(Format::int8, Format::float16), 100.0 * bytes);
      good = good && bytes <= attend_test::int8_error_bound;
    }
  }
  std::printf(
      "\nRoot mean square error of outputs, relative to theirs, and largest error relative to max|v|, head_dim 64, 1024 keys;\n"
      "rotated: queries and keys by attend::hadamard; outliers: one dimension of keys in 32 ten times as large.\n\n"
      "| keys and values | normal | normal, rotated | outliers | outliers, rotated |\n| --- | --- | --- | --- | --- |\n");
  const attend_test::FormatError normal(64, 1024, 1), outliers(64, 1024, 1, true);
  const std::pair<Format, Format> kinds[] = {
      {Format::int8, Format::int8}, {Format::int4, Format::int4}, {Format::int4, Format::float16}};
  const char* const names[] = {"int8", "int4", "int4 keys, float16 values"};
  for (int i = 0; i < 3; ++i) {
    std::printf("| %s |", names[i]);
    for (const attend_test::FormatError* data : {&normal, &outliers}) {
      for (const bool rotated : {false, true}) {
        const auto errors = data->errors(kinds[i].first, kinds[i].second, rotated);
        std::printf(" %.1f %%, %.2f %% |", 100.0 * errors.mean, 100.0 * errors.largest);
      }
    }
    std::printf("\n");
  }
  std::printf("\n");
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (argc == 2 && std::string(argv[1]) == "--formats") return print_formats() ? 0 : 1;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 < argc && option == "--dump") {
      arguments.directory = argv[i + 1];
    } else if (i + 1 < argc && option == "--seed") {
      arguments.seed = std::strtoull(argv[i + 1], nullptr, 10);
    } else {
      fail("usage: accuracy [--dump DIR] [--seed N], or accuracy --formats");
    }
  }
  const char* backend = std::getenv("ATTEND_BACKEND");
  if (backend != nullptr && !attend::use_backend(backend)) fail(std::string("this machine cannot run the backend ") + backend);

  std::FILE* table = stdout;
  if (!arguments.directory.empty()) {
    std::error_code error;
    std::filesystem::create_directories(arguments.directory, error);
    const std::string path = arguments.directory + "/cases.txt";
    table = std::fopen(path.c_str(), "w");
    if (table == nullptr) fail("cannot write " + path);
  }
  std::fprintf(table,
               "# backend %s, seed %llu; errors against float64, also relative to max|v|, the largest |value| of the case\n",
               attend::active_backend(), static_cast<unsigned long long>(arguments.seed));
  std::fprintf(table, "#%8s %5s %7s %6s %14s %11s %9s %9s %9s %9s %7s\n", "head_dim", "keys", "spread", "rows", "query factor",
               "max|v|", "max", "rms", "rel max", "rel rms", "bound  values");
  bool good = true;
  for (const int head_dim : head_dims) {
    for (const int keys : key_counts) {
      Cell cell(head_dim, keys, arguments);
      for (const Values values : all_values) {
        cell.choose(values);
        for (const double spread : spreads) good = (!is_measured(spread, values) || cell.measure(spread, table)) && good;
      }
    }
  }
  if (table == stdout) return good ? 0 : 1;
  if (std::fclose(table) != 0) fail("cannot write the table");
}
