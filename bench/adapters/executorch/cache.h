// Caches of keys and values that a model owns: [batch][tokens][heads][dim], of any numbers.
#pragma once

#include <cstring>

#include "arguments.h"

namespace attend_executorch {

inline void require_cache(Arguments& arguments, const Array& value, const Array& cache) {
  arguments.require(value.type == cache.type, "has a value of another type than the cache");
  arguments.require(value.size[0] == cache.size[0] && value.size[2] == cache.size[2] && value.size[3] == cache.size[3],
                    "has a value of another batch, heads or width than the cache");
}

// Whether tokens fit from a position on.
inline void require_room(Arguments& arguments, const Array& value, const Array& cache, std::int64_t start) {
  arguments.require(start >= 0 && start <= cache.size[1] && value.size[1] <= cache.size[1] - start,
                    "has a start_pos without room for its tokens in the cache");
}

inline void copy_token(const Array& value, std::ptrdiff_t row, std::ptrdiff_t token, const Array& cache,
                       std::ptrdiff_t position) {
  for (std::ptrdiff_t h = 0; h < value.size[2]; ++h) {
    std::memmove(cache.row(row, position, h), value.row(row, token, h), std::size_t(value.size[3] * bytes_of(value.type)));
  }
}

inline void update(const Array& value, const Array& cache, std::int64_t start) {
  for (std::ptrdiff_t row = 0; row < value.size[0]; ++row) {
    for (std::ptrdiff_t token = 0; token < value.size[1]; ++token)
      copy_token(value, row, token, cache, std::ptrdiff_t(start) + token);
  }
}

}  // namespace attend_executorch
