// Writing tokens into a cache.
#include "../include/attend/core.h"

void attend::core::store(const Cache& cache, int position, int count, Tensor<const float> key, Tensor<const float> value) {
  const ptrdiff_t panel_floats = ptrdiff_t(panel_keys) * cache.head_dim;
  for (int head = 0; head < cache.kv_heads; ++head) {
    float* keys = cache.keys + head * panel_count(cache.capacity) * panel_floats;
    float* values = cache.values + head * ptrdiff_t(cache.capacity) * cache.value_dim;
    for (int token = 0; token < count; ++token) {
      const int at = position + token;
      const float* from = key.data + token * key.token_stride + head * key.head_stride;
      float* column = keys + at / panel_keys * panel_floats + at % panel_keys;
      for (int d = 0; d < cache.head_dim; ++d) column[ptrdiff_t(d) * panel_keys] = from[d];
      from = value.data + token * value.token_stride + head * value.head_stride;
      float* row = values + ptrdiff_t(at) * cache.value_dim;
      for (int c = 0; c < cache.value_dim; ++c) row[c] = from[c];
    }
  }
}
