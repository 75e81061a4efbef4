// Writing tokens into a cache of other formats, or with slots.
#include <stddef.h>
#include <stdint.h>

#include "attention/paging.h"
#include "kernel/narrow.h"

namespace attend {
namespace {

// Where a row goes: its numbers, `stride` of them apart from the first, and its scale.
struct Place {
  void* data;
  ptrdiff_t first;
  ptrdiff_t stride;
  float* scales;  // null where the format has none
  ptrdiff_t scale;
};

template <core::Format format>
ATTEND_NOINLINE void put_row(const float* from, int count, const Place& place) {
  float* const scale = format == core::Format::int8 ? place.scales + place.scale : nullptr;
  narrow_row_to<format>(from, count, static_cast<NumberOf<format>*>(place.data) + place.first, place.stride, scale);
}

void put_row_of(core::Format format, const float* from, int count, const Place& place) {
  switch (format) {
    case core::Format::float32:
      return put_row<core::Format::float32>(from, count, place);
    case core::Format::float16:
      return put_row<core::Format::float16>(from, count, place);
    case core::Format::bfloat16:
      return put_row<core::Format::bfloat16>(from, count, place);
    case core::Format::int8:
      return put_row<core::Format::int8>(from, count, place);
  }
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
void put_token(const core::FormatCache& cache, ptrdiff_t slot, const Token& token, Put put) {
  const ptrdiff_t slots = ptrdiff_t(core::panel_count(cache.capacity)) * panel_keys, lane = slot % panel_keys;
  for (int head = 0; head < cache.kv_heads; ++head) {
    const ptrdiff_t at = head * slots + slot;
    put(cache.key_format, token.key + head * token.key_stride, cache.head_dim,
        Place{cache.keys, (at - lane) * cache.head_dim + lane, panel_keys, cache.key_scales, at});
    put(cache.value_format, token.value + head * token.value_stride, cache.value_dim,
        Place{cache.values, at * cache.value_dim, 1, cache.value_scales, at});
  }
}

template <class Put>
ATTEND_ALWAYS_INLINE void store_tokens(const core::FormatCache& cache, int position, int count, core::Tensor<const float> key,
                                       core::Tensor<const float> value, Put put) {
  for (int token = position; token < position + count; ++token) {
    const int panel = token / panel_keys, lane = token % panel_keys;
    const Token rows = {key.data, value.data, key.head_stride, value.head_stride};
    put_token(cache, ptrdiff_t(slot_panel(cache.paging, token + 1, panel)) * panel_keys + lane, rows, put);
    if (cache.paging.ring_panels > 0 && panel < cache.paging.sink_panels) put_token(cache, token, rows, put);
    key.data += key.token_stride;
    value.data += value.token_stride;
  }
}

}  // namespace

namespace core {

void store(const FormatCache& cache, int position, int count, Tensor<const float> key, Tensor<const float> value) {
  store_tokens(cache, position, count, key, value, put_row_of);
}

template <Format format>
void store_cache(const FormatCache& cache, int position, int count, Tensor<const float> key, Tensor<const float> value) {
  store_tokens(cache, position, count, key, value,
               [](Format, const float* from, int width, const Place& place) { put_row<format>(from, width, place); });
}

template void store_cache<Format::float32>(const FormatCache&, int, int, Tensor<const float>, Tensor<const float>);
template void store_cache<Format::float16>(const FormatCache&, int, int, Tensor<const float>, Tensor<const float>);
template void store_cache<Format::bfloat16>(const FormatCache&, int, int, Tensor<const float>, Tensor<const float>);
template void store_cache<Format::int8>(const FormatCache&, int, int, Tensor<const float>, Tensor<const float>);

}  // namespace core
}  // namespace attend
