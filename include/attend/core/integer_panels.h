// Caches of integer attention on hosts (embedded processors read rows only), in the order in which kernels that multiply quads
// of bytes read them. A chunk of 32 tokens of a head lies as
//
//   keys:   [quads of dimensions][32 tokens][4 dimensions]   head_dim is rounded up to a multiple of 4
//   values: [8 quads of tokens][value_dim][4 tokens]
//
// so that one row of queries needs neither sums over lanes nor bytes brought into another order.
#pragma once

#include "integer.h"

namespace attend {
namespace core {

// Memory of a cache: [kv_heads][tokens] of keys and of values, in panels.
struct IntegerPanels {
  int8_t* keys;    // kv_heads * tokens * integer_panel_dim(head_dim) bytes
  int8_t* values;  // kv_heads * tokens * value_dim bytes
  int kv_heads;
  int head_dim;
  int value_dim;
  int tokens;  // room; a multiple of integer_chunk
};

constexpr int integer_panel_dim(int head_dim) { return (head_dim + 3) & -4; }
constexpr int whole_chunks(int tokens) { return (tokens + integer_chunk - 1) / integer_chunk * integer_chunk; }

// What a problem reads of them, with IntegerProblem::panels.
constexpr Tensor<const int8_t> key_panels(const int8_t* keys, int head_dim, int tokens) {
  return {keys, integer_panel_dim(head_dim), ptrdiff_t(tokens) * integer_panel_dim(head_dim)};
}
constexpr Tensor<const int8_t> value_panels(const int8_t* values, int value_dim, int tokens) {
  return {values, value_dim, ptrdiff_t(tokens) * value_dim};
}

// Writes `count` tokens to places place … place + count - 1; key and value: [count][kv_heads][width].
void store(const IntegerPanels& panels, int place, int count, const Tensor<const int8_t>& key,
           const Tensor<const int8_t>& value);

}  // namespace core
}  // namespace attend
