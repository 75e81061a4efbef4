// Writing tokens into a cache of other formats, or with slots.
#include <stddef.h>
#include <stdint.h>

#include "attention/paging.h"
#include "kernel/pack.h"
#include "numerics/formats.h"

namespace attend {
namespace {

// Where a row goes: its numbers, `stride` of them apart from the first, and its scale.
struct Place {
  core::Format format;
  void* data;
  ptrdiff_t first;
  ptrdiff_t stride;
  float* scales;  // null where the format has none
  ptrdiff_t scale;
};

template <class Number>
void put_numbers(const float* from, int count, Number* to, ptrdiff_t stride) {
  for (int i = 0; i < count; ++i) narrow(from[i], to + i * stride);
}

// Returns the scale. Sizes are compared as integers, and what is not finite never gets to be converted.
float put_bytes(const float* from, int count, int8_t* to, ptrdiff_t stride) {
  constexpr uint32_t infinity = 0x7f800000u;
  uint32_t largest = 0;
  for (int i = 0; i < count; ++i) {
    if (magnitude(from[i]) > largest) largest = magnitude(from[i]);
  }
  const float max = bits_to<float>(largest);
  if (largest == 0 || largest >= infinity) {
    for (int i = 0; i < count; ++i) to[i * stride] = 0;
    return largest == 0 ? 0.0f : bits_to<float>(0x7fc00000u);
  }
  // Numbers whose reciprocal may be too large, or which are subnormal, are made larger first.
  const float up = largest < magnitude(0x1p-64f) ? 0x1p64f : 1.0f;
  const float factor = Scalar::mul(127.0f, Scalar::reciprocal(Scalar::mul(max, up)));
  for (int i = 0; i < count; ++i) {
    constexpr float shift = 0x1.8p23f;  // leaves the nearest whole number in the low bits
    const float shifted = Scalar::add(Scalar::mul(Scalar::mul(from[i], up), factor), shift);
    to[i * stride] = int8_t(int32_t(bits_to<uint32_t>(shifted)) - bits_to<int32_t>(shift));
  }
  constexpr float part = 1.0f / 127.0f;
  return Scalar::mul(max, part);
}

void put_row(const float* from, int count, const Place& place) {
  switch (place.format) {
    case core::Format::float32:
      return put_numbers(from, count, static_cast<float*>(place.data) + place.first, place.stride);
    case core::Format::float16:
      return put_numbers(from, count, static_cast<Half*>(place.data) + place.first, place.stride);
    case core::Format::bfloat16:
      return put_numbers(from, count, static_cast<Bfloat*>(place.data) + place.first, place.stride);
    case core::Format::int8:
      place.scales[place.scale] = put_bytes(from, count, static_cast<int8_t*>(place.data) + place.first, place.stride);
  }
}

// A token's keys and values of all heads, at `slot` of the cache.
void put_token(const core::TypedCache& cache, ptrdiff_t slot, const float* key, ptrdiff_t key_stride, const float* value,
               ptrdiff_t value_stride) {
  const ptrdiff_t slots = ptrdiff_t(core::panel_count(cache.capacity)) * panel_keys, lane = slot % panel_keys;
  for (int head = 0; head < cache.kv_heads; ++head) {
    const ptrdiff_t at = head * slots + slot;
    const ptrdiff_t key_at = (at - lane) * cache.head_dim + lane, value_at = at * cache.value_dim;
    put_row(key + head * key_stride, cache.head_dim, {cache.key_format, cache.keys, key_at, panel_keys, cache.key_scales, at});
    put_row(value + head * value_stride, cache.value_dim,
            {cache.value_format, cache.values, value_at, 1, cache.value_scales, at});
  }
}

}  // namespace
}  // namespace attend

void attend::core::store(const TypedCache& cache, int position, int count, Tensor<const float> key, Tensor<const float> value) {
  for (int token = position; token < position + count; ++token) {
    const int group = token / panel_keys, lane = token % panel_keys;
    const int slot = slot_group(cache.paging, token + 1, group);
    const auto put = [&](int to) {
      put_token(cache, ptrdiff_t(to) * panel_keys + lane, key.data, key.head_stride, value.data, value.head_stride);
    };
    put(slot);
    if (cache.paging.ring_groups > 0 && group < cache.paging.pinned_groups) put(group);
    key.data += key.token_stride;
    value.data += value.token_stride;
  }
}
