// Writing tokens into the panels of a cache of integer attention.
#include "attention/integer_panels.h"

namespace attend {
namespace core {
namespace {

void store_key(const int8_t* key, int head_dim, int8_t* to) {
  int d = 0;
  for (; d + 4 <= head_dim; d += 4) __builtin_memcpy(to + key_in_panel(0, d), key + d, 4);
  if (d == head_dim) return;
  for (int i = 0; i < 4; ++i) to[key_in_panel(0, d) + i] = d + i < head_dim ? key[d + i] : int8_t(0);
}

void store_value(const int8_t* value, int width, int8_t* to) {
  for (int c = 0; c < width; ++c) to[4 * c] = value[c];
}

}  // namespace

void store(const IntegerPanels& panels, int place, int count, const Tensor<const int8_t>& key,
           const Tensor<const int8_t>& value) {
  const ptrdiff_t key_dim = integer_panel_dim(panels.head_dim), value_dim = panels.value_dim;
  for (int i = 0; i < count; ++i, ++place) {
    const int within = place % integer_chunk;
    for (int head = 0; head < panels.kv_heads; ++head) {
      const ptrdiff_t chunk = ptrdiff_t(head) * panels.tokens + (place - within);
      store_key(key.data + i * key.token_stride + head * key.head_stride, panels.head_dim,
                panels.keys + chunk * key_dim + key_in_panel(within, 0));
      store_value(value.data + i * value.token_stride + head * value.head_stride, panels.value_dim,
                  panels.values + chunk * value_dim + value_in_panel(within, 0, panels.value_dim));
    }
  }
}

}  // namespace core
}  // namespace attend
