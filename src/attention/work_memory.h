// The work memory of a block of rows with options (option_block.h), and that core::option_scratch_floats counts all of it.
#pragma once

#include "../kernel/pack.h"
#include "score_mod.h"

namespace attend {
namespace {

// Where a block's work memory has what, in floats from its beginning.
struct BlockMemory {
  ptrdiff_t panels, values, group, row, scores, key_scales, value_scales, lane_sums, query, sums, chain, total, total_max,
      total_sum, scale, end;

  constexpr BlockMemory(int rows, int keys, int head_dim, int value_dim)
      : panels(0),
        values(after(panels, head_dim, keys)),
        group(after(values, value_dim, keys)),
        row(after(group, head_dim, panel_keys)),  // here its pointers are aligned
        scores(after(row, int(sizeof(OptionRow) / sizeof(float)), rows)),
        key_scales(after(scores, rows == 1 ? keys : config::score_keys, at_most(rows, config::tile_rows))),
        value_scales(after(key_scales, keys, 1)),
        lane_sums(after(value_scales, keys, 1)),
        query(after(lane_sums, panel_keys, rows)),
        sums(after(query, head_dim, rows)),
        chain(after(sums, value_dim, rows)),
        total(after(chain, value_dim, rows)),
        total_max(after(total, value_dim, rows)),
        total_sum(after(total_max, 1, rows)),
        scale(after(total_sum, 1, rows)),
        end(after(scale, config::row_state, rows)) {}

  static constexpr ptrdiff_t after(ptrdiff_t first, int floats, int count) { return first + ptrdiff_t(floats) * count; }
};

constexpr bool fits_block_memory() {
  constexpr int dims[] = {1, 7, 64, 576}, row_blocks[] = {1, 5, config::tile_rows + 1, config::row_block};
  for (const int head_dim : dims) {
    for (const int value_dim : dims) {
      for (const int rows : row_blocks) {
        for (int keys = chain_keys; keys <= config::decode_keys; keys += chain_keys) {
          const size_t promised = core::option_scratch_floats(rows, keys, head_dim, value_dim);
          if (size_t(BlockMemory(rows, keys, head_dim, value_dim).end) > promised) return false;
        }
      }
    }
  }
  return true;
}
static_assert(config::embedded || fits_block_memory(), "attend: core::option_scratch_floats must count what a block takes");

}  // namespace
}  // namespace attend
