// The causal convolution in integers as src/guide/integers.md defines it, one number at a time: what the library must equal. It
// shares no code with it.
#pragma once

#include "linear_integer_definition.h"

namespace attend_test {

// One channel.
struct DefinedIntegerConvolution {
  const std::int8_t* weights;
  std::int64_t bias, factor;  // factor / 2^shift
  int shift;
  const std::int8_t* table;         // or null
  std::vector<std::int8_t> inputs;  // the last width - 1, the oldest first

  DefinedIntegerConvolution(const std::int8_t* of, int width, std::int64_t with, std::int64_t by, int by_shift,
                            const std::int8_t* silu)
      : weights(of), bias(with), factor(by), shift(by_shift), table(silu), inputs(std::size_t(width - 1)) {}
  void clear() { std::fill(inputs.begin(), inputs.end(), std::int8_t(0)); }

  std::int8_t take(std::int8_t x) {
    inputs.push_back(x);
    std::int64_t sum = bias;
    for (std::size_t j = 0; j < inputs.size(); ++j) sum += weights[j] * inputs[j];
    inputs.erase(inputs.begin());
    const std::int64_t number = std::min<std::int64_t>(std::max<std::int64_t>(near_shift(sum * factor, shift), -128), 127);
    return table == nullptr ? std::int8_t(number) : table[number + 128];
  }
};

}  // namespace attend_test
