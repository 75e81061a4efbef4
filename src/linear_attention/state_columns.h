// A few columns of a state, over all key dimensions: they are read, and take a token. These loops are where the time goes.
//
//   read      sums_c = sum over d of factor_d · S_dc
//   update    S_dc = fma(k_d, u_c, a_d · S_dc), then o_c = sum over d of q_d · S_dc
//             and in the same pass, for the next token, r_c = sum over d of w_d · S_dc
//
// An update with both sums is 1 load, 1 store and 4 operations for each number of the state.
//
// Sums are chains of chain_dims key dimensions, ascending, each from 0, added up in ascending order.

// Some columns: vectors `apart` floats apart, or the first `count` columns of one vector.
struct StateColumns {
  float* data;
  ptrdiff_t stride;  // from key dimension to key dimension
  ptrdiff_t apart;
  int count;
};

// Calls step(i) for each of some key dimensions; hosts unroll four, so that counting costs nothing.
template <class Step>
ATTEND_ALWAYS_INLINE void for_each_key_dimension(int count, Step step) {
  int d = 0;
  if constexpr (!config::embedded) {
    for (; count - d >= 4; d += 4) {
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) step(d + i);
    }
  }
  for (; d < count; ++d) step(d);
}

// Sums lie in memory while chains are in registers: with AVX2, which has 16 of these, both would not fit.
template <class Isa, int vecs>
ATTEND_ALWAYS_INLINE void add_chain(const typename Isa::Vec (&chain)[vecs], float* sums) {
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) {
    float* const sum = sums + v * Isa::lanes;
    Isa::store(sum, Isa::add(Isa::load(sum), chain[v]));
  }
}
template <class Isa, int vecs>
ATTEND_ALWAYS_INLINE void begin_sums(float* sums) {
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) Isa::store(sums + v * Isa::lanes, Isa::zero());
}

template <class Isa, Decay decay, int vecs, bool whole>
ATTEND_HOT ATTEND_NOINLINE void read_columns(const StateColumns s, int dims, const Factors& factors, float* sums) {
  const int columns = whole ? Isa::lanes : s.count;
  begin_sums<Isa, vecs>(sums);
  const float* row = s.data;
  for (int first = 0; first < dims; first += chain_dims) {
    const int count = at_most(dims - first, chain_dims);
    float made[chain_dims];
    const float* const factor = factors_at<Isa, decay>(factors, first, count, made);
    typename Isa::Vec chain[1][vecs];
    set_to_zero<Isa>(chain);
    for_each_key_dimension(count, [&](int i) ATTEND_INLINE_LAMBDA {
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        chain[0][v] = Isa::fma(Isa::factor(factor[i]), load_some<Isa>(row + v * s.apart, columns), chain[0][v]);
      }
      row += s.stride;
    });
    add_chain<Isa>(chain[0], sums);
  }
}

// What a token brings to an update.
struct UpdateFactors {
  const float* key;
  float gate;           // of rules with one a head
  Factors gates;        // and one a key dimension
  Factors query, next;  // next: w of the token behind it
};

// values: u. tokens: several of them pass through registers one after another, where none has to read before.
template <class Isa, LinearRule rule, Decay decay, int tokens, int vecs, bool whole, bool reads>
ATTEND_HOT ATTEND_NOINLINE void update_columns(const StateColumns s, int dims, const UpdateFactors (&with)[tokens],
                                               const typename Isa::Vec (&values)[tokens][vecs], float* outputs, float* next) {
  using Vec = typename Isa::Vec;
  const int columns = whole ? Isa::lanes : s.count;
  Vec gate[tokens], u[tokens][vecs];
  begin_sums<Isa, tokens * vecs>(outputs);
  if constexpr (reads) begin_sums<Isa, vecs>(next);
  ATTEND_UNROLL
  for (int t = 0; t < tokens; ++t) {
    gate[t] = Isa::broadcast(with[t].gate);
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) u[t][v] = values[t][v];  // in registers: stores might go to what a reference names
  }
  float* row = s.data;
  for (int first = 0; first < dims; first += chain_dims) {
    const int count = at_most(dims - first, chain_dims);
    float made[tokens + reads][chain_dims], made_gates[tokens][decay == Decay::per_key ? chain_dims : 1];
    const float *factor[tokens + reads], *gates[tokens], *key[tokens];
    ATTEND_UNROLL
    for (int t = 0; t < tokens; ++t) {
      key[t] = with[t].key + first;
      factor[t] = factors_at<Isa, decay>(with[t].query, first, count, made[t]);
      if constexpr (decay == Decay::per_key) gates[t] = factors_at<Isa, decay>(with[t].gates, first, count, made_gates[t]);
    }
    if constexpr (reads) factor[tokens] = factors_at<Isa, decay>(with[tokens - 1].next, first, count, made[tokens]);
    Vec chain[tokens + reads][vecs];
    set_to_zero<Isa>(chain);
    for_each_key_dimension(count, [&](int i) ATTEND_INLINE_LAMBDA {
      Vec state[vecs];
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) state[v] = load_some<Isa>(row + v * s.apart, columns);
      ATTEND_UNROLL
      for (int t = 0; t < tokens; ++t) {
        if constexpr (decay == Decay::per_key) gate[t] = Isa::broadcast(gates[t][i]);
        ATTEND_UNROLL
        for (int v = 0; v < vecs; ++v) {
          const Vec decayed = core::has_gate(rule) ? Isa::mul(gate[t], state[v]) : state[v];
          state[v] = Isa::fma(Isa::factor(key[t][i]), u[t][v], decayed);
          chain[t][v] = Isa::fma(Isa::factor(factor[t][i]), state[v], chain[t][v]);
        }
      }
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        if constexpr (reads) chain[tokens][v] = Isa::fma(Isa::factor(factor[tokens][i]), state[v], chain[tokens][v]);
        store_some<Isa>(row + v * s.apart, state[v], columns);
      }
      row += s.stride;
    });
    ATTEND_UNROLL
    for (int t = 0; t < tokens; ++t) add_chain<Isa>(chain[t], outputs + t * vecs * Isa::lanes);
    if constexpr (reads) add_chain<Isa>(chain[tokens], next);
  }
}
