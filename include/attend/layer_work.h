// Work memory of multi-head layers: how much a call takes, and the types that have it.
#pragma once

#include "core_linear.h"
#include "workspaces.h"

namespace attend {
namespace detail {

// Where a layer's work memory has what, for a block of its tokens: queries lie where their keys were before, and outputs where
// values were. `Attention` is the plan of a block's call.
template <class Shape, int tokens, class Attention, int keys_of_arrays>
struct LayerPlan {
  using Dims = Checked<Shape>;
  static constexpr int block = smaller(tokens, config::layer_tokens), kept_tokens = larger(keys_of_arrays, 0);
  static constexpr size_t aligned(size_t count) {
    constexpr size_t line = config::alignment / sizeof(float);
    return (count + line - 1) / line * line;
  }
  static constexpr size_t projecting = tokens > 1 ? core::linear_work_floats : 0;
  static constexpr size_t scratch_floats = Attention::floats > projecting ? Attention::floats : projecting;
  static constexpr size_t first = aligned(scratch_floats);
  static constexpr size_t second = first + aligned(size_t(block) * Dims::query_heads * Dims::head_dim);
  static constexpr size_t keys = second + aligned(size_t(block) * Dims::query_heads * Dims::value_dim);
  static constexpr size_t values = keys + aligned(size_t(kept_tokens) * Dims::kv_heads * Dims::head_dim);
  static constexpr size_t floats = values + size_t(kept_tokens) * Dims::kv_heads * Dims::value_dim;
};

// The blocks of attention itself: over arrays of so many keys, or over a cache, where a token alone takes those of decode.
template <class Shape, int tokens, int keys>
struct BlockPlan {
  using Type = Plan<Shape, tokens, keys, false>;
};
template <class Shape, int tokens>
struct BlockPlan<Shape, tokens, over_cache> {
  using Type = Plan<Shape, tokens, Capacity<Shape>::value, true>;
};
template <class Shape>
struct BlockPlan<Shape, 1, over_cache> {
  using Type = DecodePlan<Shape>;
};

template <class Shape, int tokens, int keys>
using PlainLayerPlan =
    LayerPlan<Shape, tokens, typename BlockPlan<Shape, smaller(tokens, config::layer_tokens), keys>::Type, keys>;
template <class Shape, int tokens, int keys>
using OptionLayerPlan = LayerPlan<Shape, tokens, OptionPlan<Shape, smaller(tokens, config::layer_tokens)>, keys>;
template <bool with_options, class Shape, int tokens, int keys>
struct LayerMemory {
  using Type = PlainLayerPlan<Shape, tokens, keys>;
};
template <class Shape, int tokens, int keys>
struct LayerMemory<true, Shape, tokens, keys> {
  using Type = OptionLayerPlan<Shape, tokens, keys>;
};

}  // namespace detail

// Work memory of a layer, for calls of so many tokens over a KvCache of floats; or, with keys = tokens, for self_attention
// without a cache, whose keys and values it holds. Contents do not matter before or after; one per concurrent call. A larger
// one does as well.
template <class Shape, int tokens, int keys = over_cache>
struct LayerWorkspace : detail::WorkFloats<detail::PlainLayerPlan<Shape, tokens, keys>::floats> {};

// The same for calls with ScoreOptions, or over a RingCache or a cache of another format.
template <class Shape, int tokens, int keys = over_cache>
struct LayerOptionWorkspace : detail::WorkFloats<detail::OptionLayerPlan<Shape, tokens, keys>::floats> {};

}  // namespace attend
