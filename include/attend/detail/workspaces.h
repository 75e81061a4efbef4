// Work memory of calls: the size for each call, and the types that have it.
#pragma once

#include "../kv_cache.h"
#include "checked.h"

namespace attend {
namespace detail {

// Base of every workspace; the way to tell one from other types.
template <size_t count>
struct WorkFloats {
  alignas(config::alignment) float data[count];
#ifdef ATTEND_CHECKED
  uint32_t in_use = 0;  // checked.h
#endif
};

template <size_t count>
constexpr size_t work_floats(const WorkFloats<count>*) {
  return count;
}
constexpr size_t work_floats(const void*) { return 0; }

template <class Work, class Plan>
constexpr bool is_enough() {
  return work_floats(null_of<Work>()) >= Plan::floats;
}

// The floats of a workspace that is enough; of what is not, and was refused, none.
template <bool enough, class Work>
constexpr float* memory_of(Work& work) {
  if constexpr (enough) {
    return work.data;
  } else {
    return nullptr;
  }
}

// The blocks that a shape of so many query and key tokens uses, and the work memory that they need.
template <class Shape, int queries, int keys, bool key_panels, class = typename ArithmeticOf<Shape>::Type>
struct Plan {
  static_assert(!is_integer<Shape>, "attend: a workspace of an integer shape needs #include <attend/integer.h>");
  using Dims = Checked<Shape>;
  static_assert(queries >= 1, "attend: a workspace needs at least 1 query token");
  static_assert(keys >= 1, "attend: a workspace needs at least 1 key token");
  static constexpr int rows = core::rows_per_kv_head(Dims::query_heads, Dims::kv_heads, queries);
  static constexpr int row_block = smaller(rows, config::row_block);
  static constexpr int key_block = smaller(core::whole_chains(keys), config::key_block);
  static constexpr size_t floats =
      core::scratch_floats(row_block, key_block, Dims::head_dim, Dims::value_dim, keys, key_panels);
};

// The nodes of finished segments that a call has room for (core/segments.h): over arrays of so many keys, or over a cache. For
// shapes without max_tokens the cache is a ring, of at most config::ring_keys unless its sizes are named.
template <class Shape, int keys>
constexpr int levels_of() {
  if (keys != over_cache) return keys < 0 ? over_cache - 1 - keys : core::segment_levels(keys);
  return MaxTokens<Shape>::named ? core::segment_levels(at_least_one(MaxTokens<Shape>::value))
                                 : core::window_levels(config::ring_keys, 1);
}

// The same for decode: as many rows as the stack allows, and longer blocks of keys when it is one.
template <class Shape, int queries = 1, int keys = MaxTokens<Shape>::value>
struct DecodePlan {
  using Dims = Checked<Shape>;
  static constexpr int rows = core::rows_per_kv_head(Dims::query_heads, Dims::kv_heads, queries);
  static constexpr int row_floats = Dims::head_dim + Dims::value_dim + panel_keys + config::score_keys;
  static constexpr int row_block = smaller(rows, larger(1, config::decode_stack_floats / row_floats));
  static constexpr int key_block = smaller(core::whole_chains(keys), row_block == 1 ? config::decode_keys : config::score_keys);
  static constexpr size_t floats = core::scratch_floats(row_block, key_block, Dims::head_dim, Dims::value_dim, keys, true);
};

// The same for calls with ScoreOptions, and over caches that are not plain. `keys` is an OptionWorkspace's.
template <class Shape, int queries, int keys, class = typename ArithmeticOf<Shape>::Type>
struct OptionPlan {
  static_assert(!is_integer<Shape>, "attend: a workspace of an integer shape needs #include <attend/integer.h>");
  using Dims = Checked<Shape>;
  static_assert(queries >= 1, "attend: a workspace needs at least 1 query token");
  static constexpr int rows = core::rows_per_kv_head(Dims::query_heads, Dims::kv_heads, queries);
  static constexpr int row_block = smaller(rows, config::option_row_block);
  static constexpr int key_block = config::key_block;
  static constexpr size_t floats =
      core::option_scratch_floats(row_block, key_block, Dims::head_dim, Dims::value_dim, levels_of<Shape, keys>());
};

template <class Shape, int keys>
struct WorkspaceCapacity {
  static_assert(
      MaxTokens<Shape>::named || is_integer<Shape>,
      "attend: a Workspace for a KvCache needs `static constexpr int max_tokens = ...;` in the shape; over a RingCache "
      "calls take an attend::OptionWorkspace<Shape, query tokens>");
  static constexpr int value = is_integer<Shape> ? keys : at_least_one(MaxTokens<Shape>::value);
};

// What a Workspace is for: arrays of so many tokens, or a cache. Additive attention and projections have plans of their own.
template <class Shape, int queries, int keys, bool cached = (keys < 0)>
struct WorkPlan : Plan<Shape, queries, keys, false> {};
template <class Shape, int queries, int keys>
struct WorkPlan<Shape, queries, keys, true> : Plan<Shape, queries, WorkspaceCapacity<Shape, keys>::value, true> {};

}  // namespace detail

// Work memory for attention() over arrays of so many tokens and, with keys left out, for prefill() with a query array of so
// many tokens over a KvCache of floats, or for any call over a cache of an integer shape. Contents do not matter before or
// after; one per concurrent call. A larger one does as well. Additive attention takes a Workspace<AdditiveShape<hidden, width>,
// tokens, keys>, projections take a Workspace<Projections>.
template <class Shape, int queries = 1, int keys = over_cache>
struct Workspace : detail::WorkFloats<detail::WorkPlan<Shape, queries, keys>::floats> {};

// The same for calls with ScoreOptions, or over a RingCache or a cache of another format, decode too. It is a type of its own
// because it is larger: a processor with 64 KB of memory should not pay for options that it does not use. Each doubling of the
// keys beyond 512 takes a row of sums more. Without `keys` it serves caches of the shape; where the shape has no max_tokens,
// rings of up to config::ring_keys keys. For other rings, and in a Workspace too, `keys` is attend::over_ring<Sizes>.
template <class Shape, int queries = 1, int keys = over_cache>
struct OptionWorkspace : detail::WorkFloats<detail::OptionPlan<Shape, queries, keys>::floats> {};

}  // namespace attend
