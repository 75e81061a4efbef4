// Sigmoid and SiLU, from e^x: for layers, and for the convolution in front of linear attention.

// digits * 2^k as a float, for k <= 0; 0 below 2^-125.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec small_number(const Power<Isa>& power) {
  return Isa::scale_by_power(power.digits, Isa::sub(power.whole, Isa::broadcast(whole_shift)));
}

// factor * sigmoid(y), where x has the sign of y and the power is p = e^-|y|: factor / (1 + p) where x >= 0, factor * p / (1 +
// p) below. A power that is smaller than a float is not lost where its product is none.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec times_sigmoid(typename Isa::Vec x, typename Isa::Vec factor, const Power<Isa>& power) {
  using Vec = typename Isa::Vec;
  const Vec one = Isa::broadcast(1.0f), zero = Isa::zero();
  const Vec numerator = where_at_least<Isa>(x, zero, one, power.digits);
  const Vec quotient = near_quotient<Isa>(numerator, Isa::add(one, small_number<Isa>(power)));
  const Vec whole = where_at_least<Isa>(x, zero, Isa::broadcast(whole_shift), power.whole);
  return times_power<Isa>(Isa::mul(factor, quotient), whole);
}

// e^-|x| for any x.
template <class Isa>
ATTEND_ALWAYS_INLINE Power<Isa> power_of_minus_size(typename Isa::Vec x) {
  const typename Isa::Vec size = Isa::min(size_of<Isa>(x), Isa::broadcast(128.0f));
  return power_of_two<Isa>(size, Isa::broadcast(-log2_e), Isa::broadcast(-log2_e_rest));
}

// 1 / (1 + e^-x)
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec sigmoid(typename Isa::Vec x) {
  return times_sigmoid<Isa>(x, Isa::broadcast(1.0f), power_of_minus_size<Isa>(x));
}

// x / (1 + e^-x)
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec silu(typename Isa::Vec x) {
  return times_sigmoid<Isa>(x, Isa::max(x, Isa::broadcast(-128.0f)), power_of_minus_size<Isa>(x));
}
