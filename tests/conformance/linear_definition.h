// Linear attention as src/guide/arithmetic.md defines it, one number at a time, with the C library's own fma: what every
// backend must equal bit for bit. It shares no code with the library. And the same in float64, with the bound of its error.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace attend_test {

// e^x for x <= 0, and 0 below 2^-24.
inline float defined_gate(float x) {
  if (std::isnan(x)) return x;
  if (x < -16.635532f) return 0.0f;
  const float shift = 12582912.0f, log2_e = 1.442695f, rest = 1.925963e-08f;
  const float whole = std::fma(x, log2_e, shift) - shift;
  const float f = std::fma(x, rest, std::fma(x, log2_e, -whole));
  const float coefficients[] = {0.00015241286f, 0.0013391302f, 0.009618834f, 0.05550359f, 0.24022645f, 0.6931472f, 1.0f};
  float g = coefficients[0];
  for (int i = 1; i < 7; ++i) g = std::fma(g, f, coefficients[i]);
  return std::ldexp(g, int(whole));
}

// The sum of products in chains of 16.
template <class A, class B>
float defined_chains(int count, A a, B b) {
  float sum = 0.0f;
  for (int first = 0; first < count; first += 16) {
    float chain = 0.0f;
    for (int i = first; i < std::min(first + 16, count); ++i) chain = std::fma(a(i), b(i), chain);
    sum = sum + chain;
  }
  return sum;
}

// One value head. gates: null without, or one for each key dimension, apart by gate_step: 0 where the head has one.
struct DefinedLinearHead {
  int keys, columns;
  std::vector<float> state;  // [key][column]
  float decayed = 0.0f;

  DefinedLinearHead(int key_count, int column_count)
      : keys(key_count), columns(column_count), state(std::size_t(key_count * column_count)) {}
  float& at(int d, int c) { return state[std::size_t(d * columns + c)]; }

  void take(const float* key, const float* value, const float* gates, int gate_step, const float* beta) {
    std::vector<float> a(std::size_t(keys), 1.0f), w(key, key + keys);
    float lowest = -0.26f;
    if (gates != nullptr) {
      for (int d = 0; d < keys; ++d) {
        const float g = gates[d * gate_step];
        a[std::size_t(d)] = defined_gate(g);
        const volatile float product = a[std::size_t(d)] * key[d];
        w[std::size_t(d)] = product;
        if (g >= -16.635532f && g < lowest) lowest = g;
      }
    }
    if (gates != nullptr || beta != nullptr) {
      if (decayed + lowest < -16.635532f) {
        for (float& number : state) {
          if (std::fabs(number) < 0x1p-100f) number = 0.0f;
        }
        decayed = 0.0f;
      }
      decayed = decayed + lowest;
    }
    for (int c = 0; c < columns; ++c) {
      volatile float u = value[c];
      if (beta != nullptr) {
        const float r = defined_chains(
            keys, [&](int d) { return w[std::size_t(d)]; }, [&](int d) { return at(d, c); });
        const volatile float difference = value[c] - r;
        u = *beta * difference;
      }
      for (int d = 0; d < keys; ++d) {
        const volatile float kept = gates != nullptr ? a[std::size_t(d)] * at(d, c) : at(d, c);
        at(d, c) = std::fma(key[d], float(u), float(kept));
      }
    }
  }

  void read(const float* query, float scale, float* to) {
    std::vector<float> scaled;
    for (int d = 0; d < keys; ++d) scaled.push_back(scale * query[d]);
    for (int c = 0; c < columns; ++c) {
      to[c] = defined_chains(
          keys, [&](int d) { return scaled[std::size_t(d)]; }, [&](int d) { return at(d, c); });
    }
  }
};

// The same head in float64, from the same floats, and how far an output of floats may be from it, where 0 <= beta |k|^2 <= 2 at
// each token: src/guide/arithmetic.md says why.
//
//   |o - exact| <= 1.01 |q'| (u (h + 1) |S| + sum over tokens s of A_s off_s)
//   off_s = u (|S_s| + (g + b (h + g)) |a S| + 2 |k| |u_s| + (1 + b) |S|) + 2^-100 sqrt(D)
//
// S on the right side is the state before token s, b = beta |k|^2, u = 2^-24, h = min(D, 16) + ceil(D / 16) - 1, and A_s the
// product of the largest gates since token s. g is 2.37 with a gate and 0 without; b and 2 |k| |u_s| are there for delta rules,
// (1 + b) |S| for tokens that have a gate which counts as 0, and 2^-100 for all rules but linear.
struct ExactLinearHead {
  int keys, columns;
  std::vector<double> state;
  std::vector<double> drift;  // of each column, in u: the sum over tokens, decayed as the state is

  ExactLinearHead(int key_count, int column_count)
      : keys(key_count),
        columns(column_count),
        state(std::size_t(key_count * column_count)),
        drift(std::size_t(column_count)) {}
  double& at(int d, int c) { return state[std::size_t(d * columns + c)]; }
  double norm(int c) {
    double sum = 0;
    for (int d = 0; d < keys; ++d) sum += at(d, c) * at(d, c);
    return std::sqrt(sum);
  }
  double roundings() const { return std::min(keys, 16) + (keys + 15) / 16 - 1; }

  void take(const float* key, const float* value, const float* gates, int gate_step, const float* beta) {
    double size = 0, highest = gates == nullptr ? 1 : 0;
    bool has_zero = false;
    std::vector<double> a(std::size_t(keys), 1.0);
    for (int d = 0; d < keys; ++d) {
      size += double(key[d]) * double(key[d]);
      if (gates == nullptr) continue;
      highest = std::max(highest, a[std::size_t(d)] = std::exp(double(gates[d * gate_step])));
      has_zero = has_zero || gates[d * gate_step] < -16.635532f;
    }
    const double g = gates == nullptr ? 0 : 2.37, b = beta == nullptr ? 0 : double(*beta) * size;
    const double swept = gates == nullptr && beta == nullptr ? 0 : 0x1p-76 * std::sqrt(double(keys));  // in u
    for (int c = 0; c < columns; ++c) {
      double r = 0, u = double(value[c]), kept = 0;
      const double before = norm(c);
      for (int d = 0; d < keys && beta != nullptr; ++d) r += a[std::size_t(d)] * double(key[d]) * at(d, c);
      if (beta != nullptr) u = double(*beta) * (u - r);
      for (int d = 0; d < keys; ++d) {
        const double decayed = a[std::size_t(d)] * at(d, c);
        kept += decayed * decayed;
        at(d, c) = decayed + double(key[d]) * u;
      }
      kept = std::sqrt(kept);
      drift[std::size_t(c)] = highest * drift[std::size_t(c)] + norm(c) + (g + b * (roundings() + g)) * kept + swept;
      if (beta != nullptr) drift[std::size_t(c)] += 2 * std::sqrt(size) * std::fabs(u);
      if (has_zero) drift[std::size_t(c)] += (1 + b) * before;
    }
  }
  double read(const float* query, float scale, int c) {
    double sum = 0;
    for (int d = 0; d < keys; ++d) sum += double(scale) * double(query[d]) * at(d, c);
    return sum;
  }
  double bound(const float* query, float scale, int c) {
    double size = 0;
    for (int d = 0; d < keys; ++d) size += double(query[d]) * double(query[d]);
    return 1.01 * 0x1p-24 * std::fabs(double(scale)) * std::sqrt(size) * ((roundings() + 1) * norm(c) + drift[std::size_t(c)]);
  }
};

}  // namespace attend_test
