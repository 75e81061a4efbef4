// What the tests of the kernels share: checks, random numbers, a digest of outputs, arguments of a sequence.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "runtime.h"
#include "../../conformance/hash.h"
#include "../../support/random.h"

namespace kernels {

using stub::call;
using stub::Error;
using stub::EValue;
using stub::Made;
using stub::ScalarType;

inline constexpr float lowest = std::numeric_limits<float>::lowest();
inline constexpr float infinity = std::numeric_limits<float>::infinity();

inline void check(bool passed, const std::string& what, const std::string& why = "") {
  if (passed) std::printf("ok   %s\n", what.c_str());
  if (!passed) std::printf("FAIL %s: %s\n", what.c_str(), why.c_str());
}

// The same numbers on every machine.
struct Random : attend_test::Random {
  using attend_test::Random::Random;
  int below(int count) { return between(0, count - 1); }
  float number() { return uniform(); }
  void fill(std::vector<float>& numbers) {
    for (float& each : numbers) each = number();
  }
  void fill(std::vector<int8_t>& numbers) {
    for (int8_t& each : numbers) each = int8_t(below(256) - 128);
  }
};

inline uint64_t digest = attend_test::hash_begin;
inline void add_to_digest(const std::vector<float>& numbers) {
  digest = attend_test::hash_bytes(digest, numbers.data(), 4 * numbers.size());
}

// A sequence of `tokens` tokens as a model has it: queries, keys and values of [batch][tokens][heads][dim].
struct Sequence {
  Made<float> query, key, value;
  Sequence(Random& random, int batch, int tokens, int heads, int kv_heads, int dim)
      : query(ScalarType::Float, {batch, tokens, heads, dim}),
        key(ScalarType::Float, {batch, tokens, kv_heads, dim}),
        value(ScalarType::Float, {batch, tokens, kv_heads, dim}) {
    random.fill(query.numbers);
    random.fill(key.numbers);
    random.fill(value.numbers);
  }
};

inline Error sdpa(const Made<float>& query, const Made<float>& key, const Made<float>& value, int64_t start, const EValue& mask,
                  bool causal, const EValue& scale, const Made<float>& out) {
  return call("llama::custom_sdpa.out", {query.value(), key.value(), value.value(), EValue(start), mask, EValue(0.0),
                                         EValue(causal), scale, out.value()});
}

// int8 numbers with their zero points and scales.
struct Quantised {
  Made<int8_t> numbers, zero_points;
  Made<float> scales;
  explicit Quantised(Random& random, const std::vector<int32_t>& sizes)
      : numbers(ScalarType::Char, sizes),
        zero_points(ScalarType::Char, {sizes[0], sizes[1], sizes[2], 1}),
        scales(ScalarType::Float, {sizes[0], sizes[1], sizes[2], 1}) {
    random.fill(numbers.numbers);
    random.fill(zero_points.numbers);
    for (float& scale : scales.numbers) scale = (random.number() + 2) / 256;
  }
  // [batch][tokens][heads][dim], whichever axis is that of tokens.
  Made<float> wide(bool tokens_third) {
    const auto& size = numbers.sizes;
    Made<float> made(ScalarType::Float, {size[0], tokens_third ? size[2] : size[1], tokens_third ? size[1] : size[2], size[3]});
    for (int a = 0; a < size[0]; ++a) {
      for (int b = 0; b < size[1]; ++b) {
        for (int c = 0; c < size[2]; ++c) {
          for (int d = 0; d < size[3]; ++d) {
            (tokens_third ? made.at(a, c, b, d) : made.at(a, b, c, d)) =
                float(numbers.at(a, b, c, d) - zero_points.at(a, b, c, 0)) * scales.at(a, b, c, 0);
          }
        }
      }
    }
    return made;
  }
};

inline Error quantised_sdpa(const Quantised& q, const Quantised& k, const Quantised& v, int64_t start, bool tokens_third,
                            const Made<float>& out) {
  return call("llama::custom_quantized_sdpa.out",
              {q.numbers.value(), k.numbers.value(), v.numbers.value(), EValue(start), EValue(), EValue(0.0), EValue(true),
               EValue(), q.zero_points.value(), q.scales.value(), k.zero_points.value(), k.scales.value(),
               v.zero_points.value(), v.scales.value(), EValue(tokens_third), out.value()});
}

// The tests, each in the file of its name.
void random_problems(int count);
void quantised_problems(int count);
void bits();
void small_numbers();
void caches();
void refusals();
void hostile(int count);
void little_memory();

}  // namespace kernels
