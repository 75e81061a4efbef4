// A problem of integer attention as a few numbers, from which its data follow; its memory and its call. Freestanding.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../support/placed.h"
#include "../support/random.h"
#include "attend/core/integer.h"
#include "changed.h"

namespace attend_test {

using attend::core::Format;

enum class IntegerMask : uint8_t { none, bytes, bits };

struct IntegerCase {
  int query_heads = 2, kv_heads = 1, head_dim = 20, value_dim = 13, queries = 4, keys = 150, offset = 146;
  bool causal = true;
  double score_step = 6e-5, output_steps = 2.0;
  int value_zero = 0, zero = 0;
  bool head_scales = false;  // each query head has scales of its own
  int left = -1, right = -1, sink_tokens = 0;
  IntegerMask mask = IntegerMask::none;  // of each token and head
  int mask_keys = 0;
  int query_zero = 0;
  bool key_scales = false, value_scales = false;
  Format format = Format::int8;
  int ring_chunks = 0, sink_chunks = 0, origin = 0;
  int state_keys = 0;  // states that stop after so many keys and go on; 0: none
  int row_block = 8, key_block = 64;
  uint64_t seed = 1;

  // How the cases of digests.inc are written.
  constexpr IntegerCase heads(int query, int kv) const {
    return changed(*this, &IntegerCase::query_heads, query, &IntegerCase::kv_heads, kv);
  }
  constexpr IntegerCase dims(int head, int value) const {
    return changed(*this, &IntegerCase::head_dim, head, &IntegerCase::value_dim, value);
  }
  constexpr IntegerCase tokens(int count, int of_keys, int at) const {
    return changed(*this, &IntegerCase::queries, count, &IntegerCase::keys, of_keys, &IntegerCase::offset, at);
  }
  constexpr IntegerCase both_ways() const { return changed(*this, &IntegerCase::causal, false); }
  constexpr IntegerCase steps(double of_scores, double of_output) const {
    return changed(*this, &IntegerCase::score_step, of_scores, &IntegerCase::output_steps, of_output);
  }
  constexpr IntegerCase zeros(int of_values, int of_output) const {
    return changed(*this, &IntegerCase::value_zero, of_values, &IntegerCase::zero, of_output);
  }
  constexpr IntegerCase by_head() const { return changed(*this, &IntegerCase::head_scales, true); }
  constexpr IntegerCase window(int to_left, int to_right, int sinks) const {
    return changed(*this, &IntegerCase::left, to_left, &IntegerCase::right, to_right, &IntegerCase::sink_tokens, sinks);
  }
  constexpr IntegerCase masked(IntegerMask by, int keys_of_it) const {
    return changed(*this, &IntegerCase::mask, by, &IntegerCase::mask_keys, keys_of_it);
  }
  constexpr IntegerCase queries_from(int zero_point) const { return changed(*this, &IntegerCase::query_zero, zero_point); }
  constexpr IntegerCase token_scales(bool of_keys, bool of_values) const {
    return changed(*this, &IntegerCase::key_scales, of_keys, &IntegerCase::value_scales, of_values);
  }
  constexpr IntegerCase output(Format its) const { return changed(*this, &IntegerCase::format, its); }
  constexpr IntegerCase ring(int chunks, int sinks) const {
    return changed(*this, &IntegerCase::ring_chunks, chunks, &IntegerCase::sink_chunks, sinks);
  }
  constexpr IntegerCase from(int position) const { return changed(*this, &IntegerCase::origin, position); }
  constexpr IntegerCase stopping(int every) const { return changed(*this, &IntegerCase::state_keys, every); }

  constexpr bool has_options() const {
    return left >= 0 || right >= 0 || mask != IntegerMask::none || query_zero != 0 || key_scales || value_scales ||
           format != Format::int8 || ring_chunks > 0 || origin > 0 || state_keys > 0;
  }
  constexpr size_t rows() const { return size_t(queries) * size_t(query_heads); }
  // Keys that there is memory for.
  constexpr int places() const { return ring_chunks > 0 ? (ring_chunks + sink_chunks) * attend::integer_chunk : keys - origin; }
  // For work memory: of a ring, those of what a query may see; keys before the origin do not exist.
  constexpr int levels() const {
    return ring_chunks > 0 ? attend::core::window_levels(places(), 1) : attend::core::segment_levels(keys);
  }
  constexpr size_t output_bytes() const {
    return rows() * size_t(value_dim) * (format == Format::int8 ? 1 : format == Format::int16 ? 2 : 4);
  }
  constexpr ptrdiff_t mask_row() const { return mask_keys + 3; }
};

// Hands out memory at multiples of 64 bytes, or, without any, counts it.
class Bytes {
 public:
  explicit Bytes(void* memory) : memory_(static_cast<char*>(memory)) {}

  template <class Type>
  Type* take(size_t count, size_t alignment = alignof(Type)) {
    void* const taken = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (count * sizeof(Type) + 63) / 64 * 64;
    return placed(static_cast<Type*>(taken), count, alignment);
  }
  size_t used() const { return used_; }

 private:
  char* memory_;
  size_t used_ = 0;
};

struct IntegerData {
  int8_t *query, *key, *value;
  void* output;
  uint8_t* visible;
  uint16_t *key_scales, *value_scales;
  attend::core::ScoreScale* score_scales;
  attend::core::OutputScale* output_scales;
  int32_t* states;
  void* scratch;
};

inline IntegerData integer_data_of(const IntegerCase& c, Bytes& bytes) {
  const size_t heads = size_t(c.query_heads), places = size_t(c.places()) * size_t(c.kv_heads);
  IntegerData d{};
  d.scratch = bytes.take<char>(
      attend::core::integer_scratch_bytes(c.row_block, c.key_block, c.head_dim, c.value_dim, c.state_keys > 0 ? 0 : c.levels()),
      8);
  d.query = bytes.take<int8_t>(c.rows() * size_t(c.head_dim));
  d.key = bytes.take<int8_t>(places * size_t(c.head_dim));
  d.value = bytes.take<int8_t>(places * size_t(c.value_dim));
  d.output = bytes.take<char>(c.output_bytes());
  if (c.mask != IntegerMask::none) d.visible = bytes.take<uint8_t>(c.rows() * size_t(c.mask_row()));
  if (c.key_scales) d.key_scales = bytes.take<uint16_t>(places);
  if (c.value_scales) d.value_scales = bytes.take<uint16_t>(places);
  d.score_scales = bytes.take<attend::core::ScoreScale>(heads);
  d.output_scales = bytes.take<attend::core::OutputScale>(heads);
  if (c.state_keys > 0)
    d.states =
        bytes.take<int32_t>(c.rows() * attend::core::integer_state_numbers(c.value_dim, attend::core::state_nodes(c.keys)));
  return d;
}

inline void draw_integers(Random& random, size_t count, int8_t* to) {
  for (size_t i = 0; i < count; ++i) to[i] = int8_t(int(random.bits() >> 24) - 128);
}

// Every tensor has a generator of its own.
inline void draw_integer_data(const IntegerCase& c, const IntegerData& d) {
  const size_t places = size_t(c.places()) * size_t(c.kv_heads);
  Random query(c.seed * 8), key(c.seed * 8 + 1), value(c.seed * 8 + 2), mask(c.seed * 8 + 3), scale(c.seed * 8 + 4);
  draw_integers(query, c.rows() * size_t(c.head_dim), d.query);
  draw_integers(key, places * size_t(c.head_dim), d.key);
  draw_integers(value, places * size_t(c.value_dim), d.value);
  const size_t elements = c.mask == IntegerMask::none ? 0 : c.rows() * size_t(c.mask_row());
  for (size_t i = 0; i < elements; ++i) {
    const uint32_t bits = mask.bits();
    d.visible[i] = c.mask == IntegerMask::bits ? uint8_t(bits >> 24) : uint8_t(bits >> 30 == 0 ? 0 : bits >> 24 | 1);
  }
  const auto token_scale = [&] { return uint16_t(0x8000u - (scale.bits() >> 18)); };  // 2^-15 * (2^14 + 1 … 2^15)
  for (size_t i = 0; c.key_scales && i < places; ++i) d.key_scales[i] = token_scale();
  for (size_t i = 0; c.value_scales && i < places; ++i) d.value_scales[i] = token_scale();
  for (int h = 0; h < c.query_heads; ++h) {
    const int n = c.head_scales ? h : 0;
    d.score_scales[h] = attend::core::score_scale(attend::core::product(c.score_step, 1.0 + 0.25 * n));
    d.output_scales[h] =
        attend::core::output_scale(attend::core::product(c.output_steps, 1.0 + 0.5 * n), c.value_zero + n, c.zero - n);
  }
}

inline attend::core::Problem integer_problem_of(const IntegerCase& c, const IntegerData& d) {
  attend::core::Problem p{};
  p.query = {d.query, ptrdiff_t(c.query_heads) * c.head_dim, c.head_dim};
  p.output = {d.output, ptrdiff_t(c.query_heads) * c.value_dim, c.value_dim};
  p.key = {d.key, ptrdiff_t(c.kv_heads) * c.head_dim, c.head_dim};
  p.value = {d.value, ptrdiff_t(c.kv_heads) * c.value_dim, c.value_dim};
  p.query_heads = c.query_heads, p.kv_heads = c.kv_heads, p.head_dim = c.head_dim, p.value_dim = c.value_dim;
  p.queries = c.queries, p.keys = c.keys, p.offset = c.offset, p.causal = c.causal;
  p.score_scales = d.score_scales, p.output_scales = d.output_scales;
  p.scale_stride = c.head_scales ? 1 : 0;
  p.row_block = c.row_block, p.key_block = c.key_block, p.scratch = d.scratch;
  return p;
}

inline attend::core::Options integer_options_of(const IntegerCase& c, const IntegerData& d) {
  attend::core::Options o;
  o.left = c.left, o.right = c.right, o.sink_tokens = c.sink_tokens;
  if (c.mask != IntegerMask::none) o.mask = {d.visible, 1, c.mask_row() * c.query_heads, c.mask_row(), c.mask_keys};
  o.mask_bits = c.mask == IntegerMask::bits;
  o.query_zero = c.query_zero;
  o.key_scales = d.key_scales, o.value_scales = d.value_scales;
  o.key_scale_stride = o.value_scale_stride = c.places();
  o.output_format = c.format;
  o.float_scale = 0.7f;
  o.paging.ring_panels = c.ring_chunks, o.paging.sink_panels = c.sink_chunks, o.origin = c.origin;
  return o;
}

inline void run_integer_states(const IntegerCase& c, const IntegerData& d, attend::core::Problem p, attend::core::Options o) {
  const ptrdiff_t state = ptrdiff_t(attend::core::integer_state_numbers(c.value_dim, attend::core::state_nodes(c.keys)));
  o.states = {d.states, c.query_heads * state, state};
  for (int first = 0; first == 0 || first < c.keys; first += c.state_keys) {
    o.first_key = first;
    o.begins = first == 0;
    p.keys = c.keys - first < c.state_keys ? c.keys : first + c.state_keys;
    attend::core::Integers::run(p, o);
  }
  attend::core::Integers::finish(p, o);
}

// The call that the case is.
inline void run_integer_case(const IntegerCase& c, const IntegerData& d) {
  const attend::core::Problem p = integer_problem_of(c, d);
  if (!c.has_options()) return attend::core::Integers::run(p);
  const attend::core::Options o = integer_options_of(c, d);
  if (c.state_keys > 0) return run_integer_states(c, d, p, o);
  attend::core::Integers::run(p, o);
}

}  // namespace attend_test
