// How far activations are from the exact functions, float by float.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "attend/layers/core_layer.h"

namespace attend_test {

struct ActivationCase {
  const char* name;
  void (*run)(const float* from, const float* by, int count, float* to);
  double (*exact)(double x);
  double ulps;  // the most that the error may be, in units in the last place of the exact result
};

inline double exact_tail(double x) { return 0.5 * std::erfc(x * 0.70710678118654752440); }
inline double exact_sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
inline double exact_gelu_tanh(double x) {
  // x times this is -infinity times 0, or x, where the cube decides.
  if (x < -20.0) return -0.0;
  return x * exact_sigmoid(2.0 * 0.79788456080286535588 * (x + 0.044715 * x * x * x));
}

// What include/guide/exactness.md says, a little above what all floats gave.
constexpr ActivationCase activation_cases[] = {
    {"relu", attend::core::activate<attend::Activation::relu>, [](double x) { return x < 0.0 ? 0.0 : x; }, 0.0},
    {"silu", attend::core::activate<attend::Activation::silu>,
     [](double x) { return x < -1000.0 ? -0.0 : x * exact_sigmoid(x); }, 3.3},
    {"gelu", attend::core::activate<attend::Activation::gelu>, [](double x) { return x < -100.0 ? -0.0 : x * exact_tail(-x); },
     5.9},
    {"gelu_tanh", attend::core::activate<attend::Activation::gelu_tanh>, exact_gelu_tanh, 3.4},
    {"sigmoid", attend::core::activate<attend::Activation::sigmoid>, exact_sigmoid, 2.5},
    {"tanh", attend::core::activate<attend::Activation::tanh>, [](double x) { return std::tanh(x); }, 4.0},
    {"exp", attend::core::activate<attend::Activation::exp>, [](double x) { return std::exp(x); }, 1.1},
    {"erf", attend::core::activate<attend::Activation::erf>, [](double x) { return std::erf(x); }, 1.3},
};

struct WorstError {
  double ulps = 0.0;
  float at = 0.0f;
};

// The error of one result in units in the last place. Results below 2^-126 may be flushed to zero, and infinity stands for all
// that is larger than floats are.
inline double error_in_ulps(float found, double exact) {
  if (std::isnan(exact)) return std::isnan(found) ? 0.0 : HUGE_VAL;
  const double least = 0x1p-126, size = std::fabs(exact);
  if (size >= 0x1.ffffffp127) return std::isinf(found) && (found > 0) == (exact > 0) ? 0.0 : HUGE_VAL;
  if (size < least && found == 0.0f) return 0.0;
  const double ulp = size < least ? 0x1p-149 : std::ldexp(1.0, std::ilogb(size) - 23);
  const double error = std::fabs(double(found) - exact) / ulp;
  return std::isnan(error) ? HUGE_VAL : error;
}

// Over the floats whose bits are first, first + step, …, before last.
inline WorstError worst_error(const ActivationCase& c, std::uint64_t first, std::uint64_t last, std::uint64_t step) {
  WorstError worst;
  std::vector<float> x(1024), y(1024);
  for (std::uint64_t begin = first; begin < last; begin += step * x.size()) {
    std::size_t count = 0;
    for (std::uint64_t bits = begin; bits < last && count < x.size(); bits += step, ++count) {
      const std::uint32_t low = std::uint32_t(bits);
      std::memcpy(&x[count], &low, sizeof low);
    }
    c.run(x.data(), nullptr, int(count), y.data());
    for (std::size_t i = 0; i < count; ++i) {
      if (y[i] == 0.0f && std::fabs(double(x[i])) < 0x1p-126) continue;  // parts may flush such numbers to 0
      const double error = error_in_ulps(y[i], c.exact(double(x[i])));
      if (error > worst.ulps) worst = {error, x[i]};
    }
  }
  return worst;
}

}  // namespace attend_test
