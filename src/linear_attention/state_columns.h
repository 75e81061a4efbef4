// A few columns of a state, over all key dimensions: they are read, and take tokens. These loops are where the time goes.
//
//   read      sums_c = sum over d of factor_d · S_dc
//   update    S_dc = fma(k_d, u_c, a_d · S_dc), then o_c = sum over d of q_d · S_dc
//             and in the same pass, for the next token, r_c = sum over d of w_d · S_dc
//
// An update with both sums is 1 load, 1 store and 4 operations for each number of the state.
//
// Sums are chains of chain_dims key dimensions, ascending, each from 0, added up in ascending order.

// Some columns: whole vectors, which go on in the next panel, or less than one.
struct StateColumns {
  float* data;
  ptrdiff_t stride;  // from key dimension to key dimension
  ptrdiff_t apart;   // from panel to panel
  int count, dims;

  template <class Isa>
  ATTEND_ALWAYS_INLINE ptrdiff_t at(int vec) const {
    constexpr int vecs = panel_keys / Isa::lanes;
    return vec / vecs * apart + vec % vecs * Isa::lanes;
  }
};

// The factors of a chain: where they are, or made into `to`.
template <class Isa, Decay decay>
ATTEND_ALWAYS_INLINE const float* factors_at(const Factors& of, int first, int count, float* to) {
  if (of.made) return of.numbers + first;
  if (decay == Decay::per_head && count == chain_dims) {
    make_some_factors<Isa, decay>(of, first, chain_dims, to);
  } else {
    make_factors<Isa, decay>(of, first, count, to);
  }
  return opaque(to);
}

// Calls step(i) for each of some key dimensions; hosts unroll, so that counting costs nothing. Longer loops were slower.
template <int vecs, class Step>
ATTEND_ALWAYS_INLINE void for_each_key_dimension(int count, Step step) {
  constexpr int unrolled = vecs == 4 ? 2 : 4;
  int d = 0;
  for (; count - d >= unrolled; d += unrolled) {
    ATTEND_UNROLL
    for (int i = 0; i < unrolled; ++i) step(d + i);
  }
  for (; d < count; ++d) step(d);
}

// Hosts keep factors and sums in registers: with a factor from memory for each vector, loads would take the time.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec add_product(typename Isa::Factor a, typename Isa::Vec b, typename Isa::Vec sum) {
  if constexpr (Isa::lanes == 1) {
    return Isa::fma(a, b, sum);
  } else {
    return Isa::accumulate(a, b, sum);
  }
}

// What is read from some columns: an output, or u of the token that delta rules read for.
struct Read {
  Factors factors;
  float* to;           // the sums, or
  const float* value;  // where there is one, beta * (value - sum)
  float beta;
};

template <class Isa, int vecs>
ATTEND_ALWAYS_INLINE void add_chain(const typename Isa::Vec (&chain)[vecs], typename Isa::Vec (&sums)[vecs]) {
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) sums[v] = Isa::add(sums[v], chain[v]);
}
template <class Isa, int vecs>
ATTEND_ALWAYS_INLINE void finish(const Read read, const typename Isa::Vec (&sums)[vecs], int columns) {
  const typename Isa::Vec beta = Isa::broadcast(read.beta);
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) {
    typename Isa::Vec result = sums[v];
    if (read.value != nullptr) {
      result = Isa::mul(beta, Isa::sub(load_some<Isa>(read.value + v * Isa::lanes, columns), result));
    }
    store_some<Isa>(read.to + v * Isa::lanes, result, columns);
  }
}

template <class Isa, Decay decay, int vecs, bool whole>
ATTEND_HOT ATTEND_NOINLINE void read_columns(const StateColumns& state, const Read& read) {
  const StateColumns s = state;  // in registers
  const int columns = whole ? Isa::lanes : s.count, dims = s.dims;
  const float* row = s.data;
  typename Isa::Vec sums[1][vecs], chain[1][vecs];
  set_to_zero<Isa>(sums);
  for (int first = 0; first < dims; first += chain_dims) {
    const int count = at_most(dims - first, chain_dims);
    float made[chain_dims];
    const float* const factor = factors_at<Isa, decay>(read.factors, first, count, made);
    set_to_zero<Isa>(chain);
    for_each_key_dimension<vecs>(count, [&](int i) ATTEND_INLINE_LAMBDA {
      const typename Isa::Factor f = Isa::factor(factor[i]);
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v)
        chain[0][v] = add_product<Isa>(f, load_some<Isa>(row + s.template at<Isa>(v), columns), chain[0][v]);
      row += s.stride;
    });
    add_chain<Isa>(chain[0], sums[0]);
  }
  finish<Isa>(read, sums[0], columns);
}

// What a token brings to some columns, and its output.
struct Taken {
  const float* key;
  float gate;     // of rules with one a head
  Factors gates;  // and one a key dimension
  const float* u;
  Read output;
};

// Several tokens pass through registers one after another, where none has to read before.
//   next   what the token behind them reads
template <class Isa, LinearRule rule, Decay decay, int tokens, int vecs, bool whole, bool reads>
ATTEND_HOT ATTEND_NOINLINE void update_columns(const StateColumns& columns_of, const Taken (&with)[tokens],
                                               [[maybe_unused]] const Read& next) {
  const StateColumns s = columns_of;  // in registers: stores might go to what a reference names
  using Vec = typename Isa::Vec;
  constexpr bool gated = core::has_gate(rule), by_key = gated && decay == Decay::per_key;
  constexpr int chains = tokens + reads;
  // Whether registers have room for u, too: otherwise it is read again and again.
  constexpr int registers = Isa::lanes == 16 ? 32 : 16;
  constexpr bool has_room = (chains + tokens) * vecs + 3 * tokens + reads < registers;
  constexpr int abreast = registers == 32 ? vecs : 1;  // vectors that go through each operation side by side
  const int columns = whole ? Isa::lanes : s.count, dims = s.dims;
  Vec gate[tokens], u[tokens][vecs], sums[chains][vecs], chain[chains][vecs];
  set_to_zero<Isa>(sums);
  ATTEND_UNROLL
  for (int t = 0; t < tokens; ++t) {
    gate[t] = Isa::broadcast(with[t].gate);
    ATTEND_UNROLL
    for (int v = 0; v < vecs && has_room; ++v) u[t][v] = load_some<Isa>(with[t].u + v * Isa::lanes, columns);
  }
  float* row = s.data;
  for (int first = 0; first < dims; first += chain_dims) {
    const int count = at_most(dims - first, chain_dims);
    float made[chains][chain_dims], made_gates[tokens][by_key ? chain_dims : 1];
    const float *key[tokens], *values[tokens], *factor[chains], *gates[tokens];
    ATTEND_UNROLL
    for (int t = 0; t < tokens; ++t) {
      key[t] = with[t].key + first, values[t] = with[t].u;
      factor[t] = factors_at<Isa, Decay::per_head>(with[t].output.factors, first, count, made[t]);
      if constexpr (by_key) gates[t] = factors_at<Isa, decay>(with[t].gates, first, count, made_gates[t]);
    }
    if constexpr (reads) factor[tokens] = factors_at<Isa, decay>(next.factors, first, count, made[tokens]);
    set_to_zero<Isa>(chain);
    for_each_key_dimension<vecs>(count, [&](int i) ATTEND_INLINE_LAMBDA {
      typename Isa::Factor k[tokens], f[chains];
      ATTEND_UNROLL
      for (int t = 0; t < tokens; ++t) {
        k[t] = Isa::factor(key[t][i]);
        if constexpr (by_key) gate[t] = Isa::broadcast(gates[t][i]);
      }
      ATTEND_UNROLL
      for (int t = 0; t < chains; ++t) f[t] = Isa::factor(factor[t][i]);
      ATTEND_UNROLL
      for (int begin = 0; begin < vecs; begin += abreast) {
        Vec state[abreast];
        ATTEND_UNROLL
        for (int j = 0; j < abreast; ++j) state[j] = load_some<Isa>(row + s.template at<Isa>(begin + j), columns);
        ATTEND_UNROLL
        for (int t = 0; t < chains; ++t) {
          ATTEND_UNROLL
          for (int j = 0; j < abreast; ++j) {
            if (t == tokens) break;
            const Vec decayed = gated ? Isa::mul(gate[t], state[j]) : state[j];
            state[j] = has_room ? add_product<Isa>(k[t], u[t][begin + j], decayed)
                                : Isa::fma(k[t], load_some<Isa>(values[t] + (begin + j) * Isa::lanes, columns), decayed);
          }
          ATTEND_UNROLL
          for (int j = 0; j < abreast; ++j) chain[t][begin + j] = add_product<Isa>(f[t], state[j], chain[t][begin + j]);
        }
        ATTEND_UNROLL
        for (int j = 0; j < abreast; ++j) store_some<Isa>(row + s.template at<Isa>(begin + j), state[j], columns);
      }
      row += s.stride;
    });
    ATTEND_UNROLL
    for (int t = 0; t < chains; ++t) add_chain<Isa>(chain[t], sums[t]);
  }
  ATTEND_UNROLL
  for (int t = 0; t < chains; ++t) finish<Isa>(t < tokens ? with[t].output : next, sums[t], columns);
}
