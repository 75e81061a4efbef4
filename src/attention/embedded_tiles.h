// Scores and sums of a block of rows of the embedded pipeline: a tile at a time, a few rows over keys that lie one after
// another, by the chains of an instruction set; or of a row by runs of keys that it sees: masked values are never touched.

// Without arrays, columns lie side by side: then the loops of floats for others are not there.
//   lost  whether vectors would lose factors
template <class Isa, bool arrays, class Number>
ATTEND_ALWAYS_INLINE void run_chains(const ChainsOf<Number>& chains, [[maybe_unused]] bool lost = false) {
  if constexpr (Isa::flushes) {
    if (lost) return Scalar::single_chains(chains);
  }
  if constexpr (arrays || sizeof(Number) != sizeof(float)) {
    Isa::chains(chains);
  } else {
    Isa::panel_chains(chains);
  }
}

// Scores of a tile: to[r][column] for the columns up to `end` of a chain, whose keys are `first` + column of an array or, if
// there are no arrays, of panels. What the caller has in memory is taken by reference: it needs no register through the loops.
template <class Isa, bool arrays, class Number>
ATTEND_ALWAYS_INLINE void score_tile(ChainsOf<Number>& chains, const core::Problem& problem, const float* const& queries,
                                     const Number* const& keys, int first, int end, bool lost) {
  const int wide = chain_columns<Isa>(chains, !(!arrays || problem.key_panels));
  for (; chains.column < end; chains.column += wide) {
    chains.a = queries;
    chains.b = keys + chains.b_stride * (first + chains.column);
    chains.columns = at_most(end - chains.column, wide);
    if (!arrays || problem.key_panels) {  // a panel is whole, whatever `end` is
      chains.b += ((first + chains.column) & -panel_keys) * ptrdiff_t(problem.head_dim - 1);
      chains.columns = Isa::panel_columns(chains.rows, chains.columns, wide);
    }
    for (int left = problem.head_dim; left > 0; left -= chain_dims) {
      chains.adds = left != problem.head_dim;
      chains.steps = at_most(left, chain_dims);
      run_chains<Isa, arrays>(chains, lost);
      chains.a += chain_dims;
      chains.b += chain_dims * chains.b_step;
    }
  }
}

// Weighted sums of a tile: to[r][column] for the columns begin ... end - 1 of the values from chains.b on.
template <class Isa, bool arrays, class Number>
ATTEND_ALWAYS_INLINE void value_tile(ChainsOf<Number>& chains, int begin, const int& end) {
  const int wide = chain_columns<Isa>(chains, false);
  for (chains.column = begin; chains.column < end; chains.column += wide) {
    chains.columns = at_most(end - chains.column, wide);
    run_chains<Isa, arrays>(chains);
    chains.b += wide;
  }
}

// What chains take: int4 is widened before.
template <class Number>
struct ChainedNumber {
  using Type = Number;
};
template <>
struct ChainedNumber<core::Int4Group> {
  using Type = float;
};

template <class Isa, class Features>
class EmbeddedTiles {
 public:
  template <class... Options>
  ATTEND_ALWAYS_INLINE explicit EmbeddedTiles(const core::Problem& problem, const Options&... options)
      : rows_(problem, options...), keys_(problem, options...) {}

 protected:
  using Rows = EmbeddedRows<Isa, Features>;
  using Number = NumberOf<Features::format>;
  using Chained = typename ChainedNumber<Number>::Type;
  static constexpr int tile_rows = at_most(Isa::tile_rows, Rows::limit);
  static constexpr bool one_tile = Rows::limit == tile_rows;  // a block is a tile, or a row
  static_assert(panel_keys % Isa::columns(1, false) == 0 && panel_keys % Isa::columns(Isa::tile_rows, false) == 0,
                "tiles do not cross panels");

  const core::Problem& problem() const { return rows_.problem(); }
  int count() const { return Rows::limit == 1 ? 1 : count_; }

  // Numbers of other formats than int4 are widened in registers where each of them is read once. Calls with all options do
  // without these loops, because each format has loops of its own.
  bool reads_in_place(core::Format format) const {
    return format == core::Format::float32 || (!in_groups<Number> && format == Features::format && count() <= tile_rows);
  }

  // Scores of the chain's keys begin ... end - 1, which lie together: of a chain that began there, key 0 would be at `first`.
  void score_run(int first, int begin, int end) {
    if constexpr (!Features::any) {
      score_tiles(keys_.template keys<float>(), first, begin, end, problem().key.token_stride);
    } else {
      if (!Features::arrays || problem().key_panels) begin &= -panel_keys;
      if (reads_in_place(keys_.key_format())) {
        score_tiles(keys_.template keys<Chained>(), first, begin, end, problem().key.token_stride);
      } else {
        score_widened(first, begin, end);
      }
      scale_rows(keys_.key_scales(), first, begin, end, rows_.lost());
      for (int r = 0; rows_.shrunk().any() && r < count(); ++r) {
        if (rows_.shrunk().has(r)) restore_scores<Isa>(rows_.scores(r) + begin, end - begin);
      }
    }
  }

  // Multiplies scores or weights of all rows by the scales of the keys or values that these are of, if they have any.
  //   lost  whether vectors would lose a score
  void scale_rows(const float* scales, int first, int begin, int end, [[maybe_unused]] bool lost = false) {
    if (scales == nullptr) return;
    for (int r = 0; r < count(); ++r) {
      float* const row = rows_.scores(r);
      if constexpr (Isa::flushes) {
        for (int k = begin; lost && k < end; ++k) row[k] = Scalar::mul(opaque(row[k]), scales[first + k]);
        if (lost) continue;
      }
      Isa::multiply_rows(row + begin, scales + (first + begin), end - begin);
    }
  }

  ATTEND_NOINLINE void score_widened(int first, int begin, int end) {
    for (int k = begin & -panel_keys; k < end; k += panel_keys) {
      const int from = at_least(begin, k), to = at_most(end, k + panel_keys);
      keys_.widen_panel(first + from, to - from, rows_.numbers());
      score_tiles<float>(rows_.numbers(), -from, from, to, problem().head_dim);
    }
  }

  // Scores of keys of an array or, if there are no arrays, of panels; rows of arrays lie so far apart.
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
      score_tile<Isa, Features::arrays>(chains, problem(), rows_.query(r), keys, first, end, rows_.lost());
      r += chains.rows;
      if (one_tile || r >= count()) break;
    }
  }

  // The chain's values as floats in work memory, some columns at a time.
  ATTEND_NOINLINE void add_widened(int key) {
    keys_.for_each_unit(key, seen_.from, seen_.to,
                        [&](int first, int begin, int end) { scale_rows(keys_.value_scales(), first, begin, end); });
    const int column_limit =
        int(core::EmbeddedOptionMemory::most_numbers(problem().row_block, problem().head_dim) / chain_keys);
    for (int column = 0; column < problem().value_dim; column += column_limit) {
      const int columns = at_most(problem().value_dim - column, column_limit);
      keys_.for_each_unit(key, seen_.from, seen_.to, [&](int first, int begin, int end) {
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

  // The number of rows from r on that see the same keys of the chain: a tile, or one.
  int tile_of(int r, int key) const {
    if constexpr (!Features::any) return rows_.sees(0, key).to == seen_.to ? count() : 1;
    if (count() - r < tile_rows) return 1;
    // All rows must be compared: past the keys a row sees only sink tokens, so `to` can fall from row to row.
    const ChainRange& first = rows_.sees(r, key);
    for (int i = 1; i < tile_rows; ++i) {
      const ChainRange& sees = rows_.sees(r + i, key);
      if (sees.from != first.from || sees.to != first.to) return 1;
    }
    return tile_rows;
  }

  Rows rows_;
  EmbeddedKeys<Isa, Features> keys_;
  int count_ = 0;               // of rows
  typename Rows::Seen seen_{};  // of the chain, what any row sees
};

// Goes on with a row's chain: values that lie together. Numbers that are not floats become floats first, a few at a time.
template <class Isa, class Rows, class Keys>
void add_run(const Rows& rows, const Keys& keys, float* const& to, const float* weights, int place, int count) {
  const core::Problem& problem = rows.problem();
  const bool floats = keys.value_format() == core::Format::float32;
  const int room = int(core::EmbeddedOptionMemory::most_numbers(problem.row_block, problem.head_dim)) / panel_keys;
  Chains chains;
  chains.rows = 1;
  chains.to = &to;
  chains.a_scale = 1.0f;
  chains.b_stride = 1;
  chains.adds = false;
  for (int column = 0, end; column < problem.value_dim; column = end) {
    end = floats ? problem.value_dim : at_most(problem.value_dim, column + room);
    for (int k = 0; k < count; k += chains.steps) {
      chains.steps = floats ? count : at_most(count - k, panel_keys);
      chains.a = weights + k;
      chains.b_step = floats ? problem.value.token_stride : end - column;
      chains.b = rows.numbers();
      if (floats) {
        chains.b = keys.template values<float>() + place * problem.value.token_stride;
      } else {
        keys.widen_values(place + k, chains.steps, column, end - column, rows.numbers());
      }
      for (chains.column = column; chains.column < end; chains.column += chains.columns) {
        chains.columns = at_most(end - chains.column, Isa::columns(1, false));
        Isa::continue_chains(chains);
        chains.b += chains.columns;
      }
    }
  }
}

// Adds the values of the chain of a key to the sums of row r, or, of a chain that is cut, to the chain's own.
template <class Isa, class Rows, class Keys>
ATTEND_NOINLINE void add_runs(const Rows& rows, const Keys& keys, int r, int key, bool cut) {
  const EmbeddedRow& row = rows.row(r);
  const auto open = rows.open_segment(r);
  float* const weights = rows.scores(r);
  const bool all = !rows.has_masks() && !row.sees.gap;
  const auto sees = [&](int k) {
    return row.at.visibility.has(key + k) &&
           (!rows.has_masks() || magnitude(weights[k]) != 0 ||
            is_let_through(rows.problem(), rows.options(), row.at.token, row.at.head, key + k));
  };
  if (!cut) fill_row<Isa>(0.0f, rows.problem().value_dim, open.chain);
  for (int k = row.sees.from, end; k < row.sees.to; k = end) {
    end = k + 1;
    if (!all && !sees(k)) continue;
    const int start = k & -panel_keys;
    const KeyRun run = keys.run_at(key + start, row.sees.to - start);
    const int place = run.place + k - start;
    if (all) end = start + run.count;
    while (end < start + run.count && sees(end)) ++end;
    if (keys.value_scales() != nullptr) Isa::multiply_rows(weights + k, keys.value_scales() + place, end - k);
    add_run<Isa>(rows, keys, open.chain, weights + k, place, end - k);
  }
  if (!cut) open.end_chain();
}
