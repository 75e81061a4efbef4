// The digest of a case with options. Freestanding, as plain_digest.h.
#pragma once

#include "../support/core_numbers.h"
#include "cache_call.h"
#include "hash.h"
#include "option_memory.h"

namespace attend_test {

// What a query sees, said once more than in the library.
inline bool sees(const OptionCase& c, const OptionMemory& m, int token, int head, int key) {
  const int64_t position = int64_t(c.offset) + token;
  if (!exists(c, key) || (c.causal && key > position) || (c.right >= 0 && key > position + c.right)) return false;
  if (c.left >= 0 && key < position - c.left && key >= c.sink_tokens) return false;
  if (c.has(byte_mask | bit_mask | bias_mask)) {
    if (key >= c.mask_keys) return false;
    const attend::core::Mask mask = mask_of(c, nullptr);
    const ptrdiff_t at = mask.first + token * mask.token_stride + head * mask.head_stride + key;
    const uint8_t* const bytes = static_cast<const uint8_t*>(static_cast<const void*>(m.visible));
    if (c.has(byte_mask) && bytes[at] == 0) return false;
    if (c.has(bit_mask) && (bytes[at / 8] >> at % 8 & 1) == 0) return false;
    if (c.has(bias_mask) && m.bias[at] == -__builtin_inff()) return false;
  }
  if (!c.has(relative_table)) return true;
  int64_t distance = key - position;
  if (distance < -c.relative_left) distance = -c.relative_left;
  if (distance > c.relative_right) distance = c.relative_right;
  const int64_t width = c.relative_left + 1 + c.relative_right;
  return m.relative[head * width + distance + c.relative_left] != -__builtin_inff();
}

inline bool seen_by_any(const OptionCase& c, const OptionMemory& m, int key) {
  for (int token = 0; token < c.queries; ++token) {
    for (int head = 0; head < c.query_heads; ++head) {
      if (sees(c, m, token, head, key)) return true;
    }
  }
  return false;
}

// A row becomes what must not come through: in turns NaN, infinity and a huge number. Of bytes, the scale does.
inline void poison_row(Format format, int turn, ptrdiff_t first, int count, void* data, float* scale) {
  constexpr float floats[] = {__builtin_nanf(""), __builtin_inff(), -3e38f};
  constexpr uint16_t halves[] = {0x7e00, 0x7c00, 0xfbff}, bfloats[] = {0x7fc0, 0x7f80, 0xff7f};
  if (scale != nullptr) *scale = floats[turn % 3];
  for (ptrdiff_t i = first; i < first + count; ++i) {
    if (format == Format::int4) static_cast<attend::core::Int4Group*>(data)[i / attend::core::int4_group].scale[1] = 0x7e;
    if (format == Format::float32) static_cast<float*>(data)[i] = floats[turn % 3];
    if (format == Format::float16) static_cast<uint16_t*>(data)[i] = halves[turn % 3];
    if (format == Format::bfloat16) static_cast<uint16_t*>(data)[i] = bfloats[turn % 3];
  }
}

// Draws keys and values, as arrays: of the cases that have arrays, or of floats for store.
inline void draw_keys(const OptionCase& c, const OptionMemory& m) {
  const bool arrays = c.place == Place::arrays;
  const int first = arrays ? c.origin : 0;
  float* const keys = arrays ? m.keys : m.key_floats;
  float* const values = arrays ? m.values : m.value_floats;
  const Format key_format = arrays ? c.key_format : Format::float32, value_format = arrays ? c.value_format : Format::float32;
  const size_t rows = size_t(c.keys - first) * size_t(c.kv_heads);
  Random key(c.seed * 16 + 1), value(c.seed * 16 + 2), scale(c.seed * 16 + 3);
  draw_numbers(key, key_format, rows * size_t(c.head_dim), c.key_spread, keys);
  draw_numbers(value, value_format, rows * size_t(c.value_dim), 1.0f, values);
  for (size_t i = 0; arrays && i < rows; ++i) {
    const float key_scale = scale.around(1.5f, 1.0f) * 0x1p-8f, value_scale = scale.around(1.5f, 1.0f) * 0x1p-8f;
    if (m.key_scales != nullptr) m.key_scales[i] = key_scale;
    if (m.value_scales != nullptr) m.value_scales[i] = value_scale;
  }
  if (c.subnormals != 0) {
    if (key_format == Format::float32) make_subnormal(keys, rows * size_t(c.head_dim));
    if (value_format == Format::float32) make_subnormal(values, rows * size_t(c.value_dim));
    if (arrays) make_subnormal(m.key_scales, rows);
    if (arrays) make_subnormal(m.value_scales, rows);
  }
  for (int j = first; j < c.keys && c.poisoned; ++j) {
    if (exists(c, j) && seen_by_any(c, m, j)) continue;
    for (int head = 0; head < c.kv_heads; ++head) {
      const ptrdiff_t row = ptrdiff_t(j - first) * c.kv_heads + head, place = ptrdiff_t(head) * places(c) + j - first;
      float* const key_scale = arrays && m.key_scales != nullptr ? m.key_scales + place : nullptr;
      float* const value_scale = arrays && m.value_scales != nullptr ? m.value_scales + place : nullptr;
      poison_row(key_format, j, row * c.head_dim, c.head_dim, keys, key_scale);
      poison_row(value_format, j + head, row * c.value_dim, c.value_dim, values, value_scale);
    }
  }
}

inline void draw_data(const OptionCase& c, const OptionMemory& m) {
  Random query(c.seed * 16);
  draw_numbers(query, c.query_format, size_t(c.queries) * size_t(c.query_heads) * size_t(c.head_dim), c.spread, m.query);
  if (c.subnormals == 2 && c.query_format == Format::float32)
    make_subnormal(m.query, size_t(c.queries) * size_t(c.query_heads) * size_t(c.head_dim));
  draw_masks(c, m);
  draw_keys(c, m);
}

inline attend::core::Paging slots_of(const OptionCase& c, const OptionMemory& m) {
  return {m.pages, c.page_panels, c.place == Place::ring ? c.ring_panels : 0, c.sink_panels};
}

inline attend::core::Problem problem_of(const OptionCase& c, const OptionMemory& m) {
  attend::core::Problem p = problem_over(c, m.query, m.keys, m.values, m.output);
  if (c.place != Place::arrays) {
    const attend::core::Tensor<const float> key = {m.key_floats, p.key.token_stride, p.key.head_stride};
    const attend::core::Tensor<const float> value = {m.value_floats, p.value.token_stride, p.value.head_stride};
    const attend::core::FormatCache cache = {m.keys,         m.values,   m.key_scales, m.value_scales, c.key_format,
                                             c.value_format, c.kv_heads, c.head_dim,   c.value_dim,    places(c),
                                             slots_of(c, m), true,       true};
    attend::core::store(cache, 0, c.keys, key, value);  // saturated: poison of float16 and int4 is huge, too
    p.key = {m.keys, 0, ptrdiff_t(places(c)) * c.head_dim};
    p.value = {m.values, c.value_dim, ptrdiff_t(places(c)) * c.value_dim};
    p.key_panels = true;
  }
  p.row_block = c.row_block;
  p.key_block = c.key_block;
  p.scratch = m.scratch;
  return p;
}

inline attend::core::Options options_of(const OptionCase& c, const OptionMemory& m) {
  attend::core::Options o;
  o.left = c.left, o.right = c.right, o.sink_tokens = c.sink_tokens;
  if (c.has(byte_mask | bit_mask)) o.mask = mask_of(c, m.visible);
  o.mask_bits = c.has(bit_mask);
  if (c.has(bias_mask)) o.bias = mask_of(c, m.bias);
  o.alibi_slopes = m.alibi_slopes, o.relative = m.relative, o.sink_logits = m.sink_logits;
  o.relative_left = c.relative_left, o.relative_right = c.relative_right;
  o.relative_head_stride = c.relative_left + 1 + c.relative_right;
  o.soft_cap = c.soft_cap, o.bias_before_cap = c.bias_before_cap;
  if (m.lse != nullptr) o.lse = {m.lse, c.query_heads, 1};
  o.score_keys = c.keys + score_gap;
  if (m.scores != nullptr) o.scores = {m.scores, ptrdiff_t(c.query_heads) * o.score_keys, o.score_keys};
  if (c.stage >= 0) o.score_stage = attend::core::Scores(c.stage);
  o.query_format = c.query_format, o.key_format = c.key_format, o.value_format = c.value_format;
  o.output_format = c.output_format;
  o.key_scales = m.key_scales, o.value_scales = m.value_scales;
  o.key_scale_stride = o.value_scale_stride = places(c);
  o.paging = slots_of(c, m);
  o.origin = c.origin;
  return o;
}

// Ranges, or documents, of which there are as many queries as keys.
inline attend::core::RangedOptions ranged_options_of(const OptionCase& c, const OptionMemory& m) {
  attend::core::RangedOptions o;
  static_cast<attend::core::Options&>(o) = options_of(c, m);
  if (c.chunk > 0) {
    int32_t *const first = m.lists, *const end = first + c.queries;
    for (int t = 0; t < c.queries; ++t) {
      const int position = c.offset + t, prefix = position / c.chunk * c.chunk + c.chunk / 4;
      first[t] = position / c.chunk * c.chunk;
      end[t] = position < prefix ? prefix : position + 1;
    }
    o.ranges.first = first, o.ranges.end = end;
    return o;
  }
  int documents = 0;
  m.lists[0] = 0;
  for (int length = 1; m.lists[documents] < c.queries; length = length % c.longest + 1, ++documents) {
    const int end = m.lists[documents] + length;
    m.lists[documents + 1] = end < c.queries ? end : c.queries;
  }
  o.ranges.boundaries = m.lists, o.ranges.documents = documents;
  return o;
}

// States that take keys in steps, or of segments by themselves, from the last to the first, which are merged.
inline void run_states(const OptionCase& c, const OptionMemory& m, attend::core::Problem p, attend::core::Options o) {
  // Calls with states write scores of the keys that there are. The others are masked.
  const int rows = c.queries * c.query_heads, nodes = attend::core::state_nodes(c.keys);
  const int state = int(attend::core::state_floats(c.value_dim, nodes));
  for (int i = 0; i < rows * o.score_keys && m.scores != nullptr; ++i) m.scores[i] = -__builtin_inff();
  const int step = c.merged ? attend::segment_keys : c.state_keys;
  const int calls = c.keys == 0 ? 1 : (c.keys - 1) / step + 1;
  for (int n = 0; n < calls; ++n) {
    const bool apart = c.merged && n > 0;
    const int first = (c.merged ? calls - 1 - n : n) * step;
    o.states = {apart ? m.later : m.states, ptrdiff_t(c.query_heads) * state, state};
    o.first_key = first;
    o.begins = c.merged || first == 0;
    p.keys = c.keys - first < step ? c.keys : first + step;
    attend::core::Floats::run(p, o);
    if (apart) attend::core::Floats::merge(m.states, m.later, false, rows, c.value_dim, nodes);
  }
  o.states.data = m.states;
  p.keys = c.keys;
  attend::core::Floats::finish(p, o);
}

// As hash_floats, of 16 bits.
inline uint64_t hash_halves(uint64_t hash, const void* data, size_t count, uint32_t infinity) {
  const char* from = static_cast<const char*>(data);
  for (size_t i = 0; i < count; ++i, from += 2) {
    uint16_t bits;
    __builtin_memcpy(&bits, from, sizeof bits);
    const uint32_t size = bits & 0x7fffu;
    hash = (hash ^ (size > infinity ? 0x7fffu : size == 0 ? 0u : bits)) * 0x100000001b3u;
  }
  return hash;
}

inline size_t digest_bytes(const OptionCase& c) {
  Supply supply(nullptr);
  memory_of(c, supply);
  return supply.used() * sizeof(float);
}

// Of output, log-sum-exps and scores, in the order of memory. A call that has a second way (cache_call.h) must have the same
// bits.
inline uint64_t compute_digest(const OptionCase& c, void* memory) {
  Supply supply(static_cast<float*>(memory));
  const OptionMemory m = memory_of(c, supply);
  const size_t rows = size_t(c.queries) * size_t(c.query_heads), outputs = rows * size_t(c.value_dim);
  draw_data(c, m);
  const attend::core::Problem p = problem_of(c, m);
  const attend::core::Options o = options_of(c, m);
  if (m.states != nullptr) {
    run_states(c, m, p, o);
  } else if (m.lists != nullptr) {
    attend::core::Floats::run(p, ranged_options_of(c, m));
  } else {
    attend::core::Floats::run(p, o);
  }
  uint64_t hash = c.output_format == Format::float32
                      ? hash_floats(hash_begin, m.output, outputs)
                      : hash_halves(hash_begin, m.output, outputs, c.output_format == Format::float16 ? 0x7c00 : 0x7f80);
  if (m.lists == nullptr && is_cache_call(p, o)) {
    for (int one_row = 0; one_row < 2; ++one_row) {
      for (size_t i = 0; i < outputs; ++i) m.output[i] = __builtin_nanf("");
      run_cache(p, o, one_row != 0);
      if (hash_floats(hash_begin, m.output, outputs) != hash) return ~hash;
    }
  }
  if (m.lse != nullptr) hash = hash_floats(hash, m.lse, rows);
  return m.scores == nullptr ? hash : hash_floats(hash, m.scores, rows * size_t(o.score_keys));
}

// Cases are changes of this one.
constexpr OptionCase problem() { return {}; }
constexpr Format float32 = Format::float32, float16 = Format::float16, bfloat16 = Format::bfloat16, int8 = Format::int8,
                 int4 = Format::int4;
constexpr attend::core::Scores raw = attend::core::Scores::raw, capped = attend::core::Scores::capped,
                               biased = attend::core::Scores::biased, weights = attend::core::Scores::weights;

}  // namespace attend_test
