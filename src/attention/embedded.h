// The algorithm for parts that are short of memory: as in host.h, which is for hosts, with less code and no copies.
//
//   for each block of rows: those of a tile; with options many rows, of a few tiles
//     for each chain of 64 keys that any row sees some of by position:
//       for each piece of keys that lie together:  scores of all rows, a tile at a time
//       for each row:    score modifications, masks -> online softmax -> weights
//       for each tile:   sums += weights * values
//     at the end of a segment: add its sums to those before
//     divide by the denominator
//
// Keys are read as they lie, panels or not. Rows that are left over go one by one, as do rows that see different numbers of a
// chain's keys when it comes to values: a masked value is never touched. Rows that do not see a key between others that they
// see go by runs of keys there. So do rows of a chain that a call with states begins or leaves in its middle, and few rows
// where a ring wraps.
#pragma once

#include "../simd/contract.h"
#include "embedded_keys.h"
#include "embedded_rows.h"
#include "embedded_tiles.h"

namespace attend {
namespace {

template <class Isa, class Features>
class EmbeddedPipeline {
  using Rows = EmbeddedRows<Isa, Features>;
  using Number = NumberOf<Features::format>;
  static constexpr int tile_rows = at_most(Isa::tile_rows, Rows::limit);
  static constexpr bool one_tile = Rows::limit == tile_rows;  // a block is a tile, or a row
  static_assert(has_embedded_operations<Isa>(), "");
  static_assert(panel_keys % Isa::columns(1, false) == 0 && panel_keys % Isa::columns(Isa::tile_rows, false) == 0,
                "tiles do not cross panels");

 public:
  template <class... Options>
  ATTEND_ALWAYS_INLINE explicit EmbeddedPipeline(const core::Problem& problem, const Options&... options)
      : rows_(problem, options...), keys_(problem, options...) {}

  // Divides: the output is what it should be. Otherwise it takes the sums of one segment (combine.h).
  template <bool divides>
  void run() {
    int group = 0;  // query heads that share a key/value head; without a division, which some processors lack
    for (int heads = problem().query_heads; heads > 0; heads -= problem().kv_heads) ++group;
    for (int first_head = 0; first_head < problem().query_heads; first_head += group) {
      int token = 0, head = 0;
      for (int left = group * problem().queries; left > 0; left -= count()) {
        count_ = rows_.take(left);
        for (int r = 0; r < count(); ++r) {
          rows_.begin(r, token, first_head + head);
          if (++head == group) {
            head = 0;
            ++token;
          }
        }
        go_over();
        if (states()) continue;
        for (int r = 0; r < count(); ++r) rows_.template finish<divides>(r);
      }
      keys_.next_head(problem());
    }
  }

 private:
  const core::Problem& problem() const { return rows_.problem(); }
  int count() const { return Rows::limit == 1 ? 1 : count_; }
  bool states() const { return Features::states && rows_.has_states(); }
  bool modifies() const { return use().modifies; }
  bool masks() const { return use().has_masks; }
  ScoreUse use() const {
    if constexpr (Features::score_mods) return rows_.use();
    return {};
  }
  bool shows_all() const { return Features::score_mods && rows_.shows_hidden(); }

  // All keys, for the rows that were begun.
  ATTEND_ALWAYS_INLINE void go_over() {
    int key = 0, end;
    if constexpr (Features::any) {
      key = rows_.row(0).at.visibility.begin & -chain_keys;
      end = shows_all() ? problem().keys : rows_.row(count() - 1).at.visibility.end;
      seen_.all = false;
      open_ = states() ? rows_.options().first_key & -chain_keys : -1;
    } else {
      end = rows_.end(count() - 1);  // never falls from row to row
      open_ = 0;
    }
    rows_.has_total = states();
    while (key < end) {
      if (look_at(key, end)) {
        go_to(key);
        chain(key);
        key += chain_keys;
      } else if constexpr (Features::any) {
        key = at_least(key + chain_keys, rows_.row(0).at.visibility.first & -chain_keys);
      }
    }
    if (states()) {
      go_to(problem().keys);
    } else if (rows_.has_total) {
      end_segments();
    }
  }

  // What rows see of the chain of a key; whether there is anything to do.
  bool look_at(int key, int end) {
    if constexpr (!Features::any) {
      seen_.to = at_most(end - key, chain_keys);
      return true;
    } else {
      const Visibility &earliest = rows_.row(0).at.visibility, &latest = rows_.row(count() - 1).at.visibility;
      if (key < at_least(latest.first, latest.begin) || key + chain_keys > earliest.end) return look_closely(key);
      if (seen_.all) return true;  // as before
      for (int r = 0; r < count(); ++r) rows_.row(r).sees = {0, chain_keys, false};
      seen_ = {0, chain_keys, false, true};
      return true;
    }
  }

  ATTEND_NOINLINE bool look_closely(int key) {
    const int count_here = at_most(problem().keys - key, chain_keys);
    seen_ = {count_here, 0, false, false};
    for (int r = 0; r < count(); ++r) {
      EmbeddedRow& row = rows_.row(r);
      row.sees = range_in_chain(row.at.visibility, key, count_here);
      if (row.sees.from >= row.sees.to) continue;
      seen_.from = at_most(seen_.from, row.sees.from);
      seen_.to = at_least(seen_.to, row.sees.to);
      seen_.gap = seen_.gap || row.sees.gap;
    }
    if (shows_all()) {
      seen_.from = at_least(rows_.row(0).at.visibility.begin - key, 0);
      seen_.to = count_here;
    }
    return seen_.from < seen_.to;
  }

  // Whether a call with states begins or leaves a chain in its middle.
  bool is_cut(int key) const {
    if constexpr (Features::states) return states() && (key < rows_.options().first_key || key + chain_keys > problem().keys);
    return false;
  }

  // Closes the chain and the segment that end before the chain of a key, if they do.
  void go_to(int key) {
    if (!Features::any || open_ >= 0) {
      if constexpr (Features::states) {
        if (is_cut(open_) && (key & -chain_keys) != open_) {
          for (int r = 0; r < count(); ++r) rows_.state(r).template end_chain<Isa>();
        }
      }
      if (((key ^ open_) & -segment_keys) != 0) end_segments();
    }
    open_ = key & -chain_keys;
  }

  ATTEND_NOINLINE void end_segments() {
    for (int r = 0; r < count(); ++r) rows_.end_segment(r, open_);
    rows_.has_total = true;
  }

  // One chain of keys for all rows.
  ATTEND_HOT ATTEND_NOINLINE void chain(int key) {
    const int start = seen_.from & -panel_keys;
    const EmbeddedPiece piece = keys_.piece(key + start, seen_.to - start);
    const bool whole = !Features::sources || piece.count == seen_.to - start, masked = masks() || seen_.gap, cut = is_cut(key);
    const int first = piece.place - start;
    if constexpr (Features::any) {
      whole && !masked ? score_piece(first, seen_.from, seen_.to) : score_groups(key);
    } else {
      score_piece(first, 0, seen_.to);
    }
    for (int r = 0; r < count(); ++r) {
      if constexpr (Features::score_mods) {
        if (modifies()) modify(r, key);
      }
      weigh(r, key, cut);
    }
    if constexpr (Features::any) {
      if (masked || cut || (!whole && count() <= tile_rows)) {
        for (int r = 0; r < count(); ++r) add_runs(r, key, cut);
        return;
      }
      if (!whole || !reads_in_place(keys_.value_format())) return add_widened(key);
      scale_rows(keys_.value_scales(), first, seen_.from, seen_.to);
    }
    value_tiles(key, keys_.template values<Number>(), first, problem().value.token_stride, 0, problem().value_dim);
  }

  // Numbers of other formats are widened in registers where each of them is read once. Calls with all options do without these
  // loops, of which each format has its own.
  bool reads_in_place(core::Format format) const {
    return format == core::Format::float32 || (format == Features::format && count() <= tile_rows);
  }

  // Scores of the chain's keys group by group, those that any row sees.
  ATTEND_NOINLINE void score_groups(int key) {
    const bool by_groups = !shows_all() && (masks() || seen_.gap);
    for (int k = seen_.from & -panel_keys; k < seen_.to;) {
      const int keys = by_groups ? at_most(seen_.to - k, panel_keys) : seen_.to - k;
      if (by_groups && !is_needed(key + k, keys)) {
        for (int r = 0; r < count(); ++r) fill_row<Isa>(-__builtin_inff(), panel_keys, rows_.scores(r) + k);
        k += panel_keys;
        continue;
      }
      const EmbeddedPiece piece = keys_.piece(key + k, keys);
      score_piece(piece.place - k, at_least(k, seen_.from), k + piece.count);
      k += piece.count;
    }
  }

  // Whether any row sees any of a group's keys.
  bool is_needed(int key, int keys) const {
    for (int r = 0; r < count(); ++r) {
      const QueryRow& at = rows_.row(r).at;
      if (!at.visibility.has_any(key, key + keys)) continue;
      if (!masks() || lets_any_through(rows_.options(), at.visible, at.bias, key, keys)) return true;
    }
    return false;
  }

  // Scores of the chain's keys begin ... end - 1, which lie together: of a chain that began there, key 0 would be at `first`.
  void score_piece(int first, int begin, int end) {
    if constexpr (!Features::any) {
      score_tiles(keys_.template keys<float>(), first, begin, end, problem().key.token_stride);
    } else {
      if (!Features::arrays || problem().key_panels) begin &= -panel_keys;
      if (reads_in_place(keys_.key_format())) {
        score_tiles(keys_.template keys<Number>(), first, begin, end, problem().key.token_stride);
      } else {
        score_widened(first, begin, end);
      }
      scale_rows(keys_.key_scales(), first, begin, end);
    }
  }

  // Multiplies scores or weights of all rows by the scales of the keys or values that these are of, if they have any.
  void scale_rows(const float* scales, int first, int begin, int end) {
    if (scales == nullptr) return;
    for (int r = 0; r < count(); ++r) Isa::multiply_rows(rows_.scores(r) + begin, scales + (first + begin), end - begin);
  }

  ATTEND_NOINLINE void score_widened(int first, int begin, int end) {
    for (int k = begin & -panel_keys; k < end; k += panel_keys) {
      const int from = at_least(begin, k), to = at_most(end, k + panel_keys);
      keys_.widen_group(first + from, to - from, rows_.numbers());
      score_tiles<float>(rows_.numbers(), -from, from, to, problem().head_dim);
    }
  }

  template <class Numbers>
  void score_tiles(const Numbers* keys, int first, int begin, int end, ptrdiff_t stride) {
    const bool panels = !Features::arrays || problem().key_panels;
    float* to[tile_rows];
    ChainsOf<Numbers> chains;
    chains.to = to;
    chains.a_stride = problem().head_dim;
    chains.a_scale = rows_.query_factor();
    chains.b_step = panels ? panel_keys : 1;
    chains.b_stride = panels ? 1 : stride;
    for (int r = 0;;) {
      chains.rows = one_tile ? count() : count() - r < tile_rows ? 1 : tile_rows;
      for (int i = 0; i < chains.rows; ++i) to[i] = rows_.scores(r + i);
      chains.column = begin;
      score_tile<Isa, Features::arrays>(chains, problem(), rows_.query(r), keys, first, end);
      r += chains.rows;
      if (one_tile || r >= count()) break;
    }
  }

  ATTEND_NOINLINE void modify(int r, int key) {
    const EmbeddedRow& row = rows_.row(r);
    const int from = shows_all() ? seen_.from : row.sees.from, to = shows_all() ? seen_.to : row.sees.to;
    if (from < to) rows_.score_mod().apply(rows_.scores(r), &row.at, 1, {key, from & -panel_keys, to}, nullptr, true);
  }

  // Scores of a row to weights. A chain that is cut has sums too, before those of the segment.
  ATTEND_NOINLINE void weigh(int r, int key, bool cut) {
    const ChainRange& sees = rows_.sees(r, key);
    if (sees.from >= sees.to) return;
    const int from = sees.from & -panel_keys;
    float* const scores = rows_.scores(r) + from;
    float* sums = *rows_.sums(r);
    int width = problem().value_dim;
    if constexpr (Features::any) {
      if (!modifies()) {
        for (int k = 0; k < sees.from - from; ++k) scores[k] = -__builtin_inff();
        if (sees.gap) {
          const Visibility& visibility = rows_.row(r).at.visibility;
          for (int k = visibility.pinned - key; k < visibility.first - key; ++k) scores[k - from] = -__builtin_inff();
        }
      }
      if (cut) {
        sums = rows_.state(r).chain();
        width *= 2;
      }
    }
    online_softmax_row<Isa>(scores, sees.to - from, rows_.max(r), rows_.lane_sums(r), sums, width);
  }

  // The chain's values as floats in work memory, some columns at a time.
  ATTEND_NOINLINE void add_widened(int key) {
    keys_.for_each_piece(key, seen_.from, seen_.to,
                         [&](int first, int begin, int end) { scale_rows(keys_.value_scales(), first, begin, end); });
    const int most = int(core::EmbeddedOptionMemory::most_numbers(problem().row_block, problem().head_dim) / chain_keys);
    for (int column = 0; column < problem().value_dim; column += most) {
      const int columns = at_most(problem().value_dim - column, most);
      keys_.for_each_piece(key, seen_.from, seen_.to, [&](int first, int begin, int end) {
        keys_.widen_values(first + begin, end - begin, column, columns, rows_.numbers() + begin * columns);
      });
      value_tiles<float>(key, rows_.numbers(), 0, columns, column, columns);
    }
  }

  // sums[column ...] += weights * values of `columns` columns: the chain's keys are values `first` + k, so far apart.
  template <class Numbers>
  void value_tiles(int key, const Numbers* values, int first, ptrdiff_t step, int column, int columns) {
    ChainsOf<Numbers> chains;
    chains.a_stride = chain_keys;
    chains.a_scale = 1.0f;
    chains.b_step = step;
    chains.b_stride = 1;
    chains.adds = rows_.adds(key);
    for (int r = 0; r < count(); r += chains.rows) {
      const ChainRange& sees = rows_.sees(r, key);
      chains.rows = tile_of(r, key);
      chains.steps = sees.to - sees.from;
      if (chains.steps <= 0) continue;
      chains.to = rows_.sums(r);
      chains.a = rows_.scores(r) + sees.from;
      chains.b = values + (first + sees.from) * step;
      value_tile<Isa, Features::arrays>(chains, column, column + columns);
    }
  }

  // How many rows from r on see the same of the chain: a tile, or one.
  int tile_of(int r, int key) const {
    if constexpr (!Features::any) return rows_.sees(0, key).to == seen_.to ? count() : 1;
    if (count() - r < tile_rows) return 1;
    const ChainRange &a = rows_.sees(r, key), &b = rows_.sees(r + tile_rows - 1, key);
    return a.from == b.from && a.to == b.to ? tile_rows : 1;
  }

  // The values that a row sees, in runs of keys that lie together: masked values are never touched.
  ATTEND_NOINLINE void add_runs(int r, int key, bool cut) {
    const EmbeddedRow& row = rows_.row(r);
    const RowState state = rows_.state(r);
    if (!cut) fill_row<Isa>(0.0f, problem().value_dim, state.chain());
    float* const weights = rows_.scores(r);
    const bool all = !masks() && !row.sees.gap;
    for (int k = row.sees.from; k < row.sees.to;) {
      if (!all && !sees(row.at, key + k, weights[k])) {
        ++k;
        continue;
      }
      const int start = k & -panel_keys;
      const EmbeddedPiece piece = keys_.piece(key + start, row.sees.to - start);
      int end = k + 1;
      if (all) {
        end = start + piece.count;
      } else {
        while (end < start + piece.count && sees(row.at, key + end, weights[end])) ++end;
      }
      const int place = piece.place + k - start;
      if (keys_.value_scales() != nullptr) Isa::multiply_rows(weights + k, keys_.value_scales() + place, end - k);
      add_run(state.chain(), weights + k, place, end - k);
      k = end;
    }
    if (!cut) state.template end_chain<Isa>();
  }

  // Whether a row sees a key of this weight.
  bool sees(const QueryRow& row, int key, float weight) const {
    if (!row.visibility.has(key)) return false;
    return !masks() || magnitude(weight) != 0 || is_let_through(problem(), rows_.options(), row.token, row.head, key);
  }

  // Goes on with a row's chain: values that lie together. Numbers that are not floats become floats first, a few at a time.
  void add_run(float* const& to, const float* weights, int place, int count) {
    const bool floats = keys_.value_format() == core::Format::float32;
    const int room = int(core::EmbeddedOptionMemory::most_numbers(problem().row_block, problem().head_dim));
    Chains chains;
    chains.rows = 1;
    chains.to = &to;
    chains.a_scale = 1.0f;
    chains.b_stride = 1;
    chains.adds = false;
    for (int column = 0; column < problem().value_dim;) {
      const int columns = floats ? problem().value_dim : at_most(problem().value_dim - column, room / panel_keys);
      for (int k = 0; k < count; k += chains.steps) {
        chains.steps = floats ? count : at_most(count - k, panel_keys);
        chains.a = weights + k;
        chains.b_step = floats ? problem().value.token_stride : columns;
        chains.b = rows_.numbers();
        if (floats) {
          chains.b = keys_.template values<float>() + place * problem().value.token_stride;
        } else {
          keys_.widen_values(place + k, chains.steps, column, columns, rows_.numbers());
        }
        for (chains.column = column; chains.column < column + columns; chains.column += chains.columns) {
          chains.columns = at_most(column + columns - chains.column, Isa::columns(1, false));
          Isa::continue_chains(chains);
          chains.b += chains.columns;
        }
      }
      column += columns;
    }
  }

  Rows rows_;
  EmbeddedKeys<Isa, Features> keys_;
  int count_ = 0;               // of rows
  int open_ = 0;                // the chain whose sums are open
  typename Rows::Seen seen_{};  // of the chain, what any row sees; whether some do not see keys between others
};

}  // namespace
}  // namespace attend
