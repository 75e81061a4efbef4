// Chains of scores of a few query rows against panels of keys step by step, in any number format.

// Numbers of one or two bytes arrive faster than the hardware prefetches them: its window of instructions covers half or a
// quarter as many bytes as with floats, and no page boundary. So lines are prefetched twice, in the order in which they lie:
// far ahead into the second-level cache, and nearer into the first. Either alone is slower: the first level has too few lines
// under way to wait for memory, and what waits in the second makes the window look ahead less.
constexpr int far_behind_tile = 16384, near_behind_tile = 1024;  // bytes of keys, from the end of a tile on

// The multiply-adds of one step, sums[r][v] += factor(r) * vector(v), for rows from `first` on.
//
// Registers hold the smaller group, factors or vectors, and the others come one by one, where the set has no steps of its own
// (AArch64: lanes.h, which widens up to four at a time). Here what is widened comes one by one, or GCC would spill sums.
template <class Isa, class Number, bool scores, int rows, int vecs, class Factor, class Vector>
ATTEND_ALWAYS_INLINE void multiply_by_factors(Factor factor, Vector vector, typename Isa::Vec (&sums)[rows][vecs],
                                              int first = 0) {
  // What is used once, by a single row or with a single vector, may be an operand in memory.
  const auto add = [&](typename Isa::Factor a, typename Isa::Vec b, typename Isa::Vec& sum) ATTEND_INLINE_LAMBDA {
    sum = rows == 1 || vecs == 1 ? Isa::fma(a, b, sum) : Isa::template add_product<Isa, scores, rows>(a, b, sum);
  };
  if constexpr (widens<Number> || rows < vecs) {
    typename Isa::Factor factors[rows];
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      if (r >= first) factors[r] = factor(r);
    }
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      const typename Isa::Vec operand = vector(v);
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        if (r >= first) add(factors[r], operand, sums[r][v]);
      }
    }
  } else {
    typename Isa::Vec vectors[vecs];
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) vectors[v] = vector(v);
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      if (r < first) continue;
      const typename Isa::Factor operand = factor(r);
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) add(operand, vectors[v], sums[r][v]);
    }
  }
}

// A chain step by step; `At` has the operands of a tile of scores, or of a projection of one token.
template <class Isa, class At, int rows, int vecs>
ATTEND_ALWAYS_INLINE void BySteps::steps(At& at, int left, typename Isa::Vec (&sums)[rows][vecs]) {
  for (; left >= 4; left -= 4) {
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) at.step(i, sums);
    at.advance(4);
    if constexpr (!At::apart) left = opaque(left);  // or GCC computes what is left of it in advance
  }
  for (; left > 0; --left) {
    at.step(0, sums);
    at.advance(1);
  }
}

// The operands of a score tile, and where it reads next. Sets that take several steps at once ask for factors and vectors.
template <class Isa, class Number, int rows, int vecs>
struct ScoreSteps {
  using Numbers = Number;
  static constexpr bool apart = false;  // whether groups of a single row's vectors have factors of their own
  static constexpr int three_count = (rows + 2) / 3, panel_count = (vecs * Isa::lanes + panel_keys - 1) / panel_keys;
  static constexpr int numbers = vecs * Isa::lanes, stride = panel_keys;  // of a step, and from step to step

  const float* query[three_count];  // rows in threes: x86 and Arm address three by one register and the distance
  ptrdiff_t query_stride;
  const Number* panels[panel_count];  // from any lane on, where there is less than a panel's worth of them
  const Number* near;                 // what is prefetched into the first level, if numbers are widened

  ATTEND_ALWAYS_INLINE explicit ScoreSteps(const ScoreOperands<Number>& of) : query_stride(of.query_stride) {
    ATTEND_UNROLL
    for (int i = 0; i < three_count; ++i) query[i] = of.query + 3 * i * of.query_stride;
    ATTEND_UNROLL
    for (int i = 0; i < panel_count; ++i) panels[i] = of.keys + i * of.panel_stride;
    if constexpr (widens<Number>) near = of.keys + ptrdiff_t(numbers) * of.dims + near_behind_tile / int(sizeof(Number));
  }
  ATTEND_ALWAYS_INLINE const float* factors(int r) const { return query[r / 3] + r % 3 * query_stride; }
  ATTEND_ALWAYS_INLINE const Number* vectors(int d, int v) const {
    return panels[v * Isa::lanes / panel_keys] + d * panel_keys + v * Isa::lanes % panel_keys;
  }
  ATTEND_ALWAYS_INLINE const Number* first(int v) const { return vectors(0, v); }
  template <int steps>
  ATTEND_ALWAYS_INLINE void take() const {
    if constexpr (widens<Number> && steps > 1) prefetch<steps>(near);
  }
  ATTEND_ALWAYS_INLINE void advance(int steps) {
    ATTEND_UNROLL
    for (int i = 0; i < three_count; ++i) query[i] = opaque(query[i] + steps);
    ATTEND_UNROLL
    for (int i = 0; i < panel_count; ++i) panels[i] = opaque(panels[i] + steps * panel_keys);
    if constexpr (widens<Number>) near = opaque(near + steps * numbers);
  }
  // sums[r][v] += query[r][d] * key[d][v]
  ATTEND_ALWAYS_INLINE void step(int d, typename Isa::Vec (&sums)[rows][vecs]) const {
    if constexpr (widens<Number>) {
      if (d * numbers * int(sizeof(Number)) % cache_line == 0) prefetch<1>(near + d * numbers);
    } else {
      ATTEND_UNROLL
      for (int v = 0; v < vecs; v += panel_keys / Isa::lanes) {
        Isa::template prefetch_keys<rows>(panels[v * Isa::lanes / panel_keys] + d * panel_keys);
      }
    }
    multiply_by_factors<Isa, Number, true>(
        [&](int r) ATTEND_INLINE_LAMBDA { return Isa::factor(query[r / 3][r % 3 * query_stride + d]); },
        [&](int v) ATTEND_INLINE_LAMBDA { return Isa::load(vectors(d, v)); }, sums);
  }

 private:
  template <int steps>
  ATTEND_ALWAYS_INLINE static void prefetch(const Number* near) {
    prefetch_lines<steps * numbers* int(sizeof(Number))>(near,
                                                         near + (far_behind_tile - near_behind_tile) / int(sizeof(Number)));
  }
};

// The chains of a tile step by step.
template <class Isa, class Number, int rows, int vecs>
ATTEND_ALWAYS_INLINE void BySteps::score_tile(const ScoreOperands<Number>& of) {
  ScoreSteps<Isa, Number, rows, vecs> at(of);
  for (int first = 0; first < of.dims; first += chain_dims) {
    typename Isa::Vec sums[rows][vecs];
    set_to_zero<Isa>(sums);
    Isa::template steps<Isa>(at, at_most(of.dims - first, chain_dims), sums);
    const bool is_scaled = widens<Number> && of.scales != nullptr && first + chain_dims >= of.dims;
    const bool adds = of.adds || first > 0;
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      float* const row = of.scores + r * of.score_stride;
      if (!widens<Number> && Isa::end_row(sums[r], row, adds)) continue;
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        float* const to = row + v * Isa::lanes;
        typename Isa::Vec sum = adds ? Isa::add(Isa::load(to), sums[r][v]) : sums[r][v];
        if (is_scaled) sum = Isa::mul(sum, Isa::load(of.scales + v * Isa::lanes));
        Isa::store(to, sum);
      }
    }
  }
}
