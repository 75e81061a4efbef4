// Writing tokens into caches: of floats, of other formats or with slots, and into quads of integers.
#include "portable.h"

namespace attend {
namespace {

// Where a row goes: number i to data[first + i * stride], and its scale.
struct Place {
  void* data;
  ptrdiff_t first;
  ptrdiff_t stride;
  float* scales;  // null where the format has none
  ptrdiff_t scale;
  bool saturates;
};

// At any address.
ATTEND_ALWAYS_INLINE void copy_bytes(const void* from, void* to, size_t count) {
#if defined(ATTEND_ALIGNED)
  for (size_t i = 0; i < count; ++i) static_cast<uint8_t*>(to)[i] = static_cast<const uint8_t*>(from)[i];
#else
  ATTEND_MEMCPY(to, from, count);
#endif
}

// Writes a row. Returns whether all numbers are within the range of the format (narrow_numbers).
template <core::Format format>
ATTEND_NOINLINE bool put_row(const float* from, int count, const Place& place) {
  float* const scale = format == core::Format::int8 ? place.scales + place.scale : nullptr;
  return narrow_row_to<format>(from, count, static_cast<NumberOf<format>*>(place.data) + place.first, place.stride, scale,
                               place.saturates);
}

template <>
bool put_row<core::Format::int4>(const float* from, int count, const Place& place) {
  const ptrdiff_t lane = place.stride == 1 ? 0 : place.first % panel_keys;
  void* const to = static_cast<char*>(place.data) + bytes_of(core::Format::int4, place.first - lane);
  bool fits = true;
  for (int g = 0; g < count / core::int4_group; ++g, from += core::int4_group) {
    core::Int4Group group;
    if (!narrow_to_group(from, group)) {
      fits = place.saturates;
      if (fits) narrow_to_limited_group(from, group);
    }
    if (place.stride == 1) {
      copy_bytes(&group, static_cast<core::Int4Group*>(to) + g, sizeof group);
    } else {
      core::put_int4_group(group, int(lane), static_cast<core::Int4Panel*>(to)[g]);
    }
  }
  return fits;
}

bool put_row_of(core::Format format, const float* from, int count, const Place& place) {
#define ATTEND_FORMAT_CASE(name) \
  case core::Format::name:       \
    return put_row<core::Format::name>(from, count, place);
  switch (format) { ATTEND_EACH_FORMAT(ATTEND_FORMAT_CASE) case core::Format::int16 : break; }
#undef ATTEND_FORMAT_CASE
  return true;
}

// A token's keys and values.
struct Token {
  const float* key;
  const float* value;
  ptrdiff_t key_stride;  // from head to head
  ptrdiff_t value_stride;
};

// Puts the keys and values of a token into a slot of the cache, each row by a call of `put`.
template <class Put>
bool put_token(const core::FormatCache& cache, ptrdiff_t slot, const Token& token, Put put) {
  const ptrdiff_t slots = ptrdiff_t(core::panel_count(cache.capacity)) * panel_keys, lane = slot % panel_keys;
  bool fits = true;
  for (int head = 0; head < cache.kv_heads; ++head) {
    const ptrdiff_t at = head * slots + slot;
    fits &= put(cache.key_format, token.key + head * token.key_stride, cache.head_dim,
                Place{cache.keys, (at - lane) * cache.head_dim + lane, panel_keys, cache.key_scales, at, cache.saturates_keys});
    fits &= put(cache.value_format, token.value + head * token.value_stride, cache.value_dim,
                Place{cache.values, at * cache.value_dim, 1, cache.value_scales, at, cache.saturates_values});
  }
  return fits;
}

// Whether all numbers of keys or values are within the range of a format.
bool fit(core::Format format, const core::Tensor<const float>& tokens, int count, int heads, int width) {
  bool fit = true;
  for (int i = 0; core::has_end(format) && i < count * heads && fit; ++i) {
    const float* const row = tokens.data + i / heads * tokens.token_stride + i % heads * tokens.head_stride;
    fit = all_fit(row, width, format == core::Format::float16 ? too_large<Half> : too_large<core::Int4Group>);
  }
  return fit;
}

// Where tokens are refused, tokens that can be seen stay: free slots may be written before all numbers are known, but not the
// panel of a ring's oldest tokens, which the ring overwrites when it begins another panel.
ATTEND_NOINLINE bool may_overwrite(const core::FormatCache& cache, int position, int count,
                                   const core::Tensor<const float>& key, const core::Tensor<const float>& value) {
  const int last_panel = (position + count - 1) / panel_keys;
  if (last_panel < cache.paging.ring_panels || last_panel <= (position - 1) / panel_keys) return true;
  return (cache.saturates_keys || fit(cache.key_format, key, count, cache.kv_heads, cache.head_dim)) &&
         (cache.saturates_values || fit(cache.value_format, value, count, cache.kv_heads, cache.value_dim));
}

template <class Put>
ATTEND_ALWAYS_INLINE bool store_tokens(const core::FormatCache& cache, int position, int count, core::Tensor<const float> key,
                                       core::Tensor<const float> value, bool ends, Put put) {
  const bool is_ring = cache.paging.ring_panels > 0;
  if (ends && is_ring && !may_overwrite(cache, position, count, key, value)) return false;
  bool fits = true;
  for (int token = position; token < position + count; ++token) {
    const int panel = token / panel_keys, lane = token % panel_keys;
    const Token rows = {key.data, value.data, key.head_stride, value.head_stride};
    fits &= put_token(cache, ptrdiff_t(slot_panel(cache.paging, token + 1, panel)) * panel_keys + lane, rows, put);
    if (is_ring && panel < cache.paging.sink_panels) put_token(cache, token, rows, put);
    key.data += key.token_stride;
    value.data += value.token_stride;
  }
  return fits;
}

}  // namespace

namespace core {

bool store(const FormatCache& cache, int position, int count, Tensor<const float> key, Tensor<const float> value) {
  const bool looks = has_end(cache.key_format) || has_end(cache.value_format);
  bool stored;
  in_float_environment(
      [&]() ATTEND_INLINE_LAMBDA { stored = store_tokens(cache, position, count, key, value, looks, put_row_of); });
  return stored;
}

template <Format format>
bool store_cache(const FormatCache& cache, int position, int count, Tensor<const float> key, Tensor<const float> value) {
  const auto put = [](Format, const float* from, int width, const Place& place) { return put_row<format>(from, width, place); };
  bool stored;
  const auto store = [&]() ATTEND_INLINE_LAMBDA {
    stored = store_tokens(cache, position, count, key, value, has_end(format), put);
  };
  if constexpr (format == Format::int8 || format == Format::int4) {
    in_float_environment(store);
  } else {  // in whole numbers
    store();
  }
  return stored;
}

#define ATTEND_STORE_CACHE(format) \
  template bool store_cache<Format::format>(const FormatCache&, int, int, Tensor<const float>, Tensor<const float>);
ATTEND_EACH_FORMAT(ATTEND_STORE_CACHE)
#undef ATTEND_STORE_CACHE

void store(const Cache& cache, int position, int count, Tensor<const float> key, Tensor<const float> value) {
  for (int token = position; token < position + count; ++token) {
    const int first_in_panel = token & -panel_keys;
    float* keys = cache.keys + ptrdiff_t(first_in_panel) * cache.head_dim + (token - first_in_panel);
    float* values = cache.values + ptrdiff_t(token) * cache.value_dim;
    const float* from_key = key.data;
    const float* from_value = value.data;
    for (int head = 0; head < cache.kv_heads; ++head) {
      for (int d = 0; d < cache.head_dim; ++d) keys[ptrdiff_t(d) * panel_keys] = from_key[d];
      for (int c = 0; c < cache.value_dim; ++c) values[c] = from_value[c];
      keys += ptrdiff_t(panel_count(cache.capacity)) * panel_keys * cache.head_dim;
      values += ptrdiff_t(cache.capacity) * cache.value_dim;
      from_key += key.head_stride;
      from_value += value.head_stride;
    }
    key.data += key.token_stride;
    value.data += value.token_stride;
  }
}

namespace {

void store_key(const int8_t* key, int head_dim, int8_t* to) {
  int d = 0;
  for (; d + 4 <= head_dim; d += 4) copy_bytes(key + d, to + key_in_quads(0, d), 4);
  if (d == head_dim) return;
  for (int i = 0; i < 4; ++i) to[key_in_quads(0, d) + i] = d + i < head_dim ? key[d + i] : int8_t(0);
}

}  // namespace

void store(const IntegerCache& cache, int place, int count, const Tensor<const int8_t>& key,
           const Tensor<const int8_t>& value) {
  const ptrdiff_t key_dim = whole_quads(cache.head_dim), value_dim = cache.value_dim;
  for (int i = 0; i < count; ++i, ++place) {
    const int within = place % integer_chunk;
    for (int head = 0; head < cache.kv_heads; ++head) {
      const ptrdiff_t chunk = ptrdiff_t(head) * cache.tokens + (place - within);
      store_key(key.data + i * key.token_stride + head * key.head_stride, cache.head_dim,
                cache.keys + chunk * key_dim + key_in_quads(within, 0));
      const int8_t* const from = value.data + i * value.token_stride + head * value.head_stride;
      int8_t* const to = cache.values + chunk * value_dim + value_in_quads(within, 0, cache.value_dim);
      for (int c = 0; c < cache.value_dim; ++c) to[4 * c] = from[c];
    }
  }
}

}  // namespace core
}  // namespace attend
