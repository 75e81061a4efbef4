// The embedded form of linear attention, without copies and blocks: each panel of columns of a value head takes the tokens one
// after another. What a token reads is added up in memory, chain by chain; a chain passes over all columns of the panel.

// Where floats are computed in software, factors are multiplied once for all columns; elsewhere, quicker, as columns pass.
constexpr bool makes_factors = ATTEND_SOFT_FLOAT;

// Columns of a panel over one chain, in plain C++: see isa/chains.h.
template <class Isa, StateGate has, int vecs>
ATTEND_ALWAYS_INLINE void pass_columns(const StateChain& c, int count, bool updates) {
  using Vec = typename Isa::Vec;
  constexpr int lanes = Isa::lanes;
  if (vecs > 1 || lanes == 1) count = lanes;
  Vec sum[vecs], u[vecs];
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) {
    sum[v] = Isa::zero();
    u[v] = updates ? load_some<Isa>(c.u + v * lanes, count) : sum[v];
  }
  float* row = c.state;
  Vec gate = Isa::broadcast(c.gate);
  for (int d = 0; d < c.dims; ++d, row += c.stride) {
    const typename Isa::Factor factor = Isa::factor(makes_factors ? c.factors[d] : Scalar::mul(c.by, c.factors[d]));
    const typename Isa::Factor key = Isa::factor(updates ? c.keys[d] : 0.0f);
    if (has == StateGate::each && updates) gate = Isa::broadcast(c.gates[d]);
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      Vec number = load_some<Isa>(row + v * lanes, count);
      if (updates) {
        if (has != StateGate::none) number = Isa::mul(gate, number);
        number = Isa::fma(key, u[v], number);
        store_some<Isa>(row + v * lanes, number, count);
      }
      sum[v] = Isa::fma(factor, number, sum[v]);
    }
  }
  if (c.to == nullptr) return;
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v)
    store_some<Isa>(c.to + v * lanes, Isa::add(load_some<Isa>(c.to + v * lanes, count), sum[v]), count);
}

// What a pass over a panel is for: what the key finds there before it decays, taking a token and its output, or reading.
enum class Pass { retrieves, updates, reads };

template <class Isa, LinearRule rule, Decay decay>
struct StatePanel : HeadPanel<core::LinearAttention, float> {
  static constexpr bool gated = core::has_gate(rule), is_delta = core::has_beta(rule);
  static constexpr bool by_key = gated && decay == Decay::per_key, by_head = gated && !by_key;
  static constexpr StateGate has = by_key ? StateGate::each : gated ? StateGate::one : StateGate::none;
  static constexpr int kept = 1;

  float decayed = 0.0f, gate;
  const float *key, *gates = nullptr, *u;  // of a token
  float values[panel_keys];      // beta (v - k S), u of delta rules

  explicit StatePanel(const core::LinearAttention& call) : HeadPanel(call) {}
  void get(const float* from) { decayed = *from; }
  void keep(float* to) const { *to = decayed; }
  void clear() {
    fill_row<Isa>(0.0f, count(), state);
    decayed = 0.0f;
  }

  // All columns and chains: the token is taken, if it updates, and `to` becomes what it reads.
  ATTEND_NOINLINE void pass(Pass pass, const float* factors, float by, float* to) {
    if (to != nullptr) fill_row<Isa>(0.0f, width, to);
    StateChain chain{state, width, 0, factors, key, gates, u, by, gate, to};
    for (int left = c.head_dim; left > 0; left -= chain_dims) {
      chain.dims = at_most(left, chain_dims);
      float made[makes_factors ? chain_dims : 1], made_gates[by_key ? chain_dims : 1];
      const int first = c.head_dim - left;
      chain.factors = factors + first, chain.keys = pass == Pass::updates ? key + first : nullptr;
      if constexpr (makes_factors) chain.factors = made, multiply_row<Isa>(factors + first, chain.dims, by, made);
      if constexpr (by_key) {
        const bool updates = pass == Pass::updates;
        if (pass != Pass::reads)
          make_factors<Isa, decay>({updates ? nullptr : factors, gates, 1.0f, false}, first, chain.dims, made_gates);
        if (updates) chain.gates = made_gates;
        if (pass == Pass::retrieves) chain.factors = made_gates;
      }
      pass_chain(chain);
      chain.state += chain_dims * width;
    }
  }
  ATTEND_ALWAYS_INLINE void pass_chain(StateChain chain) const {
    constexpr int lanes = Isa::lanes, vecs = lanes > 1 ? 2 : ATTEND_SOFT_FLOAT ? 1 : 4;
    constexpr int most = state_columns < Isa >> 0 ? state_columns<Isa> : vecs * lanes;
    for (int left = width, count; left > 0; left -= count) {
      count = most;
      if (vecs == 1 || left < most) {
        count = at_most(left, lanes);
        pass_columns<Isa, has, 1>(chain, count, chain.keys != nullptr);
      } else if constexpr (state_columns<Isa> > 0) {
        Isa::template pass_state<has>(chain);
      } else if (chain.keys != nullptr) {
        pass_columns<Isa, has, vecs>(chain, count, true);
      } else {
        pass_columns<Isa, has, vecs>(chain, count, false);
      }
      chain.state += count, chain.u += count;
      if (chain.to != nullptr) chain.to += count;
    }
  }

  // A token adds to what has decayed since small numbers were swept. Before that is too much, numbers below 2^-100 become +0.
  ATTEND_ALWAYS_INLINE void decay_by(float lowest) {
    decayed = Scalar::add(decayed, lowest);
    if (!Scalar::less(decayed, least_log_gate)) return;
    decayed = lowest;
    for (int i = 0; i < count(); ++i) {
      if (magnitude(state[i]) < magnitude(least_of_state)) state[i] = 0.0f;
    }
  }

  // e^g for a gate that is not 0; NaN stays NaN. The power is at least 2^-24: what would be 2^128 is multiplied by in halves.
  ATTEND_ALWAYS_INLINE static float gate_in_range(float g) {
    const Power<Scalar> power = power_of_two<Scalar>(Scalar::min(g, 89.0f), log2_e, log2_e_rest);
    return Scalar::mul(Scalar::mul(power.digits, bits_to<float>((bits_to<uint32_t>(power.whole) + 126u) << 23)), 2.0f);
  }

  ATTEND_ALWAYS_INLINE void take(int t) {
    gate = 1.0f;
    if constexpr (gated || is_delta) {
      float lowest = token_log_decay;
      if constexpr (by_head) {
        const float g = *at(c.gates, t, head);
        gate = 0.0f;
        if (!Scalar::less(g, least_log_gate)) {
          if (Scalar::less(g, lowest)) lowest = g;
          gate = gate_in_range(g);
        }
      }
      if constexpr (by_key) {
        gates = at(c.gates, t, head);
        lowest = lowest_log_gate<Isa>(gates, c.head_dim);
      }
      decay_by(lowest);
    }
    key = at(c.key, t, key_head);
    u = at(c.value, t, head) + column;
    if constexpr (is_delta) {
      pass(Pass::retrieves, key, gate, values);
      const float beta = *at(c.beta, t, head);
      for (int i = 0; i < width; ++i) values[i] = Scalar::mul(beta, Scalar::sub(u[i], values[i]));
      u = values;
    }
    if (c.query.data == nullptr) return pass(Pass::updates, key, 1.0f, nullptr);
    for (int q = 0; q < queries; ++q) {
      pass(q == 0 ? Pass::updates : Pass::reads, at(c.query, t, first_query + q), c.scale,
           at(c.output, t, queries > 1 ? first_query + q : head) + column);
    }
  }
};

template <class, LinearRule rule, Decay decay>
void run_value_heads(const core::LinearAttention& call, int part, int parts) {
  run_panels<StatePanel<StateIsa, rule, decay>>(call, part, parts);
}
