// Writing tokens into a cache.
#include "../include/attend/core.h"

void attend::core::store(const Cache& cache, int position, int count, Tensor<const float> key, Tensor<const float> value) {
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
