// The memory of an OptionCase and what is drawn into it: whole-number arithmetic and exact floats, the same on every target.
// Each tensor has a generator of its own, so that cases of the same shape have the same data.
#pragma once

#include "../support/placed.h"
#include "../support/random.h"
#include "option_case.h"

namespace attend_test {

using attend::core::Format;

// Hands out floats, aligned, all NaN; without memory it counts them only.
class Supply {
 public:
  explicit Supply(float* memory) : memory_(memory), used_(memory == nullptr ? most_padding : padding(memory)) {}

  float* take(size_t count) { return take_bytes(count * sizeof(float)); }
  float* take_bytes(size_t bytes, size_t alignment = 1) {
    char* const taken = memory_ == nullptr ? nullptr : placed(reinterpret_cast<char*>(memory_ + used_), bytes, alignment);
    used_ += (bytes + 63) / 64 * step;
    if (taken != nullptr) __builtin_memset(taken, 0xff, bytes);
    return static_cast<float*>(static_cast<void*>(taken));
  }

  size_t used() const { return used_; }

 private:
  static constexpr size_t step = 64 / sizeof(float), most_padding = step;

  static size_t padding(const float* memory) { return (64 - reinterpret_cast<uintptr_t>(memory) % 64) % 64 / sizeof(float); }

  float* memory_;
  size_t used_;
};

struct OptionMemory {
  float *query, *output, *lse, *scores, *states, *later, *scratch;
  float *key_floats, *value_floats;  // what is stored into a cache; null for arrays
  float *keys, *values, *key_scales, *value_scales;
  float *visible, *bias, *alibi_slopes, *relative, *sink_logits;
  int32_t *pages, *lists;
};

constexpr int mask_gap = 3;   // between rows of masks
constexpr int score_gap = 5;  // scores asked for of keys that there are not

inline int mask_row_of(const OptionCase& c) { return c.mask_keys + mask_gap; }
inline ptrdiff_t mask_elements(const OptionCase& c) { return ptrdiff_t(c.queries) * c.query_heads * mask_row_of(c); }
inline attend::core::Mask mask_of(const OptionCase& c, const void* data) {
  const int row = mask_row_of(c);
  return {data, mask_gap, c.mask_rows & 1 ? ptrdiff_t(row) * c.query_heads : 0, c.mask_rows & 2 ? row : 0, c.mask_keys};
}

inline int page_count(const OptionCase& c) { return (groups_of(c.keys) + c.page_panels - 1) / c.page_panels; }

// Keys that there is memory for.
inline int places(const OptionCase& c) {
  switch (c.place) {
    case Place::arrays:
      return c.keys - c.origin;
    case Place::cache:
      return groups_of(c.keys) * attend::panel_keys;
    case Place::pages:
      return (page_count(c) + 2) * c.page_panels * attend::panel_keys;
    case Place::ring:
      return (c.sink_panels + c.ring_panels) * attend::panel_keys;
  }
  return 0;
}

inline OptionMemory memory_of(const OptionCase& c, Supply& supply) {
  OptionMemory m{};
  const size_t rows = size_t(c.queries) * size_t(c.query_heads), room = size_t(places(c)) * size_t(c.kv_heads);
  const size_t all_keys = size_t(c.keys) * size_t(c.kv_heads);
  const auto numbers = [&supply](Format format, size_t count) {
    return supply.take_bytes(attend::core::format_bytes(format, count));
  };
  m.query = numbers(c.query_format, rows * size_t(c.head_dim));
  m.output = numbers(c.output_format, rows * size_t(c.value_dim));
  if (c.has(lse_results)) m.lse = supply.take(rows);
  if (c.stage >= 0) m.scores = supply.take(rows * size_t(c.keys + score_gap));
  const size_t state = rows * attend::core::state_floats(c.value_dim, attend::core::state_nodes(c.keys));
  if (c.state_keys > 0 || c.merged) m.states = supply.take(state);
  if (c.merged) m.later = supply.take(state);
  m.scratch = supply.take_bytes(
      sizeof(float) * attend::core::option_scratch_floats(c.row_block, c.key_block, c.head_dim, c.value_dim), 8);
  if (c.place != Place::arrays) {
    m.key_floats = supply.take(all_keys * size_t(c.head_dim));
    m.value_floats = supply.take(all_keys * size_t(c.value_dim));
  }
  m.keys = numbers(c.key_format, room * size_t(c.head_dim));
  m.values = numbers(c.value_format, room * size_t(c.value_dim));
  if (c.key_format == Format::int8) m.key_scales = supply.take(room);
  if (c.value_format == Format::int8) m.value_scales = supply.take(room);
  const size_t elements = size_t(mask_elements(c));
  if (c.has(byte_mask | bit_mask)) m.visible = supply.take_bytes(c.has(bit_mask) ? (elements + 7) / 8 : elements);
  if (c.has(bias_mask)) m.bias = supply.take(elements);
  if (c.has(slope_numbers)) m.alibi_slopes = supply.take(size_t(c.query_heads));
  if (c.has(relative_table)) m.relative = supply.take(size_t(c.query_heads) * size_t(c.relative_left + 1 + c.relative_right));
  if (c.has(sink_numbers)) m.sink_logits = supply.take(size_t(c.query_heads));
  if (c.chunk > 0 || c.longest > 0) {
    m.lists = static_cast<int32_t*>(static_cast<void*>(supply.take(2 * size_t(c.queries) + 1)));
  }
  if (c.place == Place::pages) {
    m.pages = static_cast<int32_t*>(static_cast<void*>(supply.take(size_t(page_count(c)))));
  }
  return m;
}

// Numbers of a format straight from bits, with nothing of the library in between.
inline void draw_numbers(Random& random, Format format, size_t count, float spread, void* to) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = random.bits();
    const auto small = [&](int digits, int least) {  // the sign, an exponent of six, and digits
      return uint16_t((bits >> 31) << 15 | (uint32_t(least) + (bits >> 16) % 6) << digits | (bits & ((1u << digits) - 1)));
    };
    switch (format) {
      case Format::int16:  // no keys or values
      case Format::float32:
        static_cast<float*>(to)[i] = float(int32_t(bits >> 8) - 0x800000) * 0x1p-23f * spread;
        break;
      case Format::float16:
        static_cast<uint16_t*>(to)[i] = small(10, 10);
        break;
      case Format::bfloat16:
        static_cast<uint16_t*>(to)[i] = small(7, 122);
        break;
      case Format::int8:
        static_cast<int8_t*>(to)[i] = int8_t(int(bits % 255) - 127);
        break;
      case Format::int4: {                                     // a group at a time
        const uint32_t code = 0x2c00u + (bits >> 8 & 0x3ffu);  // of 2^-4 to 2^-3
        auto& group = static_cast<attend::core::Int4Group*>(to)[i / attend::core::int4_group];
        group.scale[0] = uint8_t(code & 0xff), group.scale[1] = uint8_t(code >> 8);
        for (uint8_t& byte : group.numbers) byte = uint8_t(random.bits() >> 24);
        i += attend::core::int4_group - 1;
        break;
      }
    }
  }
}

// Of every fifth float only sign and digits stay. By integers, because arithmetic may make 0 of subnormal numbers.
inline void make_subnormal(float* numbers, size_t count) {
  for (size_t i = 0; numbers != nullptr && i < count; i += 5) {
    uint32_t bits;
    __builtin_memcpy(&bits, numbers + i, sizeof bits);
    bits &= 0x807fffffu;
    __builtin_memcpy(numbers + i, &bits, sizeof bits);
  }
}

inline void draw_masks(const OptionCase& c, const OptionMemory& m) {
  Random visible(c.seed * 16 + 5), bias(c.seed * 16 + 6), numbers(c.seed * 16 + 7);
  uint8_t* const bytes = static_cast<uint8_t*>(static_cast<void*>(m.visible));
  const ptrdiff_t count = mask_elements(c);
  const auto shown = [&](Random& random) { return random.between(1, 8) <= c.shown_of_8; };
  for (ptrdiff_t i = 0; i < count && c.has(byte_mask | bit_mask); ++i) {
    if (c.has(byte_mask)) {
      bytes[i] = shown(visible) ? uint8_t(visible.between(1, 255)) : uint8_t(0);
    } else {
      if (i % 8 == 0) bytes[i / 8] = 0;
      bytes[i / 8] = uint8_t(bytes[i / 8] | int(shown(visible)) << i % 8);
    }
  }
  for (ptrdiff_t i = 0; i < count && c.has(bias_mask); ++i) {
    const float number = bias.around(0.0f, 3.0f);
    m.bias[i] = shown(bias) ? number : -__builtin_inff();
  }
  for (int h = 0; h < c.query_heads; ++h) {
    const float slope = 0.25f * numbers.uniform(), sink = 4.0f * numbers.uniform();
    if (c.has(slope_numbers)) m.alibi_slopes[h] = slope;
    if (c.has(sink_numbers)) m.sink_logits[h] = numbers.between(0, 5) == 0 ? -__builtin_inff() : sink;
  }
  const int width = c.query_heads * (c.relative_left + 1 + c.relative_right);
  for (int i = 0; i < width && c.has(relative_table); ++i) {
    const float number = 2.0f * numbers.uniform();
    m.relative[i] = numbers.between(0, 15) == 0 ? -__builtin_inff() : number;
  }
  if (c.subnormals != 0) {
    make_subnormal(m.bias, c.has(bias_mask) ? size_t(count) : 0);
    make_subnormal(m.alibi_slopes, size_t(c.query_heads));
    make_subnormal(m.relative, size_t(width));
    make_subnormal(m.sink_logits, size_t(c.query_heads));
  }
  for (int i = 0; i < page_count(c) && c.place == Place::pages; ++i) m.pages[i] = i;
  for (int i = 0; i < page_count(c) && c.place == Place::pages; ++i) {  // two pages of all that there are stay unused
    const int other = numbers.between(0, page_count(c) - 1), shift = numbers.between(0, 2);
    const int32_t page = m.pages[i];
    m.pages[i] = m.pages[other];
    m.pages[other] = page;
    if (i == page_count(c) - 1) {
      for (int k = 0; k < page_count(c); ++k) m.pages[k] += shift;
    }
  }
}

}  // namespace attend_test
