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

// The operands of some chains of one panel, side by side. Sets that take several steps at once ask for factors and vectors.
template <class Isa, class Number, bool prefetch, int chains, int vecs>
struct PanelSteps {
  using Numbers = Number;
  static constexpr bool apart = true;
  static constexpr int stride = panel_keys;

  PanelInputs<Number>& at;

  // The weights of step i of chain c.
  ATTEND_ALWAYS_INLINE const Number* weights_of(int c, int i) const { return at.weights + (c * chain_dims + i) * panel_keys; }
  ATTEND_ALWAYS_INLINE const float* factors(int c) const { return at.input + c * chain_dims; }
  ATTEND_ALWAYS_INLINE const Number* vectors(int i, int v) const { return weights_of(v / vecs, i) + v % vecs * Isa::lanes; }
  ATTEND_ALWAYS_INLINE const Number* first(int v) const { return vectors(0, v); }
  // Prefetches what lies ahead of the weights of the next steps.
  template <int steps>
  ATTEND_ALWAYS_INLINE void take() const {
    ATTEND_UNROLL
    for (int c = 0; prefetch && c < chains; ++c) {
      const Number* const near = Isa::anew(weights_of(c, 0) + near_by);
      prefetch_lines<steps * step_bytes>(near, Isa::anew(near + far_by));
    }
  }
  ATTEND_ALWAYS_INLINE void advance(int steps) {
    at.input = opaque(at.input + steps);
    at.weights = opaque(at.weights + steps * panel_keys);
  }
  ATTEND_ALWAYS_INLINE void step(int i, typename Isa::Vec (&sums)[1][chains * vecs]) const {
    ATTEND_UNROLL
    for (int c = 0; c < chains; ++c) {
      const Number* const weights = weights_of(c, i);
      if (prefetch && i * step_bytes % cache_line == 0)
        prefetch_lines<step_bytes>(weights + near_by, weights + near_by + far_by);
      const typename Isa::Factor x = Isa::factor(factors(c)[i]);
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        auto& sum = sums[0][c * vecs + v];
        sum = Isa::fma(x, Isa::load(weights + v * Isa::lanes), sum);
      }
    }
  }

 private:
  static constexpr int size = sizeof(Number), step_bytes = panel_keys * size;
  static constexpr int near_by = near_weights / size, far_by = (far_behind_tile - near_weights) / size;
};

// Some chains of one panel, side by side: chains are independent until they are added up, and so a single token has as many
// sums under way as a tile has, while its weights are read in the order in which they lie.
//   totals  of the panel's outputs; added to unless `first`
template <class Isa, class Number, bool prefetch, int chains, int vecs>
ATTEND_ALWAYS_INLINE void add_chains(PanelInputs<Number>& at, int steps, bool& first, typename Isa::Vec (&totals)[vecs]) {
  typename Isa::Vec sums[1][chains * vecs];
  set_to_zero<Isa>(sums);
  PanelSteps<Isa, Number, prefetch, chains, vecs> next = {at};
  Isa::template steps<Isa>(next, steps, sums);
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
