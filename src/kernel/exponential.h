// e^x, and the powers that it and functions like it are computed from.

// digits * 2^k, with whole = whole_shift + k: a power that may lie outside of what a float holds.
template <class Isa>
struct Power {
  typename Isa::Vec digits;
  typename Isa::Vec whole;
};

// The terms that 2^y is computed from, for |y| < 2^21: whole = whole_shift + k for the whole number k nearest to y, and y - k.
template <class Isa>
struct SplitExponent {
  typename Isa::Vec whole;
  typename Isa::Vec fraction;
};

// Splits y = a * (factor + rest), where rest is what factor was rounded by. The product is never rounded: y - k is within one
// rounding of the exact one, however large y is.
template <class Isa>
ATTEND_ALWAYS_INLINE SplitExponent<Isa> split_exponent(typename Isa::Vec a, typename Isa::Vec factor, typename Isa::Vec rest) {
  using Vec = typename Isa::Vec;
  const Vec shift = Isa::broadcast(whole_shift), whole = Isa::fma(a, factor, shift);
  return {whole, Isa::fma(a, rest, Isa::fma(a, factor, Isa::sub(shift, whole)))};
}

// 2^(a * (factor + rest))
template <class Isa>
ATTEND_ALWAYS_INLINE Power<Isa> power_of_two(typename Isa::Vec a, typename Isa::Vec factor, typename Isa::Vec rest) {
  const SplitExponent<Isa> y = split_exponent<Isa>(a, factor, rest);
  typename Isa::Vec digits[1] = {y.fraction};
  exp2_fraction<Isa, 1>(digits);
  return {digits[0], y.whole};
}

// log2(e) to 48 bits.
constexpr float log2_e_rest = 1.925963e-08f;

// a * 2^k for whole = whole_shift + k, |k| <= 252. The power is multiplied by in halves, each of them a float; only the last
// product can be rounded, where it is subnormal.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec times_power(typename Isa::Vec a, typename Isa::Vec whole) {
  using Vec = typename Isa::Vec;
  const Vec shift = Isa::broadcast(whole_shift), power = Isa::sub(whole, shift);
  const Vec half = Isa::fma(power, Isa::broadcast(0.5f), shift);
  const Vec rest = Isa::add(Isa::sub(power, Isa::sub(half, shift)), shift);
  return Isa::mul(Isa::mul(a, Isa::two_to(half)), Isa::two_to(rest));
}

// a, but not below `smallest` nor above `largest`; NaN stays NaN.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec clamped(typename Isa::Vec a, float smallest, float largest) {
  return Isa::min(Isa::max(a, Isa::broadcast(smallest)), Isa::broadcast(largest));
}
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec size_of(typename Isa::Vec a) {
  return Isa::max(a, Isa::sub(Isa::zero(), a));
}
// `then` where a >= b, `otherwise` where a < b or a is NaN. b is a number.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec where_at_least(typename Isa::Vec a, typename Isa::Vec b, typename Isa::Vec then,
                                                      typename Isa::Vec otherwise) {
  return Isa::where_equal(Isa::max(a, b), a, then, otherwise);
}

// e^x: infinity from 88.73 on, 0 below -103.98.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec exponential(typename Isa::Vec x) {
  const typename Isa::Vec a = clamped<Isa>(x, -128.0f, 89.0f);
  const Power<Isa> power = power_of_two<Isa>(a, Isa::broadcast(log2_e), Isa::broadcast(log2_e_rest));
  return times_power<Isa>(power.digits, power.whole);
}
