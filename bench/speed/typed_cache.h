// A cache of ours in any number formats, to be timed.
#pragma once

#include <cstddef>

#include "attend/attend.h"
#include "attend/core/options.h"
#include "timing.h"

namespace bench {

// All that a call reads lies in one piece, so that reading that piece is what the call is held against.
struct FormatMemory {
  using Format = attend::core::Format;

  FormatMemory(Format key, Format value, int heads, int dims, int tokens, Pages pages = Pages::small)
      : memory(bytes_of(key, value, heads, dims, tokens), pages) {
    unsigned char* next = memory.get();
    const auto take = [&next](std::size_t bytes) {
      unsigned char* taken = next;
      next += bytes;
      return taken;
    };
    unsigned char* const keys = take(attend::core::format_cache_key_bytes(key, heads, dims, tokens));
    unsigned char* const values = take(attend::core::format_cache_value_bytes(value, heads, dims, tokens));
    const std::size_t scale_bytes = attend::core::format_cache_rows(heads, tokens) * sizeof(float);
    const auto scales = [&](Format format) {
      return format == Format::int8 ? static_cast<float*>(static_cast<void*>(take(scale_bytes))) : nullptr;
    };
    float* const key_scales = scales(key);
    cache = {keys, values, key_scales, scales(value), key, value, heads, dims, dims, tokens, {}};
  }

  static std::size_t bytes_of(Format key, Format value, int heads, int dims, int tokens) {
    const std::size_t scaled = std::size_t(key == Format::int8) + std::size_t(value == Format::int8);
    return attend::core::format_cache_key_bytes(key, heads, dims, tokens) +
           attend::core::format_cache_value_bytes(value, heads, dims, tokens) +
           scaled * attend::core::format_cache_rows(heads, tokens) * sizeof(float);
  }

  // Points a problem to the cache; the result says how numbers lie in it.
  attend::core::Options keep_for(attend::core::Problem& problem) const {
    const std::ptrdiff_t slots = std::ptrdiff_t(attend::core::panel_count(cache.capacity)) * attend::panel_keys;
    problem.key = {static_cast<const float*>(cache.keys), 0, slots * cache.head_dim};
    problem.value = {static_cast<const float*>(cache.values), cache.value_dim, slots * cache.value_dim};
    problem.key_panels = true;
    attend::core::Options options;
    options.key_format = cache.key_format;
    options.value_format = cache.value_format;
    options.key_scales = cache.key_scales;
    options.value_scales = cache.value_scales;
    options.key_scale_stride = options.value_scale_stride = slots;
    return options;
  }

  std::size_t bytes() const { return memory.count; }
  const float* floats() const { return static_cast<const float*>(memory.data.get()); }

  Memory<unsigned char> memory;
  attend::core::FormatCache cache;
};

}  // namespace bench
