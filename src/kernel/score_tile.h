// Scores of a few query rows against panels of keys, in any number format.
#ifndef ATTEND_KERNEL_SCORE_TILE_H
#define ATTEND_KERNEL_SCORE_TILE_H

#include <stddef.h>

#include "../../include/attend/core/config.h"
#include "../numerics/float_rules.h"
#include "../numerics/formats.h"
#include "multiply_add.h"
#include "pack.h"
#include "tile_sizes.h"

namespace attend::ATTEND_ISA {
namespace {

// Numbers of one or two bytes arrive faster than the hardware prefetches them: its window of instructions covers half or a
// quarter as many bytes as with floats, and no page boundary. So lines are prefetched twice, in the order in which they lie:
// far ahead into the second-level cache, and nearer into the first. Either alone is slower: the first level has too few lines
// under way to wait for memory, and what waits in the second makes the window look ahead less.
constexpr int far_behind_tile = 16384, near_behind_tile = 1024;  // bytes of keys, from the end of a tile on

// Where a score tile reads.
template <class Number, int three_count, int panel_count>
struct ScoreInputs {
  const float*
      query[three_count];  // rows in threes, query_stride apart: x86 and Arm address three by one register and the distance
  const Number* panels[panel_count];  // from any lane on, where there is less than a panel's worth of them
  const Number* near;                 // what is prefetched into the first level, if numbers are widened
};

// One step of a chain: sums[r][v] += query[r][d] * key[d][v].
template <class Isa, class Number, int rows, int vecs, class Inputs>
ATTEND_ALWAYS_INLINE void score_step(const Inputs& at, ptrdiff_t query_stride, int d, typename Isa::Vec (&sums)[rows][vecs]) {
  const auto key = [&](int v) ATTEND_INLINE_LAMBDA {
    return Isa::load(at.panels[v * Isa::lanes / panel_keys] + d * panel_keys + v * Isa::lanes % panel_keys);
  };
  const auto query = [&](int r) ATTEND_INLINE_LAMBDA { return Isa::factor(at.query[r / 3][r % 3 * query_stride + d]); };
  if constexpr (widens<Number>) {
    constexpr int step = vecs * Isa::lanes, step_bytes = step * int(sizeof(Number));
    if (d * step_bytes % cache_line == 0) {
      const Number* const near = at.near + d * step;
      prefetch_lines<step_bytes>(near, near + (far_behind_tile - near_behind_tile) / int(sizeof(Number)));
    }
  } else if constexpr (prefetches<Isa>(rows)) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; v += panel_keys / Isa::lanes) {
      const float* const line = at.panels[v * Isa::lanes / panel_keys] + d * panel_keys;
      prefetch_lines<panel_keys* int(sizeof(float))>(line + 512, line + 4096);
    }
  }
  multiply_by_factors<Isa, Number>(query, key, sums);
}

// The same for as many steps as a register has factors, or one.
template <class Isa, class Number, int steps, bool begins = false, int rows, int vecs, class Inputs>
ATTEND_ALWAYS_INLINE void score_lane_steps(const Inputs& at, ptrdiff_t query_stride, typename Isa::Vec (&sums)[rows][vecs]) {
  if constexpr (widens<Number>) {
    constexpr int step = vecs * Isa::lanes, bytes = steps * step * int(sizeof(Number));
    if constexpr (steps > 1) {
      prefetch_lines<bytes>(at.near, at.near + (far_behind_tile - near_behind_tile) / int(sizeof(Number)));
    }
  }
  if constexpr (steps == 4 && Isa::has_four_steps(rows, vecs)) {
    constexpr int last_panel = vecs * Isa::lanes / panel_keys - 1;
    Isa::four_steps({at.query[0], at.query[0] + (rows - 1) * query_stride}, {at.panels[0], at.panels[last_panel]}, panel_keys,
                    sums);
  } else {
    multiply_by_lanes<Isa, steps, false, begins>(
        [&](int r) ATTEND_INLINE_LAMBDA { return at.query[r / 3] + r % 3 * query_stride; },
        [&](int d, int v) ATTEND_INLINE_LAMBDA {
          return at.panels[v * Isa::lanes / panel_keys] + d * panel_keys + v * Isa::lanes % panel_keys;
        },
        sums);
  }
}

// The operands of a score tile. Strides count numbers.
template <class Number>
struct ScoreOperands {
  const float* query;
  ptrdiff_t query_stride;  // from row to row
  const Number* keys;
  ptrdiff_t panel_stride;  // from panel to panel
  int dims;
  const float* scales;  // of these keys, or null; only of numbers that are widened
  float* scores;
  ptrdiff_t score_stride;  // from row to row
  bool adds;               // the first chain, too, is added to what is there
};

// The chains of a tile that goes by fours: each begins with a product, unless it has less than four steps, and its end goes
// through the scores row by row.
template <class Isa, int rows, int vecs, class Inputs, class Advance>
ATTEND_ALWAYS_INLINE void score_chains_by_fours(const ScoreOperands<float>& operands, const Inputs& at, Advance advance) {
  for (int first = 0; first < operands.dims; first += chain_dims) {
    typename Isa::Vec sums[rows][vecs];
    int left = at_most(operands.dims - first, chain_dims);
    if (left >= 4) {
      score_lane_steps<Isa, float, 4, true>(at, operands.query_stride, sums);
      advance(4);
      left -= 4;
    } else {
      set_to_zero<Isa>(sums);
    }
    for (; left >= 4; left -= 4) {
      score_lane_steps<Isa, float, 4>(at, operands.query_stride, sums);
      advance(4);
    }
    for (; left > 0; --left) {
      score_lane_steps<Isa, float, 1>(at, operands.query_stride, sums);
      advance(1);
    }
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r)
      end_lane_chain<Isa>(sums[r], operands.scores + r * operands.score_stride, operands.adds || first > 0);
  }
}

// The chains of a tile step by step.
template <class Isa, class Number, int rows, int vecs>
ATTEND_ALWAYS_INLINE void score_chains_by_steps(const ScoreOperands<Number>& operands) {
  using Vec = typename Isa::Vec;
  constexpr int three_count = (rows + 2) / 3, panel_count = (vecs * Isa::lanes + panel_keys - 1) / panel_keys;
  constexpr int step = vecs * Isa::lanes;
  ScoreInputs<Number, three_count, panel_count> at;
  ATTEND_UNROLL
  for (int i = 0; i < three_count; ++i) at.query[i] = operands.query + 3 * i * operands.query_stride;
  ATTEND_UNROLL
  for (int i = 0; i < panel_count; ++i) at.panels[i] = operands.keys + i * operands.panel_stride;
  if constexpr (widens<Number>)
    at.near = operands.keys + ptrdiff_t(step) * operands.dims + near_behind_tile / int(sizeof(Number));
  const auto advance = [&](int steps) ATTEND_INLINE_LAMBDA {
    ATTEND_UNROLL
    for (int i = 0; i < three_count; ++i) at.query[i] = opaque(at.query[i] + steps);
    ATTEND_UNROLL
    for (int i = 0; i < panel_count; ++i) at.panels[i] = opaque(at.panels[i] + steps * panel_keys);
    if constexpr (widens<Number>) at.near = opaque(at.near + steps * step);
  };
  if constexpr (takes_fours<Isa, Number>(vecs)) return score_chains_by_fours<Isa, rows, vecs>(operands, at, advance);
  for (int first = 0; first < operands.dims; first += chain_dims) {
    Vec sums[rows][vecs];
    set_to_zero<Isa>(sums);
    int left = at_most(operands.dims - first, chain_dims);
    if constexpr (Isa::has_four_steps(rows, vecs)) left = opaque(left);
    for (; left >= 4; left -= 4) {
      if constexpr (takes_four_steps<Isa>(rows, vecs)) {
        score_lane_steps<Isa, Number, 4>(at, operands.query_stride, sums);
      } else {
        ATTEND_UNROLL
        for (int d = 0; d < 4; ++d) score_step<Isa, Number, rows, vecs>(at, operands.query_stride, d, sums);
      }
      advance(4);
      if constexpr (Isa::lane_factors == 1) left = opaque(left);  // or GCC computes what is left of it in advance
    }
    for (; left > 0; --left) {
      if constexpr (Isa::lane_factors == 4) {
        score_lane_steps<Isa, Number, 1>(at, operands.query_stride, sums);
      } else {
        score_step<Isa, Number, rows, vecs>(at, operands.query_stride, 0, sums);
      }
      advance(1);
    }
    const bool is_scaled = widens<Number> && operands.scales != nullptr && first + chain_dims >= operands.dims;
    const bool adds = operands.adds || first > 0;
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        float* to = operands.scores + r * operands.score_stride + v * Isa::lanes;
        Vec sum = adds ? Isa::add(Isa::load(to), sums[r][v]) : sums[r][v];
        if (is_scaled) sum = Isa::mul(sum, Isa::load(operands.scales + v * Isa::lanes));
        Isa::store(to, sum);
      }
    }
  }
}

// A chain by a loop of the instruction set's own, and its end.
template <class Isa, bool adds, int rows, int vecs>
ATTEND_ALWAYS_INLINE void score_whole_chain(const float* query, ptrdiff_t query_stride, const float* panel, float* scores,
                                            ptrdiff_t score_stride) {
  typename Isa::Vec sums[rows][vecs];
  Isa::chain(query, query_stride, panel, sums);
  end_chain<Isa, adds>(sums, scores, score_stride);
}

// What is less than a chain, of instruction sets that have a loop of their own for whole ones.
template <class Isa, int rows, int vecs>
ATTEND_NOINLINE void score_last_chain(const ScoreOperands<float>& operands) {
  score_chains_by_steps<Isa, float, rows, vecs>(operands);
}

// scores[r][k] = sum over d of query[r][d] * keys[k / 16][d][k % 16] for `rows` rows and `vecs` vectors of keys: chains of
// chain_dims dimensions, d ascending, added up in ascending order; times scales[k], if there are any.
//
// A chain's sums stay in registers. A vector's lanes are keys, so no sum is ever split over lanes and its order is the same for
// every width.
template <class Isa, class Number, int rows, int vecs>
ATTEND_ALWAYS_INLINE void score_chains(const ScoreOperands<Number>& of) {
  if constexpr (!widens<Number> && Isa::has_chain(rows, vecs)) {
    const float *query = of.query, *panel = of.keys;
    const ptrdiff_t query_stride = of.query_stride, score_stride = of.score_stride;
    float* const scores = of.scores;
    int left = of.dims;
    bool begun = of.adds;
    const auto advance = [&]() ATTEND_INLINE_LAMBDA {
      query += chain_dims;
      panel += chain_dims * panel_keys;
      left -= chain_dims;
    };
    if (!begun && left >= chain_dims) {
      score_whole_chain<Isa, false, rows, vecs>(query, query_stride, panel, scores, score_stride);
      advance();
      begun = true;
    }
    while (left >= chain_dims) {
      score_whole_chain<Isa, true, rows, vecs>(query, query_stride, panel, scores, score_stride);
      advance();
    }
    if (left == 0) return;
    score_last_chain<Isa, rows, vecs>({query, query_stride, panel, 0, left, nullptr, scores, score_stride, begun});
  } else {
    score_chains_by_steps<Isa, Number, rows, vecs>(of);
  }
}

// The same in attention's places:
//   query   [rows][head_dim], scaled
//   keys    panels [head_dim][16]; with less than a panel's worth of lanes, from any lane of one
//   scores  [rows][score_keys]
template <class Isa, class Number, int rows, int vecs>
ATTEND_NOINLINE void score_tile(const float* query, const Number* keys, int head_dim, const float* scales, float* scores) {
  score_chains<Isa, Number, rows, vecs>(
      {query, head_dim, keys, ptrdiff_t(panel_keys) * head_dim, head_dim, scales, scores, config::score_keys, false});
}

// Vectors of keys of the widest tile. Of numbers that are widened no more than 64 keys: with more panels at a time, lines are
// prefetched too far ahead of their use.
template <class Isa, class Number>
constexpr int score_vecs(int rows) {
  return widens<Number> ? at_most(64 / Isa::lanes, Isa::widening_vecs(rows)) : Isa::tile_vecs(rows);
}

// Scores of `rows` rows against panels of key_count keys: wide tiles, then narrower ones. What is less than a tile of other
// formats goes a row at a time, as with values.
template <class Isa, class Number, int rows, int vecs = score_vecs<Isa, Number>(rows)>
void score_rows(const float* query, const Number* panels, int head_dim, const float* scales, int key_count, float* scores) {
  constexpr int wide = vecs * Isa::lanes;
  static_assert(wide % panel_keys == 0 || panel_keys % wide == 0, "a tile is whole panels, or panels are whole tiles");
  const int padded = whole_panels(key_count);
  int key = 0;
  const auto scales_of = [&](int from)
                             ATTEND_INLINE_LAMBDA { return widens<Number> && scales != nullptr ? scales + from : nullptr; };
  for (; padded - key >= wide; key += wide) {
    const int lane = key % panel_keys;  // of a tile that is less than a panel
    score_tile<Isa, Number, rows, vecs>(query, panels + lane, head_dim, scales_of(key), scores + key);
    if (lane + wide >= panel_keys) panels += ptrdiff_t(at_least(wide, panel_keys)) * head_dim;
  }
  if constexpr (wide > panel_keys) {
    if (key == padded) return;
    constexpr bool by_rows = widens<Number> && rows > 1;
    constexpr int less = widens<Number> ? panel_keys / Isa::lanes : vecs / 2;
    for (int r = 0; r < (by_rows ? rows : 1); ++r) {
      score_rows<Isa, Number, by_rows ? 1 : rows, less>(query + r * ptrdiff_t(head_dim), panels, head_dim, scales_of(key),
                                                        padded - key, scores + r * config::score_keys + key);
    }
  }
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
