// Decode over keys and values of other formats: score_tile.h and value_tile.h for a few rows that see the same keys, with
// numbers that are widened in registers. For hosts. The bits are those of widening first.
//
// Numbers of one or two bytes come from memory faster than processors ask for them by themselves: they look ahead as far as
// their window of instructions reaches, which is half or a quarter as many bytes as with floats, and not across pages. So
// lines are asked for twice, in the order in which they lie: far ahead into the second-level cache, and nearer into the first.
// Either alone is slower: the first level has too few lines under way to wait for memory, and what waits in the second makes
// the window look ahead less.
#pragma once

#include <stddef.h>

#include "../../include/attend/config.h"
#include "../numerics/float_rules.h"
#include "../numerics/formats.h"
#include "pack.h"
#include "value_tile.h"

namespace attend {
namespace {

constexpr int cache_line = 64;
constexpr int far_behind_tile = 16384, near_behind_tile = 1024;  // bytes of keys, from the end of a tile on
constexpr int far_values = 16384, near_values = 4096;            // bytes of values

// Of a tile: rows of sums fit into 16 registers, and one row has 8 sums under way.
template <class Isa>
constexpr int typed_value_vecs(int rows) {
  return rows == 1 ? 8 : rows == 2 ? 4 : 2;
}

// No more than 64 keys: with more panels at a time, lines are asked for too far ahead of their use.
template <class Isa>
constexpr int typed_score_vecs(int rows) {
  return at_most(64 / Isa::lanes, typed_value_vecs<Isa>(rows));
}

// The scores of score_tile for `rows` rows and `vecs` vectors of keys.
template <class Isa, class Number, int rows, int vecs>
ATTEND_NOINLINE void typed_score_tile(const float* query, const Number* keys, int head_dim, const float* scales,
                                      float* scores) {
  using Vec = typename Isa::Vec;
  constexpr int panel_count = (vecs * Isa::lanes + panel_keys - 1) / panel_keys, step = vecs * Isa::lanes;
  constexpr int step_bytes = step * int(sizeof(Number));
  const Number* panels[panel_count];
  ATTEND_UNROLL
  for (int i = 0; i < panel_count; ++i) panels[i] = keys + i * ptrdiff_t(panel_keys) * head_dim;
  const Number* near = keys + ptrdiff_t(step) * head_dim + near_behind_tile / int(sizeof(Number));
  for (int first = 0; first < head_dim; first += chain_dims) {
    Vec sums[rows][vecs];
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) sums[r][v] = Isa::zero();
    }
    const auto one = [&](int d) {
      if (d * step_bytes % cache_line == 0) {
        prefetch_lines<step_bytes>(near + d * step,
                                   near + (far_behind_tile - near_behind_tile) / int(sizeof(Number)) + d * step);
      }
      typename Isa::Factor q[rows];
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) q[r] = Isa::factor(query[r * ptrdiff_t(head_dim) + d]);
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        const Vec key = Isa::load(panels[v * Isa::lanes / panel_keys] + d * panel_keys + v * Isa::lanes % panel_keys);
        ATTEND_UNROLL
        for (int r = 0; r < rows; ++r) sums[r][v] = Isa::fma(q[r], key, sums[r][v]);
      }
    };
    const auto go_on = [&](int dims) {
      ATTEND_UNROLL
      for (int i = 0; i < panel_count; ++i) panels[i] = opaque(panels[i] + dims * panel_keys);
      query += dims;
      near = opaque(near + dims * step);
    };
    int left = at_most(head_dim - first, chain_dims);
    for (; left >= 4; left -= 4) {
      ATTEND_UNROLL
      for (int d = 0; d < 4; ++d) one(d);
      go_on(4);
    }
    for (; left > 0; --left) {
      one(0);
      go_on(1);
    }
    const bool is_scaled = scales != nullptr && first + chain_dims >= head_dim;
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        float* const to = scores + r * config::score_keys + v * Isa::lanes;
        Vec sum = first == 0 ? sums[r][v] : Isa::add(Isa::load(to), sums[r][v]);
        if (is_scaled) sum = Isa::mul(sum, Isa::load(scales + v * Isa::lanes));
        Isa::store(to, sum);
      }
    }
  }
}

// Scores of `rows` rows, [rows][head_dim], against the panels of key_count keys, [panel][head_dim][16]; writes whole panels.
//   scales  of the same panels' keys, or null
//   scores  [rows][score_keys], or as many as there are for one row
template <class Isa, class Number, int rows = 1, int vecs = typed_score_vecs<Isa>(rows)>
void typed_scores(const float* query, const Number* panels, int head_dim, int key_count, const float* scales, float* scores) {
  constexpr int wide = vecs * Isa::lanes;
  static_assert(wide % panel_keys == 0 || panel_keys % wide == 0, "a tile is whole panels, or panels are whole tiles");
  const int padded = whole_panels(key_count);
  int key = 0;
  for (; padded - key >= wide; key += wide) {
    const Number* keys = panels + ptrdiff_t(key & -panel_keys) * head_dim + key % panel_keys;
    typed_score_tile<Isa, Number, rows, vecs>(query, keys, head_dim, scales == nullptr ? nullptr : scales + key, scores + key);
  }
  if constexpr (wide > panel_keys) {
    if (key < padded) {
      typed_scores<Isa, Number, rows, vecs / 2>(query, panels + ptrdiff_t(key) * head_dim, head_dim, padded - key,
                                                scales == nullptr ? nullptr : scales + key, scores + key);
    }
  }
}

// The first `count` numbers of a vector: nothing behind them is read.
template <class Isa, class Number>
ATTEND_ALWAYS_INLINE typename Isa::Vec load_partial(const Number* from, int count) {
  float wide[Isa::lanes] = {};
  for (int i = 0; i < count; ++i) wide[i] = widen(from[i]);
  return Isa::load(wide);
}

// Chains, sums[r] += sum over k of weights[r][k] * values[k], k ascending, for `vecs` vectors of columns: one of the first
// `first` keys, then one of each chain_keys. With `partial` the one vector has only its first `columns` lanes.
template <class Isa, class Number, int rows, int vecs, bool partial>
ATTEND_NOINLINE void typed_value_tile(const float* weights, const Number* value, ptrdiff_t stride, int keys, int first,
                                      Sums sums, int column) {
  using Vec = typename Isa::Vec;
  static_assert(!partial || vecs == 1, "only one vector can be partial");
  const int columns = sums.value_dim - column;
  const int row_bytes = sums.value_dim * int(sizeof(Number));
  const ptrdiff_t near = near_values / row_bytes * stride, far = far_values / row_bytes * stride;
  value += column;
  for (int in_chain = at_most(keys, first); keys > 0; keys -= in_chain, in_chain = at_most(keys, chain_keys)) {
    Vec chain[rows][vecs];
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) chain[r][v] = Isa::zero();
    }
    const auto step = [&](int k) {
      prefetch_lines<vecs * Isa::lanes* int(sizeof(Number))>(value + near, value + far);
      typename Isa::Factor w[rows];
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) w[r] = Isa::factor(weights[r * config::score_keys + k]);
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        Vec row;
        if constexpr (partial) {
          row = load_partial<Isa>(value, columns);
        } else {
          row = Isa::load(value + v * Isa::lanes);
        }
        ATTEND_UNROLL
        for (int r = 0; r < rows; ++r) chain[r][v] = Isa::fma(w[r], row, chain[r][v]);
      }
      value = opaque(value + stride);
    };
    int k = 0;
    for (; k + 4 <= in_chain; k += 4, weights += 4) {
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) step(i);
    }
    for (; k < in_chain; ++k, ++weights) step(0);
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        float* const to = sums.data + ptrdiff_t(r) * sums.value_dim + column + v * Isa::lanes;
        const Vec before = !sums.begun ? Isa::zero() : partial ? Isa::load_first(to, columns) : Isa::load(to);
        const Vec sum = Isa::add(before, chain[r][v]);
        if (partial) {
          Isa::store_first(to, sum, columns);
        } else {
          Isa::store(to, sum);
        }
      }
    }
    sums.begun = true;
  }
}

// The same for all columns: wide tiles, then narrower ones, then what is left of a vector.
//   weights  [rows][score_keys], or as many as there are for one row
//   values   `stride` numbers apart
template <class Isa, class Number, int rows = 1, int vecs = typed_value_vecs<Isa>(rows)>
void typed_values(const float* weights, const Number* values, ptrdiff_t stride, int keys, int first, Sums sums,
                  int column = 0) {
  for (; sums.value_dim - column >= vecs * Isa::lanes; column += vecs * Isa::lanes) {
    typed_value_tile<Isa, Number, rows, vecs, false>(weights, values, stride, keys, first, sums, column);
  }
  if constexpr (vecs > 1) {
    if (column < sums.value_dim) typed_values<Isa, Number, rows, vecs / 2>(weights, values, stride, keys, first, sums, column);
  } else {
    if (column < sums.value_dim) {
      typed_value_tile<Isa, Number, rows, 1, true>(weights, values, stride, keys, first, sums, column);
    }
  }
}

// Formats and numbers of rows for which there are such tiles.
constexpr int typed_rows = 4;

// Calls with a pointer to numbers of the format, which is not that of floats.
template <class Call>
ATTEND_ALWAYS_INLINE void with_numbers(core::Format format, const void* numbers, Call call) {
  if (format == core::Format::float16) {
    call(static_cast<const Half*>(numbers));
  } else if (format == core::Format::bfloat16) {
    call(static_cast<const Bfloat*>(numbers));
  } else {
    call(static_cast<const int8_t*>(numbers));
  }
}

}  // namespace
}  // namespace attend
