// Digests of what stands around attention. Freestanding, as plain_digest.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../support/random.h"
#include "attend/layers/core_layer.h"
#include "hash.h"

namespace attend_test {

struct LayerCase {
  uint64_t (*compute)(float* memory);
};
constexpr LayerCase layer_step(uint64_t (*compute)(float* memory)) { return {compute}; }
using attend::Activation;

constexpr size_t digest_bytes(const LayerCase&) { return 1200 * sizeof(float); }
inline uint64_t compute_digest(const LayerCase& c, void* memory) { return c.compute(static_cast<float*>(memory)); }

inline uint64_t hash_of(const float* floats, size_t count, uint64_t hash = hash_begin) {
  for (size_t i = 0; i < count; ++i) hash = hash_number(hash, promised_bits(floats[i]));
  return hash;
}

// Rows of many widths, in place, with and without weight and bias.
template <bool layer>
uint64_t digest_of_normalisation(float* memory) {
  Random random(layer ? 2 : 1);
  uint64_t hash = hash_begin;
  const int widths[] = {1, 2, 7, 15, 16, 17, 31, 32, 33, 48, 63, 100, 257};
  for (const int width : widths) {
    float *const x = memory, *const weight = memory + 514, *const bias = memory + 771;
    random.fill(x, size_t(2 * width), width % 2 == 0 ? 1.0f : 100.0f), random.fill(weight, size_t(width), 2.0f);
    random.fill(bias, size_t(width));
    const attend::core::Normalisation n = {
        x, width, x, width, width == 15 ? nullptr : weight, width % 3 == 0 ? nullptr : bias, 2, width, 1e-5f};
    if (layer) {
      attend::core::layer_norm(n);
    } else {
      attend::core::rms_norm(n);
    }
    hash = hash_of(x, size_t(2 * width), hash);
  }
  return hash;
}

// Floats of ordinary size, then floats whose bits are random; then a gated product.
template <attend::Activation activation>
uint64_t digest_of_activation(float* memory) {
  Random random(3);
  random.fill(memory, 301, 12.0f);
  attend::core::activate<activation>(memory, nullptr, 301, memory);
  uint64_t hash = hash_of(memory, 301);
  for (int i = 0; i < 600; ++i) {
    const uint32_t bits = random.bits();
    __builtin_memcpy(memory + i, &bits, sizeof bits);
  }
  attend::core::activate<activation>(memory, nullptr, 600, memory + 600);
  hash = hash_of(memory + 600, 600, hash);
  random.fill(memory, 202, 4.0f);
  attend::core::activate<activation>(memory, memory + 101, 101, memory);
  return hash_of(memory, 101, hash);
}

// Heads of 70 and 3 tokens, of which 2 to 68 numbers turn.
template <bool halves>
uint64_t digest_of_rotary(float* memory) {
  Random random(4);
  uint64_t hash = hash_begin;
  const int numbers_of_pairs[] = {1, 3, 16, 17, 34}, positions[] = {0, 5, 4095, 1048573};
  for (const int pairs : numbers_of_pairs) {
    uint64_t turns[34];
    attend::core::rotary_turns(pairs == 16 ? 500000.0f : 10000.0f, pairs == 17 ? 4.0f : 1.0f, pairs, turns);
    for (const int position : positions) {
      random.fill(memory, 3 * 2 * 70);
      const attend::core::Rotation rotation = {memory, 70, 2, pairs, halves ? pairs : 1, nullptr, nullptr};
      attend::core::rotate_at(rotation, {turns, 1.0f}, position, 3, 2 * 70);
      hash = hash_of(memory, 3 * 2 * 70, hash);
    }
  }
  return hash;
}

// Factors of queries, and some numbers times them.
inline uint64_t digest_of_query_factors(float* memory) {
  float factors[40];
  uint64_t hash = hash_begin;
  const float betas[] = {0.1f, -2.5f};
  for (const float beta : betas) {
    attend::core::logarithmic_factors(beta, 40, factors);
    hash = hash_of(factors, 40, hash);
  }
  const attend::core::PositionFactors by = {factors, 40, 8192, 1};
  Random random(8);
  random.fill(memory, 4 * 33);
  const int positions[] = {0, 8191, 100000, 0x7fffffff};
  for (int i = 0; i < 4; ++i) attend::core::scale(by.at(positions[i]), 33, memory + 33 * i);
  return hash_of(memory, 4 * 33, hash);
}

// The turns of each kind of scaling, the factors of cosines and sines, and some turned numbers.
inline uint64_t digest_of_rotary_scaling(float* memory) {
  using attend::core::RotaryKind;
  constexpr int most_pairs = 64;
  float factors[most_pairs];
  double radians[most_pairs];
  in_environment(float_environments[0], [&] {
    for (int i = 0; i < most_pairs; ++i)
      factors[i] = 1.0f + 0.25f * float(i), radians[i] = i == 40 ? 0.0 : 3.9 / (1 + i * i * i);
  });
  const attend::core::RotaryScaling scalings[] = {
      {RotaryKind::linear, 2.5f, 0, 0, 0, false, nullptr, 0, 0},
      {RotaryKind::llama3, 8.0f, 8192, 1.0f, 4.0f, false, nullptr, 0, 0},
      {RotaryKind::yarn, 4.0f, 32768, 1.0f, 32.0f, false, nullptr, 0, 0},
      {RotaryKind::yarn, 32.0f, 4096, 1.0f, 32.0f, true, nullptr, 0, 0},
      {RotaryKind::long_rope, 32.0f, 4096, 0, 0, false, factors, 0, 0},
      {RotaryKind::proportional, 1.0f, 0, 0, 0, false, nullptr, 1, 0.5f},
  };
  Random random(6);
  uint64_t hash = hash_begin;
  const auto add = [&](const uint64_t* turns, int pairs, float factor) {
    for (int i = 0; i < pairs; ++i) {
      for (int half = 0; half < 2; ++half) {
        const uint32_t bits = uint32_t(turns[i] >> 32 * half);
        float number;
        __builtin_memcpy(&number, &bits, sizeof number);
        hash = hash_of(&number, 1, hash);
      }
    }
    hash = hash_of(&factor, 1, hash);
    random.fill(memory, 2 * 2 * 128);
    const attend::core::Rotation rotation = {memory, 128, 2, pairs, pairs, nullptr, nullptr};
    attend::core::rotate_at(rotation, {turns, factor}, 1048575, 2, 2 * 128);
    hash = hash_of(memory, 2 * 2 * 128, hash);
  };
  uint64_t turns[most_pairs];
  const int numbers_of_pairs[] = {1, 2, 31, 64};
  for (const int pairs : numbers_of_pairs) {
    for (const auto& scaling : scalings) {
      const float base = pairs == 31 ? 10000.0f : 500000.0f;
      attend::core::rotary_turns(base, 1.0f, pairs, turns);
      const float factor = attend::core::scale_turns(scaling, base, pairs, turns);
      add(turns, pairs, factor);
    }
    attend::core::turns_of_angles(radians, pairs, turns);
    add(turns, pairs, 1.25f);
  }
  return hash;
}

inline uint64_t digest_of_residuals(float* memory) {
  Random random(5);
  random.fill(memory, 206);
  attend::core::add(memory, 1.0f, 103, memory + 103);
  attend::core::add(memory, 0.3f, 101, memory + 103);
  return hash_of(memory, 206);
}

}  // namespace attend_test
