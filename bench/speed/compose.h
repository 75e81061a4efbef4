// Attention as libraries of matrix products have it: a product, a softmax, a product, for each head.
//
// Written so that a peer looks as good as it can: query rows go in blocks, so that scores stay in the cache and a causal block
// computes only keys that its last row sees; query heads that share a key/value head are one product when there is one query.
#pragma once

#include <algorithm>
#include <cstddef>

#include "peers/peers.h"

namespace bench {

// A matrix in rows, `stride` floats apart.
template <class Float>
struct Rows {
  Float* data;
  int rows, columns;
  std::ptrdiff_t stride;
};

// Calls multiply(query rows, keys, values, output rows, first), where row i of the block sees keys 0 … first + i, or all when
// first is negative.
template <class Multiply>
void compose(const PeerProblem& p, Multiply multiply) {
  const int block = p.causal && p.queries <= 512 ? 64 : 128;  // as measured: small ones waste less of a short triangle
  const int group = p.query_heads / p.kv_heads, width = p.head_dim;
  const std::ptrdiff_t q_stride = std::ptrdiff_t(p.query_heads) * width;
  for (int kv = 0; kv < p.kv_heads; ++kv) {
    Rows<const float> key{p.key + kv * p.kv_head_stride, p.keys, width, p.kv_token_stride};
    Rows<const float> value{p.value + kv * p.kv_head_stride, p.keys, width, p.kv_token_stride};
    if (p.queries == 1) {  // the newest token sees every key
      const std::ptrdiff_t at = std::ptrdiff_t(kv) * group * width;
      multiply(Rows<const float>{p.query + at, group, width, width}, key, value,
               Rows<float>{p.output + at, group, width, width}, -1);
      continue;
    }
    for (int head = kv * group; head < (kv + 1) * group; ++head) {
      for (int start = 0; start < p.queries; start += block) {
        const int rows = std::min(block, p.queries - start);
        const int first = p.causal ? p.keys - p.queries + start : -1;
        if (p.causal) key.rows = value.rows = first + rows;
        const std::ptrdiff_t at = start * q_stride + head * width;
        multiply(Rows<const float>{p.query + at, rows, width, q_stride}, key, value,
                 Rows<float>{p.output + at, rows, width, q_stride}, first);
      }
    }
  }
}

}  // namespace bench
