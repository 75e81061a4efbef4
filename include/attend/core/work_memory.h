// The layout of work memory: where each array lies, in floats from the beginning, and where the last one ends. The functions
// that compute how much a call needs (core::scratch_floats, core::option_scratch_floats) and its users read it here.
//
// Always inlined: at -O0 they would be functions that backends with other instructions share.
#pragma once

#include <stddef.h>

#include "segments.h"

namespace attend::core {

[[gnu::always_inline]] constexpr size_t larger_of(size_t a, size_t b) { return a > b ? a : b; }

// The numbers at the beginning of a state: of its nodes, its owner's, and in floats its running maximum.
inline constexpr int state_owner = 1, state_max = 2, state_head = 3;

// Whether embedded processors scale queries in advance. Over a cache and with one row they do it whenever they read one: that
// takes no memory, and no time to speak of unless floats are computed by software. Other compilers than GCC and Clang are told
// of that by a macro, and work memory is the same where a program has forgotten it.
[[gnu::always_inline]] constexpr bool scaled_in_advance(int row_block, bool key_panels) {
  return row_block > 1 || !key_panels || ATTEND_SOFT_FLOAT || !ATTEND_GNU;
}

// Embedded processors (attention/embedded.h), a call without options:
//   scores   [rows][chain_keys]
//   sums     [rows]: 16 partial sums of the denominator, and the maximum
//   queries  [rows][head_dim], scaled, if they are scaled in advance
//   nodes    [levels][rows], where there are many segments: denominator and maximum of a node (segments.h),
//            then [value_dim] sums of the next node or of the open segment. The first node's sums are in the output
struct EmbeddedMemory {
  static constexpr int row_sums = panel_keys + 1;
  int rows;
  bool scaled;

  // Where each of these begins, in floats from the one before it.
  [[gnu::always_inline]] constexpr int sums() const { return rows * chain_keys; }
  [[gnu::always_inline]] constexpr int queries() const { return rows * row_sums; }
  [[gnu::always_inline]] constexpr ptrdiff_t nodes(int head_dim) const { return ptrdiff_t(rows) * (scaled ? head_dim : 0); }
  [[gnu::always_inline]] static constexpr ptrdiff_t node(int value_dim) { return ptrdiff_t(value_dim) + 2; }

  [[gnu::always_inline]] constexpr ptrdiff_t end(int head_dim, int value_dim, int levels) const {
    return sums() + queries() + nodes(head_dim) + rows * levels * node(value_dim);
  }
};

// The same with options, for a block of so many rows:
//   rows     [rows] the notes of each row
//   states   [rows] states without their chains and nodes, [state_floats]. Not used with states, which have their own
//   chain    [value_dim] the sums of an open chain
//   scores   [rows][chain_keys]
//   queries  [rows][head_dim]
//   numbers  a panel of keys, or some columns of a chain's values, widened or brought together: as many columns as the panel
//            has room for, at least 4, and 16 where it is done for many rows
//   nodes    [levels][rows][value_dim + 2] sums of nodes of finished segments (segments.h), their denominator and maximum
struct EmbeddedOptionMemory {
  static constexpr int most_rows = 16;
  static constexpr int row_floats = sizeof(void*) == 8 ? 18 : 13;
  ptrdiff_t states, chain, scores, queries, numbers, nodes;

  [[gnu::always_inline]] constexpr EmbeddedOptionMemory(int row_block, int head_dim, int value_dim)
      : states(ptrdiff_t(detail::smaller(row_block, most_rows)) * row_floats),
        chain(states + detail::smaller(row_block, most_rows) * state_floats(value_dim)),
        scores(chain + value_dim),
        queries(scores + ptrdiff_t(detail::smaller(row_block, most_rows)) * chain_keys),
        numbers(queries + detail::smaller(row_block, most_rows) * ptrdiff_t(head_dim)),
        nodes(numbers + most_numbers(row_block, head_dim)) {}

  [[gnu::always_inline]] constexpr ptrdiff_t end(int row_block, int value_dim, int levels) const {
    return nodes + detail::smaller(row_block, most_rows) * (ptrdiff_t(value_dim) + 2) * levels;
  }

  [[gnu::always_inline]] static constexpr ptrdiff_t state_floats(int value_dim) {
    return state_head + panel_keys + ptrdiff_t(value_dim);
  }
  [[gnu::always_inline]] static constexpr ptrdiff_t most_numbers(int row_block, int head_dim) {
    return panel_keys * ptrdiff_t(detail::larger(head_dim, (row_block < 8 ? 4 : 16) * chain_keys / panel_keys));
  }
};

// The extents that the size of work memory depends on.
struct WorkExtents {
  int rows;  // query rows of a block
  int keys;  // keys of a block
  int head_dim;
  int value_dim;
  bool copies;  // keys and values may be copied
};

// The host pipeline's, for a block of query rows: offsets in floats from the beginning, and the end.
struct HostWorkMemory {
  ptrdiff_t panels;        // [keys / 16][head_dim][16] keys packed or widened to floats, or scores (attention/key_rows.h);
                           // first: its vectors stay aligned
  ptrdiff_t values;        // [keys][value_dim] values gathered or widened to floats
  ptrdiff_t panel_rows;    // [16][head_dim] keys of other formats, as rows of floats, before they are packed
  ptrdiff_t query_rows;    // [rows] what each row is
  ptrdiff_t scores;        // [rows of a tile][score_keys], or [keys] where there is one row: scores, then weights
  ptrdiff_t key_scales;    // [keys]
  ptrdiff_t value_scales;  // [keys]
  ptrdiff_t lane_sums;     // [rows][16] denominators
  ptrdiff_t query;         // [rows][head_dim] scaled queries
  ptrdiff_t sums;          // [rows][value_dim] of the current segment
  ptrdiff_t chain;         // [rows][value_dim] of the current chain, where it goes key by key
  ptrdiff_t maxima;        // [rows] running maxima, RowMaximum of kernel/tile_sizes.h
  ptrdiff_t nodes;  // [levels][rows][value_dim + 2] sums of nodes of finished segments (segments.h), their denominator and
                    // maximum

  static constexpr int query_row_floats = 10;

  // (Inlined always: a copy with the instructions of one backend must not be what the linker keeps for others.)
  [[gnu::always_inline]] constexpr HostWorkMemory(const WorkExtents& e, bool features)
      : panels(0),
        values(after(panels, e.head_dim, e.copies ? e.keys : 0)),
        panel_rows(after(values, e.value_dim, e.copies ? e.keys : 0)),
        query_rows(after(panel_rows, e.head_dim, features ? panel_keys : 0)),  // here its pointers are aligned
        scores(after(query_rows, query_row_floats, features ? e.rows : 0)),
        key_scales(
            after(scores, e.rows == 1 ? e.keys : config::score_keys, e.rows < config::tile_rows ? e.rows : config::tile_rows)),
        value_scales(after(key_scales, 1, features ? e.keys : 0)),
        lane_sums(after(value_scales, 1, features ? e.keys : 0)),
        query(after(lane_sums, panel_keys, e.rows)),
        sums(after(query, e.head_dim, e.rows)),
        chain(after(sums, e.value_dim, e.rows)),
        maxima(after(chain, e.value_dim, features ? e.rows : 0)),
        nodes(after(maxima, config::row_maximum, e.rows)) {}

  [[gnu::always_inline]] constexpr ptrdiff_t end(const WorkExtents& e, int levels) const {
    return nodes + ptrdiff_t(levels) * e.rows * (ptrdiff_t(e.value_dim) + 2);
  }

 private:
  [[gnu::always_inline]] static constexpr ptrdiff_t after(ptrdiff_t first, int floats, int count) {
    return first + ptrdiff_t(floats) * count;
  }
};

}  // namespace attend::core
