// One projection with its data, run in all the ways that must give the same bits; and its definition, as straightforward code.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "../support/number_formats.h"
#include "attend/layers/core_linear.h"

namespace attend_test {

struct LinearShape {
  int tokens, inputs, outputs;
  Format format;
  bool bias;
};

// How it is computed. No bit depends on it.
struct LinearWay {
  bool panels = false;
  bool work = false;
  int parts = 1;
};

inline void run_linear_of(Format format, const attend::core::Linear& linear, int part, int parts) {
  using namespace attend::core;
  switch (format) {
    case Format::float32:
      return parts == 1 ? run_linear<Format::float32>(linear) : run_linear_part<Format::float32>(linear, part, parts);
    case Format::float16:
      return parts == 1 ? run_linear<Format::float16>(linear) : run_linear_part<Format::float16>(linear, part, parts);
    case Format::bfloat16:
      return parts == 1 ? run_linear<Format::bfloat16>(linear) : run_linear_part<Format::bfloat16>(linear, part, parts);
    case Format::int8:
      return parts == 1 ? run_linear<Format::int8>(linear) : run_linear_part<Format::int8>(linear, part, parts);
    case Format::int4:
      return parts == 1 ? run_linear<Format::int4>(linear) : run_linear_part<Format::int4>(linear, part, parts);
    case Format::int16:  // no weights
      return;
  }
}

class LinearCase {
 public:
  LinearCase(const LinearShape& shape, std::uint64_t seed) : s(shape) {
    Random random(seed);
    if (s.format == Format::int4) s.inputs = (s.inputs + 31) / 32 * 32;
    input_stride_ = s.inputs + random.between(0, 3);
    if (input_stride_ % 4 == 3) input_stride_ = (s.inputs + 1023) & -1024;  // rows that share sets of a cache are gathered
    output_stride_ = s.outputs + random.between(0, 3);
    weight_stride_ = s.inputs + random.between(0, 3) * (s.format == Format::int4 ? 32 : 1);
    input_.assign(std::size_t(s.tokens * input_stride_), std::nanf(""));
    for (int t = 0; t < s.tokens; ++t) random.fill(&input_[std::size_t(t * input_stride_)], std::size_t(s.inputs));
    rows_ = Numbers(s.format, std::size_t((s.outputs - 1) * weight_stride_ + s.inputs));
    rows_.fill(std::nanf(""));
    panels_ = Numbers(s.format, attend::core::packed_weight_numbers(s.outputs, s.inputs), true);
    panels_.fill(0.0f);
    for (int o = 0; o < s.outputs; ++o) {
      for (int i = 0; i < s.inputs; ++i) {
        const auto row = std::size_t(o * weight_stride_ + i), panel = std::size_t((o / 16 * s.inputs + i) * 16 + o % 16);
        const float weight = s.format == Format::int4 ? weight_of_int4(random, row, panel) : weight_of(random);
        rows_.set(row, weight);
        panels_.set(panel, weight);
      }
    }
    scales_.resize(std::size_t(s.outputs));
    bias_.resize(std::size_t(s.outputs));
    random.fill(scales_.data(), scales_.size());
    random.fill(bias_.data(), bias_.size());
  }

  void set_input(int t, int i, float number) { input_[std::size_t(t * input_stride_ + i)] = number; }

  // Every output by a plain loop.
  std::vector<float> defined() const {
    std::vector<float> output;
    for (int t = 0; t < s.tokens; ++t) {
      for (int o = 0; o < s.outputs; ++o) {
        float sum = 0.0f;
        for (int first = 0; first < s.inputs; first += 16) {
          float chain = 0.0f;
          for (int i = first; i < std::min(first + 16, s.inputs); ++i) chain = std::fma(weight(o, i), input(t, i), chain);
          sum = first == 0 ? chain : sum + chain;
        }
        output.push_back(ended(sum, o));
      }
    }
    return output;
  }

  // The largest difference from the exact outputs, in units of the bound.
  //
  // A product goes through min(inputs, 16) roundings in its chain, one for each chain after the first, and two at the end.
  double error(const std::vector<float>& output) const {
    double worst = 0.0;
    const double roundings = std::min(s.inputs, 16) + (s.inputs - 1) / 16 + 2;
    for (int t = 0; t < s.tokens; ++t) {
      for (int o = 0; o < s.outputs; ++o) {
        const double scale = s.format == Format::int8 ? double(scales_[std::size_t(o)]) : 1.0;
        const double added = s.bias ? double(bias_[std::size_t(o)]) : 0.0;
        double exact = added, size = std::fabs(added);
        for (int i = 0; i < s.inputs; ++i) {
          const double product = double(weight(o, i)) * double(input(t, i)) * scale;
          exact += product;
          size += std::fabs(product);
        }
        const double off = std::fabs(double(output[std::size_t(t * s.outputs + o)]) - exact);
        worst = std::max(worst, off / (1.01 * 0x1p-24 * roundings * size));
      }
    }
    return worst;
  }

  // Weights, work memory and outputs are exactly as large as promised, so that an address sanitizer sees every step beyond.
  std::vector<float> run(const LinearWay& way) const {
    std::vector<float> work = poison(way.work ? attend::core::linear_work_floats : 0);
    std::vector<float> output = poison(std::size_t(s.tokens * output_stride_));
    attend::core::Linear linear{};
    linear.input = input_.data();
    linear.output = output.data();
    linear.weights = way.panels ? panels_.data() : rows_.data();
    linear.scales = s.format == Format::int8 ? scales_.data() : nullptr;
    linear.bias = s.bias ? bias_.data() : nullptr;
    linear.input_stride = input_stride_;
    linear.output_stride = output_stride_;
    linear.weight_stride = way.panels ? 0 : weight_stride_;
    linear.inputs = s.inputs;
    linear.outputs = s.outputs;
    linear.tokens = s.tokens;
    linear.panels = way.panels;
    linear.work = way.work ? work.data() : nullptr;
    for (int part = 0; part < way.parts; ++part) run_linear_of(s.format, linear, part, way.parts);
    std::vector<float> dense;
    for (int t = 0; t < s.tokens; ++t) {
      const float* const row = &output[std::size_t(t * output_stride_)];
      dense.insert(dense.end(), row, row + s.outputs);
      for (int o = s.outputs; o < output_stride_; ++o) is_beyond_untouched = is_beyond_untouched && std::isnan(row[o]);
    }
    return dense;
  }

  std::string text() const {
    return std::to_string(s.tokens) + " tokens, " + std::to_string(s.inputs) + " inputs, " + std::to_string(s.outputs) +
           " outputs, format " + std::to_string(int(s.format)) + (s.bias ? ", bias" : "");
  }

  LinearShape s;
  mutable bool is_beyond_untouched = true;  // what lies between rows of the output

 private:
  float weight_of(Random& random) const {
    const float step = s.format == Format::int8 ? 127.0f : 1.0f;
    return rounded_to(s.format, std::nearbyint(random.uniform() * 4096.0f) / 4096.0f * step);
  }
  // The first of a group sets its scale, of all 11 digits, of either sign.
  float weight_of_int4(Random& random, std::size_t row, std::size_t panel) {
    if (row % 32 == 0) {
      scale_ = narrowed(double(random.uniform()) / 8, 10);
      rows_.set_scale(row, scale_);
      panels_.set_scale(panel, scale_);
    }
    return float(random.between(-8, 7)) * widened(scale_, 10);
  }
  float weight(int o, int i) const { return rows_.get(std::size_t(o * weight_stride_ + i)); }
  float input(int t, int i) const { return input_[std::size_t(t * input_stride_ + i)]; }
  float ended(float sum, int o) const {
    const float scale = scales_[std::size_t(o)], bias = bias_[std::size_t(o)];
    if (s.format != Format::int8) return s.bias ? sum + bias : sum;
    return s.bias ? std::fma(sum, scale, bias) : sum * scale;
  }

  int input_stride_, output_stride_, weight_stride_;
  std::vector<float> input_, scales_, bias_;
  std::uint16_t scale_ = 0;
  mutable Numbers rows_, panels_;
};

}  // namespace attend_test
