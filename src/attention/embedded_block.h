// A block of rows of the embedded pipeline with options: many rows of a few tiles, or one.
//
//   for each chain of 64 keys that any row sees some of by position:
//     for each piece of keys that lie together:  scores of all rows, a tile at a time
//     for each row:    score modifications, masks -> online softmax -> weights
//     for each tile:   sums += weights * values
//   at the end of a segment: add its sums to those before
//
// Rows that do not see a key between others that they see go by runs of keys when it comes to values: a masked value is never
// touched. So do rows of a chain that a call with states begins or leaves in its middle, and few rows where a ring wraps.
#pragma once

#include "embedded_keys.h"
#include "embedded_rows.h"
#include "embedded_tiles.h"

namespace attend {
namespace {

template <class Isa, class Features>
class EmbeddedBlock {
 public:
  EmbeddedBlock(const core::Problem& problem, const core::Options& options)
      : problem_(problem),
        options_(options),
        keys_(problem, options),
        rows_(problem, options),
        has_states_(has_states(options)),
        modifies_scores_(modifies_scores(options)),
        has_masks_(has_masks(options)),
        shows_all_(shows_hidden(options)) {}

  // How many rows the next block has, of those that are left.
  int rows_of(int left) const { return at_most(left, at_most(problem_.row_block, core::EmbeddedOptionMemory::most_rows)); }

  void begin_heads() {}
  void next_head() { keys_.next_head(); }
  void begin_row(int r, int token, int head) const { rows_.begin(r, token, head); }

  // All keys, for the rows that were begun.
  template <bool>
  void go_over() {
    const Visibility &earliest = rows_.row(0).at.visibility, &latest = rows_.row(count_ - 1).at.visibility;
    const int end = shows_all() ? problem_.keys : latest.end;
    open_ = states() ? options_.first_key & -chain_keys : -1;
    has_total_ = states();
    for (int key = earliest.begin & -chain_keys; key < end;) {
      if (look_at(key, earliest, latest)) {
        go_to(key);
        chain(key);
        key += chain_keys;
      } else {
        key = at_least(key + chain_keys, earliest.first & -chain_keys);
      }
    }
    if (states()) return go_to(problem_.keys);
    if (has_total_) end_segments();
    for (int r = 0; r < count_; ++r) rows_.finish(r, has_total_);
  }

  const core::Problem& problem_;
  int count_ = 0;  // of rows

 private:
  static constexpr int tile_rows = Isa::tile_rows;

  bool states() const { return Features::states && has_states_; }
  bool modifies() const { return Features::score_mods && modifies_scores_; }
  bool masks() const { return Features::score_mods && has_masks_; }
  bool shows_all() const { return Features::score_mods && shows_all_; }

  // What rows see of the chain of a key; whether there is anything to do.
  bool look_at(int key, const Visibility& earliest, const Visibility& latest) {
    if (key >= at_least(latest.first, latest.begin) && key + chain_keys <= earliest.end) {  // all rows see all of it
      for (int r = 0; r < count_; ++r) rows_.row(r).sees = {0, chain_keys, false};
      from_ = 0;
      to_ = chain_keys;
      has_gaps_ = false;
      return true;
    }
    return look_closely(key);
  }

  ATTEND_NOINLINE bool look_closely(int key) {
    const int count = at_most(problem_.keys - key, chain_keys);
    from_ = count;
    to_ = 0;
    has_gaps_ = false;
    for (int r = 0; r < count_; ++r) {
      EmbeddedRow& row = rows_.row(r);
      row.sees = range_in_chain(row.at.visibility, key, count);
      if (row.sees.from >= row.sees.to) continue;
      from_ = at_most(from_, row.sees.from);
      to_ = at_least(to_, row.sees.to);
      has_gaps_ = has_gaps_ || row.sees.gap;
    }
    if (shows_all()) {
      from_ = at_least(rows_.row(0).at.visibility.begin - key, 0);
      to_ = count;
    }
    return from_ < to_;
  }

  // Whether a call with states begins or leaves a chain in its middle.
  bool is_cut(int key) const { return states() && (key < options_.first_key || key + chain_keys > problem_.keys); }

  // Closes the chain and the segment that end before the chain of a key, if they do.
  void go_to(int key) {
    if (open_ >= 0) {
      if (states() && is_cut(open_) && (key & -chain_keys) != open_) {
        for (int r = 0; r < count_; ++r) rows_.state(r).template end_chain<Isa>();
      }
      if (((key ^ open_) & -segment_keys) != 0) end_segments();
    }
    open_ = key & -chain_keys;
  }

  ATTEND_NOINLINE void end_segments() {
    for (int r = 0; r < count_; ++r) {
      const RowState state = rows_.state(r);
      if (!has_total_) state.template begin_total<Isa>();
      state.template end_segment<Isa>();
    }
    has_total_ = true;
  }

  ATTEND_HOT ATTEND_NOINLINE void chain(int key) {
    const int start = from_ & -panel_keys;
    const EmbeddedPiece piece = keys_.piece(key + start, to_ - start);
    const bool whole = piece.count == to_ - start;
    const int first = piece.place - start;
    if (whole && !masks() && !has_gaps_) {
      score_piece(first, from_, to_);
    } else {
      score_groups(key);
    }
    const bool cut = is_cut(key);
    for (int r = 0; r < count_; ++r) {
      if (modifies()) modify(r, key);
      weigh(r, key, cut);
    }
    if (masks() || has_gaps_ || cut || (!whole && count_ <= tile_rows)) {
      for (int r = 0; r < count_; ++r) add_runs(r, key, cut);
      return;
    }
    if (keys_.value_scales() != nullptr) scale_weights(key);
    if (!whole || !reads_in_place(keys_.value_format())) {
      add_widened(key);
    } else {
      using Number = typename FormatsOf<Features>::Number;
      value_tiles<Number>(numbers_of<Number>(keys_.values()), first, problem_.value.token_stride, 0, problem_.value_dim);
    }
  }

  // Numbers of other formats are widened in registers where each of them is read once. Calls with all options do without these
  // loops, of which each format has its own.
  bool reads_in_place(core::Format format) const {
    return format == core::Format::float32 || (FormatsOf<Features>::typed_chains && count_ <= tile_rows);
  }

  // Scores of the chain's keys group by group, those that any row sees.
  ATTEND_NOINLINE void score_groups(int key) {
    const bool by_groups = !shows_all() && (masks() || has_gaps_);
    for (int k = from_ & -panel_keys; k < to_;) {
      const int count = by_groups ? at_most(to_ - k, panel_keys) : to_ - k;
      if (!by_groups || is_needed(key + k, count)) {
        const EmbeddedPiece piece = keys_.piece(key + k, count);
        score_piece(piece.place - k, at_least(k, from_), k + piece.count);
        k += piece.count;
      } else {
        for (int r = 0; r < count_; ++r) fill_row<Isa>(-__builtin_inff(), panel_keys, rows_.scores(r) + k);
        k += panel_keys;
      }
    }
  }

  // Whether any row sees any of a group's keys.
  bool is_needed(int key, int count) const {
    for (int r = 0; r < count_; ++r) {
      const QueryRow& at = rows_.row(r).at;
      if (!at.visibility.has_any(key, key + count)) continue;
      if (!masks() || lets_any_through(options_, at.visible, at.bias, key, count)) return true;
    }
    return false;
  }

  // Scores of the chain's keys begin ... end - 1, which lie together: of a chain that began there, key 0 would be at `first`.
  void score_piece(int first, int begin, int end) {
    if (keys_.panels()) begin &= -panel_keys;
    if (keys_.key_format() == core::Format::float32) {
      score_tiles<float>(keys_.keys(), first, begin, end, problem_.key.token_stride);
    } else {
      score_typed(first, begin, end);
    }
    if (keys_.key_scales() == nullptr) return;
    for (int r = 0; r < count_; ++r)
      Isa::multiply_rows(rows_.scores(r) + begin, keys_.key_scales() + (first + begin), end - begin);
  }

  ATTEND_NOINLINE void score_typed(int first, int begin, int end) {
    if (!reads_in_place(keys_.key_format())) {
      for (int k = begin & -panel_keys; k < end; k += panel_keys) {
        const int from = at_least(begin, k), to = at_most(end, k + panel_keys);
        keys_.widen_group(first + from, to - from, rows_.numbers());
        score_tiles<float>(rows_.numbers(), -from, from, to, problem_.head_dim);
      }
    } else if constexpr (FormatsOf<Features>::typed_chains) {
      using Number = typename FormatsOf<Features>::Number;
      score_tiles<Number>(numbers_of<Number>(keys_.keys()), first, begin, end, 0);
    }
  }

  template <class Number>
  void score_tiles(const Number* keys, int first, int begin, int end, ptrdiff_t stride) {
    float* to[tile_rows];
    ChainsOf<Number> chains;
    chains.to = to;
    chains.a_stride = problem_.head_dim;
    chains.a_scale = 1.0f;
    chains.b_step = keys_.panels() ? panel_keys : 1;
    chains.b_stride = keys_.panels() ? 1 : stride;
    for (int r = 0; r < count_; r += chains.rows) {
      chains.rows = count_ - r < tile_rows ? 1 : tile_rows;
      for (int i = 0; i < chains.rows; ++i) to[i] = rows_.scores(r + i);
      chains.column = begin;
      score_tile<Isa>(chains, problem_, rows_.query(r), keys, first, end);
    }
  }

  ATTEND_NOINLINE void modify(int r, int key) {
    const EmbeddedRow& row = rows_.row(r);
    const int from = shows_all() ? from_ : row.sees.from, to = shows_all() ? to_ : row.sees.to;
    if (from < to) rows_.score_mod().apply(rows_.scores(r), &row.at, 1, {key, from & -panel_keys, to}, nullptr, true);
  }

  // Scores of a row to weights. A chain that is cut has sums too, before those of the segment.
  void weigh(int r, int key, bool cut) {
    const EmbeddedRow& row = rows_.row(r);
    const ChainRange sees = row.sees;
    if (sees.from >= sees.to) return;
    const int from = sees.from & -panel_keys;
    float* const scores = rows_.scores(r) + from;
    if (!modifies()) {
      for (int k = 0; k < sees.from - from; ++k) scores[k] = -__builtin_inff();
      if (sees.gap) {
        for (int k = row.at.visibility.pinned - key; k < row.at.visibility.first - key; ++k)
          scores[k - from] = -__builtin_inff();
      }
    }
    const RowState state(row.state, problem_.value_dim);
    online_softmax_row<Isa>(scores, sees.to - from, state.max(), state.lane_sums(), cut ? state.chain() : row.sums,
                            cut ? 2 * problem_.value_dim : problem_.value_dim);
  }

  ATTEND_NOINLINE void scale_weights(int key) {
    keys_.for_each_piece(key, from_, to_, [&](int first, int begin, int end) {
      for (int r = 0; r < count_; ++r) {
        Isa::multiply_rows(rows_.scores(r) + begin, keys_.value_scales() + (first + begin), end - begin);
      }
    });
  }

  // The chain's values as floats in work memory, some columns at a time.
  ATTEND_NOINLINE void add_widened(int key) {
    const int most = int(core::EmbeddedOptionMemory::most_numbers(problem_.row_block, problem_.head_dim) / chain_keys);
    for (int column = 0; column < problem_.value_dim; column += most) {
      const int columns = at_most(problem_.value_dim - column, most);
      keys_.for_each_piece(key, from_, to_, [&](int first, int begin, int end) {
        keys_.widen_values(first + begin, end - begin, column, columns, rows_.numbers() + begin * columns);
      });
      value_tiles<float>(rows_.numbers(), 0, columns, column, columns);
    }
  }

  // sums[column ...] += weights * values of `columns` columns: the chain's keys are values `first` + k, so far apart.
  template <class Number>
  void value_tiles(const Number* values, int first, ptrdiff_t step, int column, int columns) {
    float* to[tile_rows];
    ChainsOf<Number> chains;
    chains.to = to;
    chains.a_stride = chain_keys;
    chains.a_scale = 1.0f;
    chains.b_step = step;
    chains.b_stride = 1;
    chains.adds = true;
    for (int r = 0; r < count_; r += chains.rows) {
      const ChainRange& sees = rows_.row(r).sees;
      chains.rows = is_tile(r) ? tile_rows : 1;
      chains.steps = sees.to - sees.from;
      if (chains.steps <= 0) continue;
      for (int i = 0; i < chains.rows; ++i) to[i] = rows_.row(r + i).sums;
      chains.a = rows_.scores(r) + sees.from;
      chains.b = values + (first + sees.from) * step;
      value_tile<Isa>(chains, chain_columns<Isa>(chains, false), column, column + columns);
    }
  }

  // Whether the rows from r on are a tile that sees the same of the chain.
  bool is_tile(int r) const {
    if (count_ - r < tile_rows) return false;
    const ChainRange &a = rows_.row(r).sees, &b = rows_.row(r + tile_rows - 1).sees;
    return a.from == b.from && a.to == b.to;
  }

  // The values that a row sees, in runs of keys that lie together: masked values are never touched.
  ATTEND_NOINLINE void add_runs(int r, int key, bool cut) {
    const EmbeddedRow& row = rows_.row(r);
    const RowState state = rows_.state(r);
    if (!cut) fill_row<Isa>(0.0f, problem_.value_dim, state.chain());
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
      add_run(state, weights + k, place, end - k);
      k = end;
    }
    if (!cut) state.template end_chain<Isa>();
  }

  // Whether a row sees a key of this weight.
  bool sees(const QueryRow& row, int key, float weight) const {
    if (!row.visibility.has(key)) return false;
    return !masks() || magnitude(weight) != 0 || is_let_through(problem_, options_, row.token, row.head, key);
  }

  // Goes on with a row's chain: values that lie together. Numbers that are not floats become floats first, a few at a time.
  void add_run(const RowState& state, const float* weights, int place, int count) {
    const bool floats = keys_.value_format() == core::Format::float32;
    const int room = int(core::EmbeddedOptionMemory::most_numbers(problem_.row_block, problem_.head_dim));
    float* const to = state.chain();
    Chains chains;
    chains.rows = 1;
    chains.to = &to;
    chains.a_scale = 1.0f;
    chains.b_stride = 1;
    chains.adds = false;
    for (int column = 0; column < problem_.value_dim;) {
      const int columns = floats ? problem_.value_dim : at_most(problem_.value_dim - column, room / panel_keys);
      for (int k = 0; k < count; k += chains.steps) {
        chains.steps = floats ? count : at_most(count - k, panel_keys);
        chains.a = weights + k;
        chains.b_step = floats ? problem_.value.token_stride : columns;
        chains.b = rows_.numbers();
        if (floats) {
          chains.b = keys_.values() + place * problem_.value.token_stride;
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

  const core::Options& options_;
  EmbeddedKeys<Isa, Features> keys_;
  const EmbeddedRows<Isa, Features> rows_;
  const bool has_states_, modifies_scores_, has_masks_, shows_all_;
  int from_ = 0, to_ = 0;   // what any row sees of the chain
  bool has_gaps_ = false;   // whether rows do not see some keys between others, by position
  bool has_total_ = false;  // whether a segment has ended
  int open_ = 0;            // the chain whose sums are open
};

template <class Isa>
struct EmbeddedBlockOf<Isa, AllFeatures> {
  using Block = EmbeddedBlock<Isa, AllFeatures>;
};
template <class Isa, core::Format of, class Numbers>
struct EmbeddedBlockOf<Isa, CacheFeatures<of, Numbers>> {
  using Block = EmbeddedBlock<Panels<Isa>, CacheFeatures<of, Numbers>>;
};

}  // namespace
}  // namespace attend
