// Work memory of multi-head layers: the size for each call, and the types that have it.
#pragma once

#include "layer_blocks.h"
#include "workspaces.h"

namespace attend {
namespace detail {

// The work memory of a shape. `Attention` is the plan of a block's call. What a LayerCall needs of it is apart from names for
// the rest.
template <class Shape, int tokens, class Attention, int keys_of_arrays>
struct LayerPlaces {
  static constexpr LayerMemory memory{Checked<Shape>(), tokens, larger(keys_of_arrays, 0), Attention::floats};
  static constexpr bool one_token = tokens == 1;
};
template <class Shape, int tokens, class Attention, int keys_of_arrays>
struct LayerPlan {
  using Places = LayerPlaces<Shape, tokens, Attention, keys_of_arrays>;
  static constexpr int block = Places::memory.block;
  static constexpr size_t first = size_t(Places::memory.first), second = size_t(Places::memory.second),
                          keys = size_t(Places::memory.keys), values = size_t(Places::memory.values),
                          floats = size_t(Places::memory.floats);
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
struct LayerPlanFor {
  using Type = PlainLayerPlan<Shape, tokens, keys>;
};
template <class Shape, int tokens, int keys>
struct LayerPlanFor<true, Shape, tokens, keys> {
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
