// Scores of a block of keys that stay in rows, for all query rows at once: a vector's lanes are queries, which are packed as
// panels once, and the factors are keys. Each score is the same sum in the same order.
//
// Heads so wide that few rows read each key take most time to pack keys otherwise: of 576 dimensions and 128 heads, latents.
#ifndef ATTEND_ATTENTION_SCORES_BY_KEYS_H
#define ATTEND_ATTENTION_SCORES_BY_KEYS_H

#include "../kernel/tiles.h"
#include "rows.h"

namespace attend::ATTEND_ISA {
namespace {

// Whether some rows are whole panels, and there is room for their scores where keys would be packed.
inline bool packs_queries(const core::Problem& problem, int rows) {
  return !problem.key_panels && problem.key.token_stride == problem.head_dim && rows % panel_keys == 0 && rows >= 2 * panel_keys &&
         rows <= config::score_keys && rows + config::score_keys <= problem.head_dim && problem.key_block <= config::score_keys;
}

// Packs the last panel of rows that are scaled.
template <class Isa>
void pack_queries(const float* rows, int head_dim, float* panel) {
  pack_panel<Isa, panel_keys>(rows, head_dim, panel_keys, head_dim, panel);
}

// scores[key / 16][row][key % 16] of keys from ... to - 1, where `from` is a whole number of panels; work: [keys][score_keys].
template <class Isa>
ATTEND_NOINLINE void score_by_keys(const float* queries, int rows, const float* keys, int head_dim, int from, int to, float* scores,
                                   float* work) {
  const Panels panels = {queries, core::Format::float32, nullptr, head_dim, panel_keys};
  for (int k = from, count; k < to; k += count) {
    count = at_most(to - k, Isa::tile_rows);
    Tiles<Isa>::score(count, keys + k * ptrdiff_t(head_dim), panels, 0, rows, work + (k - from) * config::score_keys);
  }
  for (int k = from; k < to; k += panel_keys) {
    pack_panel<Isa, panel_keys>(work + (k - from) * config::score_keys, config::score_keys, at_most(to - k, panel_keys), rows,
                                scores + k * ptrdiff_t(rows));
  }
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
