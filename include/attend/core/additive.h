// The scores of additive attention, under the typed surface; nothing here is checked.
#pragma once

#include "attention.h"
#include "layer.h"
#include "linear.h"

namespace attend {
namespace core {

// Keys whose tanh is under way at a time.
inline constexpr int additive_keys = panel_keys;

// The vector that scores are products with, and work memory.
struct Additive {
  const float* v;  // [hidden]
  int hidden;
  float* sums;  // [additive_keys][hidden]
};

// Scores of some keys for one token.
inline void additive_scores(const Additive& additive, const float* query, const Tensor<const float>& keys, int key_count,
                            float* scores) {
  const int hidden = additive.hidden;
  float* const sums = additive.sums;
  for (int first = 0; first < key_count; first += additive_keys) {
    const int block = key_count - first < additive_keys ? key_count - first : additive_keys;
    for (int j = 0; j < block; ++j) {
      float* const sum = sums + ptrdiff_t(j) * hidden;
      __builtin_memcpy(sum, keys.data + (first + j) * keys.token_stride, size_t(hidden) * sizeof(float));
      add(query, 1.0f, hidden, sum);
    }
    activate<Activation::tanh>(sums, nullptr, block * hidden, sums);
    run_known_linear<Format::float32, false, false>(
        {sums, scores + first, additive.v, nullptr, nullptr, hidden, 1, hidden, hidden, 1, block, false, nullptr});
  }
}

}  // namespace core
}  // namespace attend
