// Work memory of calls: the size for each call, and the types that have it.
#pragma once

#include "../kv_cache.h"

namespace attend {
namespace detail {

// Base of every workspace; the way to tell one from other types.
template <size_t count>
struct WorkFloats {
  alignas(config::alignment) float data[count];
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
template <class Shape, int queries, int keys, bool key_panels>
struct Plan {
  using Dims = Checked<Shape>;
  static_assert(queries >= 1, "attend: a workspace needs at least 1 query token");
  static_assert(keys >= 1, "attend: a workspace needs at least 1 key token");
  static constexpr int rows = core::rows_per_kv_head(Dims::query_heads, Dims::kv_heads, queries);
  static constexpr int row_block = smaller(rows, config::row_block);
  static constexpr int key_block = smaller(core::whole_chains(keys), config::key_block);
  static constexpr size_t floats =
      core::scratch_floats(row_block, key_block, Dims::head_dim, Dims::value_dim, keys, key_panels);
};

// The same for decode: as many rows as the stack allows, and longer blocks of keys when it is one.
template <class Shape, int queries = 1, int keys = KvCache<Shape>::max_tokens>
struct DecodePlan {
  using Dims = Checked<Shape>;
  static constexpr int rows = core::rows_per_kv_head(Dims::query_heads, Dims::kv_heads, queries);
  static constexpr int row_floats = Dims::head_dim + Dims::value_dim + panel_keys + config::score_keys;
  static constexpr int row_block = smaller(rows, larger(1, config::decode_stack_floats / row_floats));
  static constexpr int key_block = smaller(core::whole_chains(keys), row_block == 1 ? config::decode_keys : config::score_keys);
  static constexpr size_t floats = core::scratch_floats(row_block, key_block, Dims::head_dim, Dims::value_dim, keys, true);
};

// The same for calls with ScoreOptions, and over caches that are not plain.
template <class Shape, int queries>
struct OptionPlan {
  using Dims = Checked<Shape>;
  static_assert(queries >= 1, "attend: a workspace needs at least 1 query token");
  static constexpr int rows = core::rows_per_kv_head(Dims::query_heads, Dims::kv_heads, queries);
  static constexpr int row_block = smaller(rows, config::option_row_block);
  static constexpr int key_block = config::key_block;
  static constexpr size_t floats = core::option_scratch_floats(row_block, key_block, Dims::head_dim, Dims::value_dim);
};

template <class Shape>
struct WorkspaceCapacity {
  static_assert(
      MaxTokens<Shape>::named,
      "attend: a Workspace for a KvCache needs `static constexpr int max_tokens = ...;` in the shape; over a RingCache "
      "calls take an attend::OptionWorkspace<Shape, query tokens>");
  static constexpr int value = at_least_one(MaxTokens<Shape>::value);
};

}  // namespace detail

// In the place of a number of keys: those of a cache.
inline constexpr int over_cache = -1;

// Work memory for attention() over arrays of so many tokens and, with keys left out, for prefill() with a query array of so
// many tokens over a KvCache of floats. Contents do not matter before or after; one per concurrent call. A larger one does as
// well.
template <class Shape, int queries, int keys = over_cache>
struct Workspace : detail::WorkFloats<detail::Plan<Shape, queries, keys, false>::floats> {};
template <class Shape, int queries>
struct Workspace<Shape, queries, over_cache>
    : detail::WorkFloats<detail::Plan<Shape, queries, detail::WorkspaceCapacity<Shape>::value, true>::floats> {};

// The same for calls with ScoreOptions, or over a RingCache or a cache of another format, decode too; however many keys there
// are. It is a type of its own because it is larger: a processor with 64 KB of memory should not pay for options that it does
// not use.
template <class Shape, int queries = 1>
struct OptionWorkspace : detail::WorkFloats<detail::OptionPlan<Shape, queries>::floats> {};

}  // namespace attend
