// Chains of scores of a few query rows against panels of keys step by step, in any number format.

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
  multiply_by_factors<Isa, Number, true>(query, key, sums);
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
