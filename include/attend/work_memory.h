// Where a pipeline keeps what in its work memory. The same structs tell the pipelines their pointers and the headers how much
// memory a shape needs, so that the two cannot differ.
#pragma once

#include <stddef.h>

#include "config.h"

namespace attend {
namespace core {

// What the size of work memory depends on.
struct WorkExtents {
  int rows;  // query rows of a block
  int keys;  // keys of a block
  int head_dim;
  int value_dim;
  bool copies;  // keys and values may be copied
  bool totals;  // keys may be more than a segment
};

// The host pipeline's, for a block of query rows: offsets in floats from the beginning, and the end.
struct HostWorkMemory {
  ptrdiff_t panels;        // [keys / 16][head_dim][16] packed keys; first: its vectors stay aligned
  ptrdiff_t values;        // [keys][value_dim] gathered values
  ptrdiff_t group;         // [16][head_dim] keys of other formats, as rows of floats, before they are packed
  ptrdiff_t query_rows;    // [rows] what each row is
  ptrdiff_t scores;        // [rows of a tile][score_keys], or [keys] where there is one row: scores, then weights
  ptrdiff_t key_scales;    // [keys]
  ptrdiff_t value_scales;  // [keys]
  ptrdiff_t lane_sums;     // [rows][16] denominators
  ptrdiff_t query;         // [rows][head_dim] scaled queries
  ptrdiff_t sums;          // [rows][value_dim] of the current segment
  ptrdiff_t chain;         // [rows][value_dim] of the current chain, where it goes key by key
  ptrdiff_t total;         // [rows][value_dim] of the segments before; plain calls keep them in the output
  ptrdiff_t softmax;       // [rows] running maxima
  ptrdiff_t total_max;     // [rows] what `total` is relative to
  ptrdiff_t total_sum;     // [rows] its denominators
  ptrdiff_t end;

  static constexpr int query_row_floats = 10;

  // (Inlined always: a copy with the instructions of one backend must not be what the linker keeps for others.)
  [[gnu::always_inline]] constexpr HostWorkMemory(const WorkExtents& e, bool features)
      : panels(0),
        values(after(panels, e.head_dim, e.copies ? e.keys : 0)),
        group(after(values, e.value_dim, e.copies ? e.keys : 0)),
        query_rows(after(group, e.head_dim, features ? panel_keys : 0)),  // here its pointers are aligned
        scores(after(query_rows, query_row_floats, features ? e.rows : 0)),
        key_scales(
            after(scores, e.rows == 1 ? e.keys : config::score_keys, e.rows < config::tile_rows ? e.rows : config::tile_rows)),
        value_scales(after(key_scales, 1, features ? e.keys : 0)),
        lane_sums(after(value_scales, 1, features ? e.keys : 0)),
        query(after(lane_sums, panel_keys, e.rows)),
        sums(after(query, e.head_dim, e.rows)),
        chain(after(sums, e.value_dim, e.rows)),
        total(after(chain, e.value_dim, features ? e.rows : 0)),
        softmax(after(total, e.value_dim, features ? e.rows : 0)),
        total_max(after(softmax, config::row_state, e.rows)),
        total_sum(after(total_max, 1, e.totals ? e.rows : 0)),
        end(after(total_sum, 1, e.totals ? e.rows : 0)) {}

 private:
  [[gnu::always_inline]] static constexpr ptrdiff_t after(ptrdiff_t first, int floats, int count) {
    return first + ptrdiff_t(floats) * count;
  }
};

}  // namespace core
}  // namespace attend
