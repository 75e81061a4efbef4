// The digest of a projection, which is the same in every layout, whole and in parts. Freestanding, as plain_digest.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../support/placed.h"
#include "../support/random.h"
#include "attend/layers/core_linear.h"
#include "hash.h"

namespace attend_test {

struct ProjectionCase {
  int tokens, inputs, outputs;
  attend::core::Format format;
  bool bias;
};
constexpr ProjectionCase projection(int tokens, int inputs, int outputs, attend::core::Format format, bool bias) {
  return {tokens, inputs, outputs, format, bias};
}

// How a projection is computed. No bit depends on it.
struct LinearDigestWay {
  bool panels, work;
  int parts;
};
constexpr LinearDigestWay linear_digest_ways[] = {
    {false, false, 1}, {true, false, 1}, {false, true, 1}, {true, true, 1}, {false, true, 3}, {true, false, 3},
};

// Rows and panels, a number to a float; input, output, scales, bias, work memory.
constexpr size_t digest_bytes(const ProjectionCase& c) {
  const size_t panels = attend::core::packed_weight_numbers(c.outputs, c.inputs);
  return sizeof(float) * (2 * panels + size_t(c.tokens) * size_t(c.inputs + c.outputs) + 2 * size_t(c.outputs) +
                          attend::core::linear_work_floats + 64);
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
    case Format::int4:   // by set_group
    case Format::int16:  // no weights
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

// A group of int4: its scale, and its numbers.
inline void set_group(void* stored, bool panels, size_t groups, size_t output, size_t group, Random& random) {
  using namespace attend::core;
  const uint32_t scale = random_number(random, Format::float16);
  Int4Group rows = {{uint8_t(scale & 0xff), uint8_t(scale >> 8)}, {}};
  for (uint8_t& byte : rows.numbers) byte = uint8_t(random.bits() >> 24);
  if (!panels) {
    static_cast<Int4Group*>(stored)[output * groups + group] = rows;
    return;
  }
  Int4Panel& panel = static_cast<Int4Panel*>(stored)[output / 16 * groups + group];
  panel.scales[output % 16] = uint16_t(scale);
  for (size_t i = 0; i < 16; ++i) panel.numbers[i / 4][output % 16][i % 4] = rows.numbers[i];
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
    case Format::int4:
      return run_linear_way<Format::int4>(linear, part, parts);
    case Format::int16:  // no weights
      return;
  }
}

inline uint64_t compute_digest(const ProjectionCase& c, const LinearDigestWay& way, void* memory) {
  __builtin_memset(memory, 0xff, digest_bytes(c));
  float* next = static_cast<float*>(memory);
  const auto take = [&next](size_t count) { return take_next<float>(next, count); };
  const size_t tokens = size_t(c.tokens), inputs = size_t(c.inputs), outputs = size_t(c.outputs);
  attend::core::Linear linear{};
  linear.work = take(attend::core::linear_work_floats);
  const size_t numbers = attend::core::packed_weight_numbers(c.outputs, c.inputs);
  const size_t bytes = attend::core::format_bytes(c.format, way.panels ? numbers : inputs * outputs);
  void* const stored = placed(reinterpret_cast<char*>(next), bytes);
  next += numbers;
  float* const input = take(tokens * inputs);
  float* const scales = take(outputs);
  float* const bias = take(outputs);
  float* const output = take(tokens * outputs);
  Random random(uint64_t(c.inputs) * 1000003u + uint64_t(c.outputs));
  __builtin_memset(stored, 0, bytes);
  for (size_t o = 0; o < outputs; ++o) {
    for (size_t i = 0; c.format == attend::core::Format::int4 && i < inputs; i += 32) {
      set_group(stored, way.panels, inputs / 32, o, i / 32, random);
    }
    for (size_t i = 0; c.format != attend::core::Format::int4 && i < inputs; ++i) {
      const size_t place = way.panels ? (o / 16 * inputs + i) * 16 + o % 16 : o * inputs + i;
      set_number(stored, place, c.format, random_number(random, c.format));
    }
  }
  random.fill(input, tokens * inputs);
  random.fill(scales, outputs);
  random.fill(bias, outputs);
  linear.input = input;
  linear.output = output;
  linear.weights = stored;
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
  return hash_bits(output, tokens * outputs);
}

inline uint64_t compute_digest(const ProjectionCase& c, void* memory) {
  const uint64_t hash = compute_digest(c, linear_digest_ways[0], memory);
  for (const LinearDigestWay& way : linear_digest_ways) {
    if (compute_digest(c, way, memory) != hash) return ~hash;
  }
  return hash;
}

}  // namespace attend_test
