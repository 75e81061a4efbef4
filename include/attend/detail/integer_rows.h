// The memory of integer shapes: work memory of their calls, and how caches keep 8-bit numbers, in the kernels' order.
#pragma once

#include "../core/integer.h"
#include "workspaces.h"

namespace attend::detail {

// Over a cache, `keys` is a Workspace's: over_cache or attend::over_ring.
template <class Shape, int queries, int keys, bool key_panels>
struct Plan<Shape, queries, keys, key_panels, integer> {
  using Dims = Checked<Shape>;
  static_assert(queries >= 1, "attend: a workspace needs at least 1 query token");
  static_assert(keys >= 1 || key_panels, "attend: a workspace needs at least 1 key token");
  static_assert(keys <= integer_keys || key_panels, "attend: attention of an integer shape takes at most 65535 keys");
  static constexpr int tokens = queries;
  static constexpr int rows = core::rows_per_kv_head(Dims::query_heads, Dims::kv_heads, queries);
  static constexpr int row_block = smaller(rows, config::integer_row_block);
  static constexpr int key_block =
      key_panels ? config::integer_key_block : smaller(core::whole_chunks(keys), config::integer_key_block);
  static constexpr size_t floats =
      core::integer_scratch_bytes(row_block, key_block, Dims::head_dim, Dims::value_dim, levels_of<Shape, keys>()) /
      sizeof(float);
};

template <class Shape, int queries, int keys>
struct OptionPlan<Shape, queries, keys, integer> : Plan<Shape, queries, keys, true> {};

// Tokens of each head: one after another, or in quads.
template <class Shape, int places, class Ring>
class IntegerRows {
  using Dims = Checked<Shape>;
  static constexpr bool quads = config::integer_quads;
  static constexpr int room = quads ? core::whole_chunks(places) : places;
  static constexpr int key_dim = quads ? core::whole_quads(Dims::head_dim) : Dims::head_dim;

 public:
  using RingType = Ring;
  static constexpr bool needs_no_options = true, cached = true;

  constexpr IntegerRows() : keys_{}, values_{} {}

  bool store(int position, int count, const ArrayRows<Shape>& tokens) {
    for (int i = 0; i < count; ++i) {
      const int chunk = (position + i) / integer_chunk, within = (position + i) % integer_chunk;
      if constexpr (Ring::ring_groups > 0) {
        if (chunk < Ring::sink_groups) store_token(chunk * integer_chunk + within, i, tokens);
        store_token((Ring::sink_groups + chunk % Ring::ring_groups) * integer_chunk + within, i, tokens);
      } else {
        store_token(position + i, i, tokens);
      }
    }
    return true;
  }

  core::Tensor<const int8_t> keys() const { return {keys_, key_dim, ptrdiff_t(room) * key_dim}; }
  core::Tensor<const int8_t> values() const { return {values_, Dims::value_dim, ptrdiff_t(room) * Dims::value_dim}; }

 private:
  void store_token(int place, int token, const ArrayRows<Shape>& tokens) {
    const ArrayRows<Shape> one = tokens.from(token);
    core::store_token({keys_, values_, Dims::kv_heads, Dims::head_dim, Dims::value_dim, room}, place, one.keys(), one.values());
  }

  alignas(config::alignment) int8_t keys_[size_t(Dims::kv_heads) * size_t(room) * size_t(key_dim)];
  alignas(config::alignment) int8_t values_[size_t(Dims::kv_heads) * size_t(room) * size_t(Dims::value_dim)];
};

template <class Shape, class KeyFormat, class ValueFormat, int capacity, class Ring>
struct RowsOf<Shape, KeyFormat, ValueFormat, capacity, Ring, integer> {
  static_assert(Same<KeyFormat, int8_t>::value && Same<ValueFormat, int8_t>::value,
                "attend: a cache of an integer shape keeps its 8-bit numbers as they are: leave the formats out");
  using Type = IntegerRows<Shape, capacity, Ring>;
};

}  // namespace attend::detail
