// The causal convolution as src/guide/arithmetic.md defines it, one number at a time, with the C library's own fma: what every
// backend must equal bit for bit. It shares no code with the library. And the same in float64, with the bound of its error.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace attend_test {

// g and k of e^-size = g 2^k, for 0 <= size <= 128.
struct DefinedPower {
  float digits;
  int whole;
};
inline DefinedPower defined_power(float size) {
  const float shift = 12582912.0f, log2_e = -1.442695f, rest = -1.925963e-08f;
  const float whole = std::fma(size, log2_e, shift) - shift;
  const float f = std::fma(size, rest, std::fma(size, log2_e, -whole));
  float g = 0.00015241286f;
  for (const float c : {0.0013391302f, 0.009618834f, 0.05550359f, 0.24022645f, 0.6931472f, 1.0f}) g = std::fma(g, f, c);
  return {g, int(whole)};
}
// a / b for b >= 1.
inline float defined_quotient(float a, float b) {
  const float minus = -b;
  std::uint32_t bits;
  std::memcpy(&bits, &minus, sizeof bits);
  bits = 0xfef311c7u - bits;
  float y;
  std::memcpy(&y, &bits, sizeof y);
  for (int step = 0; step < 3; ++step) y = std::fma(y, std::fma(minus, y, 1.0f), y);
  const volatile float first = a * y;
  return std::fma(std::fma(minus, first, a), y, first);
}
// x / (1 + e^-x) of a number.
inline float defined_silu(float x) {
  const DefinedPower p = defined_power(std::min(std::fabs(x), 128.0f));
  const float below = 1.0f + (p.whole < -125 ? 0.0f : std::ldexp(p.digits, p.whole));
  const volatile float product = std::max(x, -128.0f) * defined_quotient(x >= 0.0f ? 1.0f : p.digits, below);
  return x >= 0.0f ? float(product) : std::ldexp(product, p.whole);
}

// One channel.
struct DefinedConvolution {
  const float* weights;
  const float* bias;  // of the channel, or null
  bool silu;
  std::vector<float> inputs;  // the last width - 1, the oldest first

  DefinedConvolution(const float* of, int width, const float* with, bool has_silu)
      : weights(of), bias(with), silu(has_silu), inputs(std::size_t(width - 1)) {}
  void clear() { std::fill(inputs.begin(), inputs.end(), 0.0f); }

  float take(float x) {
    inputs.push_back(x);
    float sum = bias == nullptr ? 0.0f : *bias;
    for (std::size_t j = 0; j < inputs.size(); ++j) sum = std::fma(weights[j], inputs[j], sum);
    inputs.erase(inputs.begin());
    return silu ? defined_silu(sum) : sum;
  }

  // The same in float64, and how far a float may be from it: each of its width fused multiply-adds rounds a sum that is at most
  // the sum of all magnitudes. SiLU is steep by 1.1 at most, and 3.3 units in the last place off by itself.
  struct Exact {
    double output, bound;
  };
  Exact exact(float x) const {
    double sum = bias == nullptr ? 0.0 : double(*bias), sizes = std::fabs(sum);
    for (std::size_t j = 0; j <= inputs.size(); ++j) {
      const double term = double(weights[j]) * double(j < inputs.size() ? inputs[j] : x);
      sum += term, sizes += std::fabs(term);
    }
    const double off = 1.01 * 0x1p-24 * double(inputs.size() + 1) * sizes;
    if (!silu) return {sum, off};
    const double output = sum / (1.0 + std::exp(-sum));
    return {output, 1.1 * off + 3.3 * 0x1p-23 * (std::fabs(output) + off)};
  }
};

}  // namespace attend_test
