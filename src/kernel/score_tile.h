// Scores of a few query rows against panels of keys, in any number format.

// scores[r][k] = sum over d of query[r][d] * keys[k / 16][d][k % 16] for `rows` rows and `vecs` vectors of keys: chains of
// chain_dims dimensions, d ascending, added up in ascending order; times scales[k], if there are any. This is Isa::score_tile,
// whose bodies these are.
//
// A chain's sums stay in registers. A vector's lanes are keys, so no sum is ever split over lanes and its order is the same for
// every width.

// At most one chain, for instruction sets with a loop of their own for whole chains: shorter chains, or what it leaves.
template <class Isa, int rows, int vecs>
ATTEND_NOINLINE void score_chain_by_steps(const ScoreOperands<float>& of) {
  BySteps::score_tile<Isa, float, rows, vecs>(of);
}

// Ends a tile's chains: to[r][v] += sums[r][v], or = where they do not add; rows of `to` lie `stride` floats apart. No zero is
// negative then.
//
// Sums to add to are loaded four at a time, and each addition is stored before the next: stores side by side hold up the
// multiply-adds around them.
template <class Isa, int rows, int vecs>
ATTEND_ALWAYS_INLINE void end_chain(const typename Isa::Vec (&sums)[rows][vecs], float* to, ptrdiff_t stride, bool adds) {
  constexpr int group_rows = vecs >= 4 ? 1 : at_most(4 / vecs, rows);
  ATTEND_HIDE_IN_ORDER(to);  // or compilers keep the address of each row on the stack
  ATTEND_UNROLL
  for (int first = 0; first < rows; first += group_rows) {
    typename Isa::Vec before[group_rows][vecs];
    float* row = to;
    ATTEND_UNROLL
    for (int r = 0; r < group_rows; ++r) {
      if (first + r == rows) break;
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) before[r][v] = adds ? Isa::load(row + v * Isa::lanes) : Isa::zero();
      row = opaque(row + stride);
    }
    keep_loads_in_order();
    ATTEND_UNROLL
    for (int r = 0; r < group_rows; ++r) {
      if (first + r == rows) break;
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        Isa::store((r == 0 ? to : to + r * stride) + v * Isa::lanes, Isa::add(before[r][v], sums[first + r][v]));
        keep_loads_in_order();
      }
    }
    to = row;
  }
}

// Whole chains by the loop of an instruction set: StoredChains, which add them to the scores, or WholeChains, whose sums are
// left in registers.
template <int rows_of_chain, int vecs_of_chain, ChainEnds ends>
template <class Isa, class Number, int rows, int vecs>
ATTEND_ALWAYS_INLINE void ByChains<rows_of_chain, vecs_of_chain, ends>::score_tile(const ScoreOperands<Number>& of) {
  if constexpr (!is_own<Number, rows, vecs>) {
    BySteps::score_tile<Isa, Number, rows, vecs>(of);
  } else if constexpr (ends == ChainEnds::stored) {
    const int chains = of.dims / chain_dims, done = chains * chain_dims;
    if (chains > 0) {
      Isa::score_chains(of.query, of.query_stride, of.keys, of.panel_stride, chains, of.scores, of.score_stride, of.adds);
      if (done == of.dims) return;
    }
    score_chain_by_steps<Isa, rows, vecs>({of.query + done, of.query_stride, of.keys + done * panel_keys, of.panel_stride,
                                           of.dims - done, nullptr, of.scores, of.score_stride, of.adds || chains > 0});
  } else {
    const float *query = of.query, *panel = of.keys;
    const ptrdiff_t query_stride = of.query_stride, score_stride = of.score_stride;
    float* const scores = of.scores;
    int left = of.dims;
    bool begun = of.adds;
    const auto whole_chain = [&](bool adds) ATTEND_INLINE_LAMBDA {
      typename Isa::Vec sums[rows][vecs];
      if (Isa::chain(query, query_stride, panel, panel_keys, chain_dims, sums)) {
        end_chain<Isa>(sums, scores, score_stride, adds);
      } else {
        score_chain_by_steps<Isa, rows, vecs>({query, query_stride, panel, 0, chain_dims, nullptr, scores, score_stride, adds});
      }
      query += chain_dims, panel += chain_dims * panel_keys, left -= chain_dims;
    };
    if (!begun && left >= chain_dims) whole_chain(false), begun = true;
    while (left >= chain_dims) whole_chain(true);
    if (left == 0) return;
    score_chain_by_steps<Isa, rows, vecs>({query, query_stride, panel, 0, left, nullptr, scores, score_stride, begun});
  }
}

// A tile in attention's places:
//   query   [rows][head_dim], scaled
//   keys    panels [head_dim][16]; with less than a panel's worth of lanes, from any lane of one
//   scores  [rows][score_keys]
template <class Isa, class Number, int rows, int vecs>
ATTEND_NOINLINE void score_tile(const float* query, const Number* keys, int head_dim, const float* scales, float* scores) {
  Isa::template score_tile<Isa, Number, rows, vecs>(
      {query, head_dim, keys, ptrdiff_t(panel_keys) * head_dim, head_dim, scales, scores, config::score_keys, false});
}

// Vectors of keys of the widest tile. Of numbers that are widened no more than 64 keys: with more panels at a time, lines are
// prefetched too far ahead of their use.
template <class Isa, class Number>
constexpr int score_vecs(int rows) {
  return widens<Number> ? at_most(64 / Isa::lanes, Isa::widening_vecs(rows)) : Isa::tile_vecs(rows);
}

// Scores of `rows` rows against panels of key_count keys: wide tiles, then narrower ones. Fewer keys than a tile of another
// format go a row at a time, as with values.
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
