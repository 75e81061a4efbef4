// Options: the same bits everywhere, the definition's, alone and in combinations; and how near they are to the oracle's
// numbers.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "../support/rounds.h"
#include "option_random.h"
#include "option_ways.h"
#include "oracle.h"

using namespace attend_test;

namespace {

// All ways but states. Which of the block sizes follows from the number.
std::vector<Way> ways(const OptionInstance& in, int number, bool few) {
  static constexpr int rows[] = {1, 2, 6, 13, 48};
  std::vector<Way> all;
  for (const bool panels : {false, true}) {
    if (panels && !in.fits_panels()) continue;
    Way way;
    way.panels = panels;
    all.push_back(way);
    if (few) continue;
    for (int i = 0; i < 2; ++i) {
      way.rows = rows[(number + 2 * i + panels) % 5];
      way.keys = (number + i) % 2 == 0 ? 64 : 128;
      if (way.rows == 1 && number % 3 == 0) way.keys = 512;
      all.push_back(way);
    }
    for (const int parts : {2, 3, 7}) {
      way.parts = parts;
      all.push_back(way);
    }
  }
  return all;
}

std::string text(const Way& way) {
  return std::string(std::string(way.panels ? "panels" : "arrays")) + " rows " + std::to_string(way.rows) + " keys " +
         std::to_string(way.keys) + " parts " + std::to_string(way.parts);
}

void check_instance(RandomInstance& instance, int number) {
  const OptionResults defined = defined_results(instance);
  const std::string problem = instance.text();
  OptionResults first;  // one logarithm for all backends and ways
  for_each_backend([&](const char* backend) {
    const bool few = std::string(backend) == "scalar" && number % 10 != 0;
    for (const Way& way : ways(instance, number, few)) {
      const OptionResults found = run_options(instance, way);
      std::string wrong = difference(instance, found, defined, true);
      if (first.output.empty()) first = found;
      if (wrong.empty()) wrong = difference(instance, found, first, false);
      if (!wrong.empty()) FAIL_CHECK(number, ": ", wrong, "; ", std::string(backend), " ", text(way), "; ", problem);
    }
  });
}

void check_number(int number, unsigned wishes) {
  RandomInstance instance(std::uint64_t(number) + 1000, wishes);
  check_instance(instance, number);
}

}  // namespace

TEST_CASE("options: each one alone, 25 random problems of every kind, has the defined bits on every backend") {
  for (int wish = 0; wish < wish_count; ++wish) {
    for (const int i : each_round(25)) check_number(10000 + wish * 100 + i, 1u << wish);
  }
}

TEST_CASE("options: 600 random combinations of those about scores have the defined bits on every backend") {
  for (const int number : each_round(600)) {
    Random random(std::uint64_t(number) + 70);
    unsigned wishes = random.bits() & score_wishes;
    if (number % 2 == 0) wishes &= random.bits();
    check_number(number, wishes);
  }
}

TEST_CASE("options: 24 random combinations over keys so wide that they stay in rows have the defined bits") {
  // Blocks of 48 and of 96 rows are of one token.
  for (const int number : each_round(24)) {
    Random random(std::uint64_t(number) + 74);
    const unsigned wishes = random.bits() & (number % 4 == 0 ? ~0u : score_wishes);
    const int keys = random.between(1, 150), offset = random.between(-3, keys);
    RandomInstance in(std::uint64_t(number) + 60000, wishes, {96, 1, 256, 32, 2, keys, offset, 0.1f, 1.0f, number % 2 == 0});
    in.poison_masked(number % 4);
    check_instance(in, number);
  }
  // Rows of keys apart, of other formats, and from an origin on; panels between sink tokens and a window, which no row sees.
  for (const unsigned wishes : {unsigned(lse), unsigned(half_formats), unsigned(origins), windows | pins}) {
    RandomInstance in(70014 + wishes, wishes, {96, wishes == origins ? 1 : 2, 256, 32, 1, 60, 50, 0.1f, 1.0f, true});
    if (in.has(windows)) in.options.left = 1, in.options.right = -1, in.options.sink_tokens = 4;
    in.poison_masked();
    check_instance(in, 4);  // with blocks of 48 rows
  }
}

TEST_CASE("options: 300 random combinations with number formats, pages, rings and origins have the defined bits") {
  for (const int number : each_round(300)) {
    Random random(std::uint64_t(number) + 71);
    unsigned wishes = random.bits();
    if (number % 3 == 0) wishes &= random.bits() | ~score_wishes;
    check_number(20000 + number, wishes);
  }
}

TEST_CASE("options: alibi_slopes and tables of keys millions of positions away have the defined bits") {
  constexpr int edge = 1 << 22;  // from here on, distances are not summed up
  int number = 40000, taken = 0;
  for (const int offset : {edge - 1, edge, edge + 64, -edge - 200, -edge - 70, -edge + 1, (1 << 24) + 1, 2000000000,
                           std::numeric_limits<int>::min(), std::numeric_limits<int>::max() - 6}) {
    for (const int queries : {1, 6}) {
      for (const unsigned other : {0u, unsigned(relative_tables), unsigned(windows)}) {
        ++number;
        if (!is_tried(taken)) continue;
        // 200 keys fill blocks of 64 and of 128, and then some.
        RandomInstance in(std::uint64_t(number), alibi_slopes | lse | other,
                          {4, 2, 5, 6, queries, 200, offset, 0.3f, 2.0f, false});
        for (float& slope : in.slope_numbers) slope = slope < 0.0f ? -0x1p-6f : 0x1p-7f;  // neighbours differ at 2^22 still
        in.poison_masked();
        check_instance(in, number);
      }
    }
  }
}

TEST_CASE("options: ranges of queries whose positions pass an int are behind all keys") {
  constexpr int last = std::numeric_limits<int>::max();
  for (int number = 50000; number < 50006; ++number) {
    RandomInstance in(std::uint64_t(number), range_lists | windows | lse,
                      {4, 2, 5, 6, 9, 35, number % 2 == 0 ? last : last - 4, 0.3f, 1.0f, number % 3 == 0});
    in.options.left = -1, in.options.right = 19;
    check_instance(in, number);
  }
  // Positions far before all keys, whose window is open to the right: ends that move by one are no window's.
  RandomInstance in(50006, range_lists | windows | lse, {4, 2, 5, 6, 9, 35, -last - 1, 0.3f, 1.0f, false});
  in.options.left = 19, in.options.right = -1;
  for (std::size_t t = 0; t < 9; ++t) in.range_first[t] = 0, in.range_end[t] = std::int32_t(t) + 3;
  check_instance(in, 50006);
}

TEST_CASE("options: outputs, weights and log-sum-exps are within the error bound of the oracle's") {
  for (const int number : each_round(100)) {
    Random random(std::uint64_t(number) + 72);
    RandomInstance in(std::uint64_t(number) + 30000, (random.bits() & score_wishes) | lse | scores);
    in.options.score_stage = core::Scores::weights;
    const OptionResults found = run_options(in);
    double worst = 0.0;
    const auto compare = [&](float a, double b, double bound) {
      if (double(a) == b) return;
      const double error = std::fabs(double(a) - b) / bound;
      if (!(error <= worst)) worst = error;
    };
    for (int t = 0; t < in.s.queries; ++t) {
      for (int h = 0; h < in.s.query_heads; ++h) {
        const OptionRow definition = in.row(t, h);
        const OracleRow row = oracle_row(definition);
        const Roundings count = roundings_of(definition);
        const auto r = std::size_t(t * in.s.query_heads + h);
        const double bound = output_bound(count, row.score_size);
        for (std::size_t c = 0; c < row.output.size(); ++c) {
          compare(found.output[r * output_stride(in) + c], row.output[c], bound * row.largest_value);
        }
        for (std::size_t j = 0; j < row.weights.size(); ++j) {
          compare(found.scores[r * score_stride(in) + j], row.weights[j], bound);
        }
        const double base = in.options.lse_base2 ? per_ln2 : 1.0;
        compare(found.lse[r], row.lse * base, lse_bound(count, row.score_size, row.lse) * base);
      }
    }
    const std::string problem = in.text();
    INFO(number, problem);
    CHECK(worst <= 1.0);
  }
}

TEST_CASE("options: rows that see no key give exactly zero, weights of zero and a log-sum-exp of minus infinity or the sink") {
  int taken = 0;
  for (const unsigned hiding : {unsigned(windows), unsigned(byte_masks), unsigned(bit_masks), unsigned(bias_masks)}) {
    for (const unsigned other : {0u, unsigned(soft_caps), unsigned(sink_logits), unsigned(relative_tables)}) {
      if (taken++ % stride() != 0) continue;
      RandomInstance in(hiding * 7 + other, hiding | other | lse | scores, 20);
      in.options.score_stage = core::Scores::weights;
      if (hiding == windows) in.options.left = 5, in.options.right = 3, in.s.offset = -100;
      if (hiding == byte_masks || hiding == bit_masks) in.options.mask.keys = 0;
      if (hiding == bias_masks) std::fill(in.biases.begin(), in.biases.end(), minus_infinity);
      for (int j = 0; j < in.s.keys; ++j) {
        for (int kv = 0; kv < in.s.kv_heads; ++kv) in.poison(kv, j, bad_numbers[j % 4]);
      }
      const std::string problem = in.text();
      INFO(problem);
      for_each_backend([&](const char* backend) {
        INFO(std::string(backend));
        for (const Way& way : ways(in, int(hiding + other), false)) {
          const OptionResults found = run_options(in, way);
          CHECK(difference(in, found, defined_results(in), true) == "");
          for (std::size_t r = 0; r < row_count(in); ++r) {
            const std::size_t head = r % std::size_t(in.s.query_heads);
            const float logit = other == sink_logits ? in.sink_numbers[head] : minus_infinity;
            const float sink = in.options.lse_base2 ? float(double(logit) * per_ln2) : logit;
            CHECK((found.lse[r] == sink || std::fabs(found.lse[r] - sink) <= 0x1p-21f * std::fabs(sink)));
            for (int c = 0; c < in.s.value_dim; ++c) CHECK(found.output[r * output_stride(in) + std::size_t(c)] == 0.0f);
            for (int j = 0; j < in.options.score_keys; ++j) CHECK(found.scores[r * score_stride(in) + std::size_t(j)] == 0.0f);
          }
        }
      });
    }
  }
}
