// Digests of fixed projections: what every backend, compiler and board must reproduce, in every layout, whole and in parts.
// Freestanding, on memory of the caller.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../support/random.h"
#include "attend/core/linear.h"

namespace attend_test {

struct LinearDigest {
  int tokens, inputs, outputs;
  attend::core::Format format;
  bool bias;
  uint64_t digest;
};

// clang-format off
constexpr LinearDigest linear_digests[] = {
#include "linear_digests.inc"
};
// clang-format on
constexpr int linear_digest_count = int(sizeof linear_digests / sizeof linear_digests[0]);

// How a projection is computed. No bit depends on it.
struct LinearDigestWay {
  bool panels, work;
  int parts;
};
constexpr LinearDigestWay linear_digest_ways[] = {
    {false, false, 1}, {true, false, 1}, {false, true, 1}, {true, true, 1}, {false, true, 3}, {true, false, 3},
};
constexpr int linear_digest_way_count = int(sizeof linear_digest_ways / sizeof linear_digest_ways[0]);

// Rows and panels, a number to a float; input, output, scales, bias, work memory.
constexpr size_t linear_digest_floats(const LinearDigest& c) {
  const size_t panels = attend::core::packed_weight_numbers(c.outputs, c.inputs);
  return 2 * panels + size_t(c.tokens) * size_t(c.inputs + c.outputs) + 2 * size_t(c.outputs) +
         attend::core::linear_work_floats + 64;
}

// A number of a format, of ordinary size.
inline uint32_t random_number(Random& random, attend::core::Format format) {
  using attend::core::Format;
  const uint32_t bits = random.bits(), size = bits >> 16 & 7;
  switch (format) {
    case Format::float16:
      return (bits & 0x83ff) | (8 + size) << 10;
    case Format::bfloat16:
      return (bits & 0x807f) | (120 + size) << 7;
    case Format::int8:
      return bits & 0xff;
    case Format::float32:
      break;
  }
  const float number = random.uniform();
  uint32_t code;
  __builtin_memcpy(&code, &number, sizeof code);
  return code;
}

inline void set_number(void* numbers, size_t place, attend::core::Format format, uint32_t code) {
  const size_t bytes = attend::core::format_bytes(format);
  unsigned char* const to = static_cast<unsigned char*>(numbers) + place * bytes;
  const uint16_t two = uint16_t(code);
  const uint8_t one = uint8_t(code);
  if (bytes == 4) __builtin_memcpy(to, &code, 4);
  if (bytes == 2) __builtin_memcpy(to, &two, 2);
  if (bytes == 1) *to = one;
}

// A whole projection by the entry for its layout and number of tokens; a part by that for all of them.
template <attend::core::Format format>
void run_linear_way(const attend::core::Linear& linear, int part, int parts) {
  using namespace attend::core;
  if (parts > 1) return run_linear_part<format>(linear, part, parts);
  if (linear.tokens == 1)
    return (linear.panels ? run_known_linear<format, true, true> : run_known_linear<format, false, true>)(linear);
  (linear.panels ? run_known_linear<format, true, false> : run_known_linear<format, false, false>)(linear);
}
inline void run_linear_way(attend::core::Format format, const attend::core::Linear& linear, int part, int parts) {
  using attend::core::Format;
  switch (format) {
    case Format::float32:
      return run_linear_way<Format::float32>(linear, part, parts);
    case Format::float16:
      return run_linear_way<Format::float16>(linear, part, parts);
    case Format::bfloat16:
      return run_linear_way<Format::bfloat16>(linear, part, parts);
    case Format::int8:
      return run_linear_way<Format::int8>(linear, part, parts);
  }
}

// The 64-bit FNV-1a hash of the output's bytes, little end first.
//   memory  linear_digest_floats(c) floats, aligned to config::alignment
inline uint64_t compute_linear_digest(const LinearDigest& c, const LinearDigestWay& way, float* memory) {
  const auto take = [&memory](size_t count) {
    float* taken = memory;
    memory += count;
    return taken;
  };
  const size_t tokens = size_t(c.tokens), inputs = size_t(c.inputs), outputs = size_t(c.outputs);
  attend::core::Linear linear{};
  linear.work = take(attend::core::linear_work_floats);
  const size_t numbers = attend::core::packed_weight_numbers(c.outputs, c.inputs);
  float* const weights = take(numbers);
  float* const input = take(tokens * inputs);
  float* const scales = take(outputs);
  float* const bias = take(outputs);
  float* const output = take(tokens * outputs);
  Random random(uint64_t(c.inputs) * 1000003u + uint64_t(c.outputs));
  for (size_t i = 0; i < numbers; ++i) set_number(weights, i, c.format, 0);
  for (size_t o = 0; o < outputs; ++o) {
    for (size_t i = 0; i < inputs; ++i) {
      const size_t place = way.panels ? (o / 16 * inputs + i) * 16 + o % 16 : o * inputs + i;
      set_number(weights, place, c.format, random_number(random, c.format));
    }
  }
  random.fill(input, tokens * inputs);
  random.fill(scales, outputs);
  random.fill(bias, outputs);
  linear.input = input;
  linear.output = output;
  linear.weights = weights;
  linear.scales = c.format == attend::core::Format::int8 ? scales : nullptr;
  linear.bias = c.bias ? bias : nullptr;
  linear.input_stride = linear.weight_stride = c.inputs;
  linear.output_stride = c.outputs;
  linear.inputs = c.inputs;
  linear.outputs = c.outputs;
  linear.tokens = c.tokens;
  linear.panels = way.panels;
  if (!way.work) linear.work = nullptr;
  for (int part = 0; part < way.parts; ++part) run_linear_way(c.format, linear, part, way.parts);
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < tokens * outputs; ++i) {
    uint32_t bits;
    __builtin_memcpy(&bits, output + i, sizeof bits);
    for (int byte = 0; byte < 4; ++byte) hash = (hash ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace attend_test
