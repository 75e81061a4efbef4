// How far outputs over a cache of some formats are from those over a cache of floats, on data as models have it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../support/random.h"
#include "attend/layers.h"

namespace attend_test {

// Normally distributed, mean 0 and variance 1: the sum of twelve uniform numbers is near enough.
inline float normal(Random& random) {
  float sum = 0.0f;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum * 0.5f;
}

// One head of so many dimensions and keys; queries, keys and values normal, the scale 1 / sqrt(head_dim). With outliers, one
// dimension of keys in 32 is ten times as large, and that of queries a tenth, so that scores stay as they are.
class FormatError {
 public:
  static constexpr int queries = 64;

  FormatError(int head_dim, int keys, std::uint64_t seed, bool outliers = false) : dims_(head_dim), keys_(keys) {
    Random random(seed << 32 | std::uint64_t(head_dim) << 16 | std::uint64_t(keys));
    for (std::vector<float>* numbers : {&query_, &key_, &value_}) {
      numbers->resize(std::size_t((numbers == &query_ ? queries : keys) * head_dim));
      for (float& number : *numbers) number = normal(random);
    }
    for (std::size_t i = 5; outliers && i < key_.size(); i += 32) key_[i] *= 10.0f;
    for (std::size_t i = 5; outliers && i < query_.size(); i += 32) query_[i] *= 0.1f;
    expected_ = outputs(attend::core::Format::float32, attend::core::Format::float32);
    for (const float value : value_) largest_value_ = std::max(largest_value_, std::fabs(value));
  }

  // The largest |error| of any output, relative to the largest |value|, and the root mean square relative to that of outputs.
  // rotated: queries and keys go through attend::hadamard first.
  struct Errors {
    double largest, mean;
  };
  Errors errors(attend::core::Format keys, attend::core::Format values, bool rotated = false) const {
    const std::vector<float> found = outputs(keys, values, rotated);
    double largest = 0.0, squares = 0.0, all = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double error = std::fabs(double(found[i]) - double(expected_[i]));
      if (!(error <= largest)) largest = error;  // a NaN is the largest
      squares += error * error, all += double(expected_[i]) * double(expected_[i]);
    }
    return {largest / double(largest_value_), std::sqrt(squares / all)};
  }
  double largest(attend::core::Format keys, attend::core::Format values, bool rotated = false) const {
    return errors(keys, values, rotated).largest;
  }

 private:
  std::vector<float> outputs(attend::core::Format key_format, attend::core::Format value_format, bool rotated = false) const {
    namespace core = attend::core;
    std::vector<float> query = query_, key = key_;
    if (rotated) core::hadamard(query_.data(), queries, dims_, query.data());
    if (rotated) core::hadamard(key_.data(), keys_, dims_, key.data());
    std::vector<float> output(query_.size());
    std::vector<std::uint8_t> keys(core::format_cache_key_bytes(key_format, 1, dims_, keys_)),
        values(core::format_cache_value_bytes(value_format, 1, dims_, keys_));
    std::vector<float> key_scales(core::format_cache_rows(1, keys_)), value_scales(key_scales.size());
    core::store({keys.data(),
                 values.data(),
                 key_scales.data(),
                 value_scales.data(),
                 key_format,
                 value_format,
                 1,
                 dims_,
                 dims_,
                 keys_,
                 {}},
                0, keys_, {key.data(), dims_, 0}, {value_.data(), dims_, 0});
    core::Problem problem{};
    core::Options options;
    problem.query = {query.data(), dims_, 0};
    problem.output = {output.data(), dims_, 0};
    problem.key = {keys.data(), 0, 0};
    problem.value = {values.data(), dims_, 0};
    problem.query_heads = problem.kv_heads = 1;
    problem.head_dim = problem.value_dim = dims_;
    problem.queries = queries;
    problem.keys = keys_;
    problem.scale = attend::default_scale(dims_);
    problem.key_panels = true;
    problem.row_block = queries;
    problem.key_block = attend::config::key_block;
    options.key_format = key_format;
    options.value_format = value_format;
    if (key_format == core::Format::int8) options.key_scales = key_scales.data();
    if (value_format == core::Format::int8) options.value_scales = value_scales.data();
    std::vector<float> scratch(core::option_scratch_floats(queries, problem.key_block, dims_, dims_) +
                               attend::config::alignment / sizeof(float));
    void* start = scratch.data();
    std::size_t bytes = scratch.size() * sizeof(float);
    problem.scratch = static_cast<float*>(std::align(attend::config::alignment, sizeof(float), start, bytes));
    core::Floats::run(problem, options);
    return output;
  }

  int dims_, keys_;
  std::vector<float> query_, key_, value_, expected_;
  float largest_value_ = 0.0f;
};

// What is promised for head_dim 32 to 128 and 64 to 4096 keys; of int4 with outliers for rotated queries and keys.
constexpr double float16_error_bound = 0.0002, bfloat16_error_bound = 0.002, int8_error_bound = 0.005, int4_error_bound = 0.06;

}  // namespace attend_test
