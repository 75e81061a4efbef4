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

// The same of vectors side by side, so that none waits for its own chain of operations. Where no number is large, e^-|x| is a
// float like any other, and so is all that comes from it: powers of two round nothing, and the bits are the same.
template <class Isa, int count>
ATTEND_ALWAYS_INLINE void silu(typename Isa::Vec (&x)[count]) {
  using Vec = typename Isa::Vec;
  Vec size[count], whole[count], power[count], most = Isa::zero();
  ATTEND_UNROLL
  for (int v = 0; v < count; ++v) size[v] = size_of<Isa>(x[v]), most = Isa::max(most, size[v]);
  if (Isa::any_above(most, Isa::broadcast(48.0f))) {
    ATTEND_UNROLL
    for (int v = 0; v < count; ++v) x[v] = silu<Isa>(x[v]);
    return;
  }
  ATTEND_UNROLL
  for (int v = 0; v < count; ++v) {
    const SplitExponent<Isa> y = split_exponent<Isa>(size[v], Isa::broadcast(-log2_e), Isa::broadcast(-log2_e_rest));
    power[v] = y.fraction, whole[v] = y.whole;
  }
  exp2_fraction<Isa, count>(power);
  const Vec one = Isa::broadcast(1.0f);
  Vec numerator[count], minus_b[count], y[count];
  ATTEND_UNROLL
  for (int v = 0; v < count; ++v) {
    const Vec p = Isa::mul(power[v], Isa::two_to(whole[v]));
    // 1 where x > 0, p below, and both where x is near 0
    numerator[v] = Isa::min(one, Isa::max(p, Isa::mul(x[v], Isa::broadcast(1.0737418e9f))));
    minus_b[v] = Isa::sub(Isa::broadcast(-1.0f), p);
    y[v] = Isa::minus_reciprocal_guess(minus_b[v]);
  }
  ATTEND_UNROLL
  for (int step = 0; step < 3; ++step) {
    ATTEND_UNROLL
    for (int v = 0; v < count; ++v) y[v] = Isa::fma(y[v], Isa::fma(minus_b[v], y[v], one), y[v]);
  }
  ATTEND_UNROLL
  for (int v = 0; v < count; ++v) {
    const Vec quotient = Isa::mul(numerator[v], y[v]);
    x[v] = Isa::mul(x[v], Isa::fma(Isa::fma(minus_b[v], quotient, numerator[v]), y[v], quotient));
  }
}
