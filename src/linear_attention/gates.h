// Gates, and numbers of a token that are multiplied before they are used: scaled queries, keys times gates.

// Gates below e^least_log_gate (list.h) = 2^-24 are 0. Each token adds the lowest of its other g to a sum of its head. Before a
// token that would make the sum less than least_log_gate, numbers of the head's state below 2^-100 become 0, and the sum begins
// with that token. So gates alone make no number subnormal: it was at least 2^-100, and gates have left at least 2^-24 of it.
//
// A token adds token_log_decay at most, also without a gate: numbers are swept at least every 64 tokens. The correction of
// delta rules shrinks a state too, and no gate counts it; a key that has one dimension can halve numbers at each token. Such
// numbers may become subnormal, but within 64 tokens they are 0. Smaller additions would be lost: logarithms of gates near 1
// are less than half a unit in the last place of the sum.
constexpr float token_log_decay = -0.26f;         // a 64th of least_log_gate, or a little more
constexpr float least_of_state = 7.8886091e-31f;  // 2^-100

// e^g, as exponential has it: from half of the power, which is a float where the power is above all floats, too. NaN stays NaN.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec gate_of(typename Isa::Vec g) {
  const Power<Isa> power =
      power_of_two<Isa>(clamped<Isa>(g, -32.0f, 89.0f), Isa::broadcast(log2_e), Isa::broadcast(log2_e_rest));
  const typename Isa::Vec half = Isa::mul(power.digits, Isa::two_to(Isa::sub(power.whole, Isa::broadcast(1.0f))));
  return where_at_least<Isa>(g, Isa::broadcast(least_log_gate), Isa::add(half, half), Isa::mul(half, Isa::zero()));
}

// What a token adds to the sum: the lowest logarithm of its gates that are not 0, at most token_log_decay.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec lower_log_gate(typename Isa::Vec lowest, typename Isa::Vec g) {
  return Isa::min(lowest, where_at_least<Isa>(g, Isa::broadcast(least_log_gate), g, Isa::zero()));
}
template <class Isa>
ATTEND_NOINLINE float lowest_log_gate(const float* g, int count) {
  typename Isa::Vec lowest = Isa::zero();
  int i = 0;
  for (; count - i >= Isa::lanes; i += Isa::lanes) lowest = lower_log_gate<Isa>(lowest, Isa::load(g + i));
  float least = lower_log_gate<Scalar>(token_log_decay, -Isa::highest_lane(Isa::sub(Isa::zero(), lowest)));
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
ATTEND_ALWAYS_INLINE void make_some_factors(const Factors& of, int first, int count, float* to) {
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
template <class Isa, Decay decay>
ATTEND_NOINLINE void make_factors(const Factors& of, int first, int count, float* to) {
  make_some_factors<Isa, decay>(of, first, count, to);
}
