// Gates, and numbers of a token that are multiplied before they are used: scaled queries, keys times gates.

// Gates below e^least_log_gate = 2^-24 are 0; and when those of a head would add up to less, numbers of its state below 2^-100
// become 0 first. What was not below then stays above 2^-126 by decay alone, so that no bit depends on whether a processor
// flushes subnormal numbers, and none computes with them for long.
constexpr float least_log_gate = -16.635532f;     // 24 ln 2
constexpr float least_of_state = 7.8886091e-31f;  // 2^-100

// e^g. NaN stays NaN.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec gate_of(typename Isa::Vec g) {
  const typename Isa::Vec gate = exponential<Isa>(g);
  return where_at_least<Isa>(g, Isa::broadcast(least_log_gate), gate, Isa::mul(gate, Isa::zero()));
}

// The lowest of some gates that is not 0, as its logarithm, at most 0: what a token adds to what has decayed.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec lower_log_gate(typename Isa::Vec lowest, typename Isa::Vec g) {
  return Isa::min(lowest, where_at_least<Isa>(g, Isa::broadcast(least_log_gate), g, Isa::zero()));
}
template <class Isa>
ATTEND_NOINLINE float lowest_log_gate(const float* g, int count) {
  typename Isa::Vec lowest = Isa::zero();
  int i = 0;
  for (; count - i >= Isa::lanes; i += Isa::lanes) lowest = lower_log_gate<Isa>(lowest, Isa::load(g + i));
  float lanes[Isa::lanes], least = 0.0f;
  Isa::store(lanes, lowest);
  for (const float lane : lanes) least = lower_log_gate<Scalar>(least, lane);
  for (; i < count; ++i) least = lower_log_gate<Scalar>(least, g[i]);
  return least;
}

// Numbers of a token for each key dimension: numbers · by, or numbers · e^gates, rounded once; without numbers the gates alone.
struct Factors {
  const float* numbers;
  const float* gates;  // g of each key dimension
  float by;
  bool made;  // numbers are the products
};

template <class Isa, Decay decay>
ATTEND_NOINLINE void make_factors(const Factors& of, int first, int count, float* to) {
  using Vec = typename Isa::Vec;
  for_each_vector<Isa>(count, [&](int i, int lanes) ATTEND_INLINE_LAMBDA {
    Vec a = Isa::broadcast(of.by);
    if constexpr (decay == Decay::per_key) {
      if (of.gates != nullptr) a = gate_of<Isa>(load_some<Isa>(of.gates + first + i, lanes));
    }
    if (of.numbers != nullptr) a = Isa::mul(a, load_some<Isa>(of.numbers + first + i, lanes));
    store_some<Isa>(to + i, a, lanes);
  });
}
// Of key dimensions `first` on: where they are, or in `to`.
template <class Isa, Decay decay>
ATTEND_ALWAYS_INLINE const float* factors_at(const Factors& of, int first, int count, float* to) {
  if (of.made) return of.numbers + first;
  make_factors<Isa, decay>(of, first, count, to);
  return to;
}
