// Integer attention beside float64 attention of the same 8-bit numbers: problems drawn from normal and from heavy-tailed
// numbers, each tensor with one scale that its largest number decides, and the error in steps of the output.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "../support/random.h"
#include "attend/core/integer.h"

namespace attend_test {

// A tensor of 8-bit numbers; a number stands for scale * number.
struct Quantised {
  std::vector<std::int8_t> numbers;
  double scale;
};

struct IntegerErrorCase {
  bool heavy_tailed;  // Student's t with 3 degrees of freedom, otherwise normal
  int keys, head_dim;
  int queries = 16;
};

struct IntegerError {
  double worst;
  double root_mean_square;
};

class IntegerErrorRun {
 public:
  explicit IntegerErrorRun(const IntegerErrorCase& error_case) : c(error_case) {
    Random random(std::uint64_t(c.keys * 1000 + c.head_dim * 2 + c.heavy_tailed));
    query = draw(random, c.queries);
    key = draw(random, c.keys);
    value = draw(random, c.keys);
    find_exact();
    output.resize(exact.size());
    wide_output.resize(exact.size());
    call(output_scale, output.data(), attend::core::Format::int8);
    call(output_scale / wide_steps, reinterpret_cast<std::int8_t*>(wide_output.data()), attend::core::Format::int16);
  }

  // In steps of the output of 8 bits, both.
  IntegerError error() const { return error_of(output, 1.0); }
  IntegerError wide_error() const { return error_of(wide_output, double(wide_steps)); }

  const IntegerErrorCase c;
  Quantised query, key, value;
  std::vector<double> exact;
  double output_scale = 0.0;  // the largest output is 127
  std::vector<std::int8_t> output;
  static constexpr int wide_steps = 256;  // of the output of 16 bits, in one of the output of 8
  std::vector<std::int16_t> wide_output;

 private:
  template <class Number>
  IntegerError error_of(const std::vector<Number>& numbers, double steps) const {
    IntegerError e{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double off = numbers[i] / steps - exact[i] / output_scale;
      e.worst = std::max(e.worst, std::fabs(off));
      e.root_mean_square += off * off;
    }
    e.root_mean_square = std::sqrt(e.root_mean_square / double(numbers.size()));
    return e;
  }

  static double normal(Random& random) {
    const double a = (double(random.bits()) + 0.5) * 0x1p-32, b = double(random.bits()) * 0x1p-32;
    return std::sqrt(-2.0 * std::log(a)) * std::cos(6.283185307179586 * b);
  }
  double number(Random& random) const {
    const double top = normal(random);
    if (!c.heavy_tailed) return top;
    double squares = 0.0;
    for (int i = 0; i < 3; ++i) {
      const double one = normal(random);
      squares += one * one;
    }
    return top / std::sqrt(squares / 3.0);
  }
  Quantised draw(Random& random, int rows) const {
    std::vector<double> numbers(std::size_t(rows) * std::size_t(c.head_dim));
    double most = 0.0;
    for (double& one : numbers) one = number(random), most = std::max(most, std::fabs(one));
    Quantised q{{}, most / 127.0};
    for (const double one : numbers) q.numbers.push_back(std::int8_t(std::floor(one / q.scale + 0.5)));
    return q;
  }

  double score_scale() const { return query.scale * key.scale / std::sqrt(double(c.head_dim)); }

  void find_exact() {
    const std::size_t dim = std::size_t(c.head_dim), keys = std::size_t(c.keys);
    std::vector<double> weights(keys);
    for (std::size_t i = 0; i < std::size_t(c.queries); ++i) {
      for (std::size_t j = 0; j < keys; ++j) {
        double dot = 0.0;
        for (std::size_t d = 0; d < dim; ++d) dot += double(query.numbers[i * dim + d]) * key.numbers[j * dim + d];
        weights[j] = dot * score_scale();
      }
      const double most = *std::max_element(weights.begin(), weights.end());
      double sum = 0.0;
      for (double& weight : weights) weight = std::exp(weight - most), sum += weight;
      for (std::size_t d = 0; d < dim; ++d) {
        double one = 0.0;
        for (std::size_t j = 0; j < keys; ++j) one += weights[j] * value.numbers[j * dim + d];
        exact.push_back(one / sum * value.scale);
        output_scale = std::max(output_scale, std::fabs(exact.back()) / 127.0);
      }
    }
  }

  void call(double its_scale, std::int8_t* to, attend::core::Format format) {
    using namespace attend::core;
    const int dim = c.head_dim, rows = 8, key_block = 64;
    const ScoreScale score = attend::core::score_scale(score_scale() * 1.4426950408889634);
    const OutputScale of_output = attend::core::output_scale(value.scale / its_scale);
    std::vector<char> memory(integer_scratch_bytes(rows, key_block, dim, dim, attend::core::segment_levels(c.keys)) + 64);
    char* const scratch = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
    Problem p{};
    p.query = {query.numbers.data(), dim, 0};
    p.output = {to, dim, 0};
    p.key = {key.numbers.data(), dim, 0};
    p.value = {value.numbers.data(), dim, 0};
    p.query_heads = p.kv_heads = 1;
    p.head_dim = p.value_dim = dim;
    p.queries = c.queries, p.keys = c.keys;
    p.score_scales = &score, p.output_scales = &of_output;
    p.row_block = rows, p.key_block = key_block, p.scratch = scratch;
    Options options;
    options.output_format = format;
    Integers::run(p, options);
  }
};

constexpr int integer_error_keys[] = {16, 64, 256, 1024}, integer_error_dims[] = {16, 32, 64, 128};

// Calls with each case.
template <class Call>
void for_each_integer_error_case(Call call) {
  for (const bool heavy_tailed : {false, true}) {
    for (const int keys : integer_error_keys) {
      for (const int head_dim : integer_error_dims) call(IntegerErrorCase{heavy_tailed, keys, head_dim});
    }
  }
}

}  // namespace attend_test
