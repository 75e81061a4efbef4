// Outputs of a projection of one token, against packed weights in any number format.

// Chains that go side by side: as many as fill the sums of a tile of one row. One, where a multiply-add is several
// instructions, which take longer than its weights take to arrive.
template <class Isa>
constexpr int panel_chains = at_least(Isa::tile_vecs(1) * Isa::lanes / panel_keys, 1);

// How far the loop over a panel is.
template <class Number>
struct PanelInputs {
  const float* input;
  const Number* weights;
};

// The weights of step i of chain c.
template <class Number>
ATTEND_ALWAYS_INLINE const Number* weights_of(const PanelInputs<Number>& at, int c, int i) {
  return at.weights + (c * chain_dims + i) * panel_keys;
}

// Prefetches what lies ahead of the weights of step i, where a line of them begins there.
template <class Number>
ATTEND_ALWAYS_INLINE void prefetch_weights(const Number* weights, int i) {
  constexpr int step_bytes = panel_keys * int(sizeof(Number));
  if (i * step_bytes % cache_line == 0) {
    const Number* const near = weights + near_weights / int(sizeof(Number));
    prefetch_lines<step_bytes>(near, near + (far_behind_tile - near_weights) / int(sizeof(Number)));
  }
}

// The next `steps` steps of some chains, 1 or 4, with factors from the lanes of a register.
template <class Isa, int steps, bool prefetch, int chains, class Number, int sum_count>
ATTEND_ALWAYS_INLINE void add_lane_steps(const PanelInputs<Number>& at, typename Isa::Vec (&sums)[1][sum_count]) {
  constexpr int vecs = sum_count / chains;
  if constexpr (Isa::has_four_steps(1, sum_count)) {
    if constexpr (prefetch) {
      ATTEND_UNROLL
      for (int c = 0; c < chains; ++c) {  // by two registers, because instructions reach less than 4 KB
        const Number* const near = opaque(weights_of(at, c, 0) + near_weights / int(sizeof(Number)));
        prefetch_lines<4 * panel_keys* int(sizeof(Number))>(
            near, opaque(near + (far_behind_tile - near_weights) / int(sizeof(Number))));
      }
    }
    Isa::four_steps({at.input, at.input + (chains - 1) * chain_dims}, {weights_of(at, 0, 0), weights_of(at, chains - 1, 0)},
                    panel_keys, sums);
  } else {
    ATTEND_UNROLL
    for (int i = 0; prefetch && i < steps; ++i) {
      ATTEND_UNROLL
      for (int c = 0; c < chains; ++c) prefetch_weights(weights_of(at, c, i), i);
    }
    multiply_by_lanes<Isa, steps, true>(
        [&](int c) ATTEND_INLINE_LAMBDA { return at.input + c * chain_dims; },
        [&](int i, int v) ATTEND_INLINE_LAMBDA { return weights_of(at, v / vecs, i) + v % vecs * Isa::lanes; }, sums);
  }
}

// Some chains of one panel, side by side: chains are independent until they are added up, and so a single token has as many
// sums under way as a tile has, while its weights are read in the order in which they lie.
//   totals  of the panel's outputs; added to unless `first`
template <class Isa, class Number, bool prefetch, int chains, int vecs>
ATTEND_ALWAYS_INLINE void add_chains(PanelInputs<Number>& at, int steps, bool& first, typename Isa::Vec (&totals)[vecs]) {
  typename Isa::Vec sums[1][chains * vecs];
  ATTEND_UNROLL
  for (int i = 0; i < chains * vecs; ++i) sums[0][i] = Isa::zero();
  const auto step = [&](int i) ATTEND_INLINE_LAMBDA {
    ATTEND_UNROLL
    for (int c = 0; c < chains; ++c) {
      const Number* const weights = weights_of(at, c, i);
      if (prefetch) prefetch_weights(weights, i);
      const typename Isa::Factor x = Isa::factor(at.input[c * chain_dims + i]);
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        auto& sum = sums[0][c * vecs + v];
        sum = Isa::fma(x, Isa::load(weights + v * Isa::lanes), sum);
      }
    }
  };
  int left = steps;
  if constexpr (Isa::has_four_steps(1, chains * vecs)) left = opaque(left);
  for (; left >= 4; left -= 4) {
    if constexpr (takes_four_steps<Isa>(1, chains * vecs)) {
      add_lane_steps<Isa, 4, prefetch, chains>(at, sums);
    } else {
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) step(i);
    }
    at = {opaque(at.input + 4), opaque(at.weights + 4 * panel_keys)};
  }
  for (; left > 0; --left) {
    if constexpr (Isa::lane_factors == 4) {
      add_lane_steps<Isa, 1, prefetch, chains>(at, sums);
    } else {
      step(0);
    }
    at = {opaque(at.input + 1), opaque(at.weights + panel_keys)};
  }
  at = {at.input + (chains - 1) * chain_dims, at.weights + (chains - 1) * chain_dims * panel_keys};
  ATTEND_UNROLL
  for (int c = 0; c < chains; ++c) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      const auto& sum = sums[0][c * vecs + v];
      totals[v] = c == 0 && first ? sum : Isa::add(totals[v], sum);
    }
  }
  first = false;
}

// All inputs that are left: as many chains side by side as there are, then half as many, down to one.
template <class Isa, class Number, bool prefetch, int chains, int vecs>
ATTEND_ALWAYS_INLINE void add_inputs(PanelInputs<Number>& at, int left, bool& first, typename Isa::Vec (&totals)[vecs]) {
  for (; left >= chains * chain_dims; left -= chains * chain_dims) {
    add_chains<Isa, Number, prefetch, chains, vecs>(at, chain_dims, first, totals);
  }
  if constexpr (chains > 1) {
    add_inputs<Isa, Number, prefetch, chains / 2, vecs>(at, left, first, totals);
  } else if (left > 0) {
    add_chains<Isa, Number, prefetch, 1, vecs>(at, left, first, totals);
  }
}

// sums[o] = or += sum over i of weights[i][o] * input[i] for the 16 outputs of a panel, in chains of chain_dims inputs.
//   input    [inputs]
//   weights  [inputs][16]
// With `prefetch`, lines are prefetched as for a tile of numbers that are widened, floats too: the chains read as many streams,
// which hardware prefetches too late. Weights that the second-level cache holds are read faster without.
template <class Isa, class Number, bool prefetch>
ATTEND_NOINLINE void output_panel(const float* input, const Number* weights, int inputs, bool adds, float* sums) {
  constexpr int vecs = panel_keys / Isa::lanes;
  PanelInputs<Number> at = {input, weights};
  typename Isa::Vec totals[vecs];
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) totals[v] = adds ? Isa::load(sums + v * Isa::lanes) : Isa::zero();
  bool first = !adds;
  add_inputs<Isa, Number, prefetch, panel_chains<Isa>, vecs>(at, inputs, first, totals);
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) Isa::store(sums + v * Isa::lanes, totals[v]);
}
