// What is made of e^x (kernel/exponential.h): tanh, the error function, and the tail of the normal distribution.

// (e^2x - 1) / (e^2x + 1)
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec hyperbolic_tangent(typename Isa::Vec x) {
  using Vec = typename Isa::Vec;
  const SplitExponent<Isa> y =
      split_exponent<Isa>(clamped<Isa>(x, -10.0f, 10.0f), Isa::broadcast(2 * log2_e), Isa::broadcast(2 * log2_e_rest));
  const Vec less_one = power_less_one<Isa>(y.whole, y.fraction);
  return near_quotient<Isa>(less_one, Isa::add(less_one, Isa::broadcast(2.0f)));
}

// Polynomials with float coefficients of small relative error, found with Remez's algorithm, one coefficient after the other
// rounded to a float and the others fitted anew.
//   erf(x) = x + x * P(x^2) for |x| <= 1, to 1.5e-9
ATTEND_HOT_DATA constexpr float erf_coefficients[] = {7.806899e-05f, -0.00079978525f, 0.005187162f, -0.026853347f,
                                                      0.11283579f,   -0.37612626f,    0.12837917f};
//   erf(x / sqrt(2)) / 2 = x * P(x^2) for |x| <= 1, to 2.9e-9 of the smaller of 1/2 +- that
ATTEND_HOT_DATA constexpr float middle_coefficients[] = {-8.168474e-06f, 0.000115016934f, -0.0011880192f,
                                                         0.009974163f,   -0.06649054f,    0.3989423f};
//   erfc(u / sqrt(2)) * e^(u^2 / 2) / 2 = w * P(w) with w = 1 / (1 + u * 3/8), for 1 <= u <= 16, to 3.2e-9
ATTEND_HOT_DATA constexpr float tail_coefficients[] = {-0.0448403f, 0.18077756f, -0.25357512f, 0.10569861f, -0.010709034f,
                                                       0.09607383f, 0.12724648f, 0.14970525f,  0.14959998f};

template <class Isa, int count>
ATTEND_ALWAYS_INLINE typename Isa::Vec polynomial(const float (&coefficients)[count], typename Isa::Vec x) {
  typename Isa::Vec sum = Isa::broadcast(coefficients[0]);
  ATTEND_UNROLL
  for (int i = 1; i < count; ++i) sum = Isa::fma(sum, x, Isa::broadcast(coefficients[i]));
  return sum;
}

// e^(-half * u^2), with all digits of the square, for half * u^2 <= 128; half is 1/2 or 1.
template <class Isa>
ATTEND_ALWAYS_INLINE Power<Isa> bell(typename Isa::Vec u, float half) {
  using Vec = typename Isa::Vec;
  const Vec minus_u = Isa::sub(Isa::zero(), u), by = Isa::broadcast(half * log2_e);
  const Vec factor = Isa::mul(u, by);
  const Vec rest = Isa::fma(u, Isa::broadcast(half * log2_e_rest), Isa::fma(u, by, Isa::sub(Isa::zero(), factor)));
  return power_of_two<Isa>(minus_u, factor, rest);
}

// The polynomial of tails: the probability that a normally distributed number is above u, divided by e^(-u^2 / 2),
// for 1 <= u <= 16; some number below.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec tail_ratio(typename Isa::Vec u) {
  const typename Isa::Vec one = Isa::broadcast(1.0f);
  const typename Isa::Vec w = near_quotient<Isa>(one, Isa::fma(u, Isa::broadcast(0.375f), one));
  return Isa::mul(w, polynomial<Isa>(tail_coefficients, w));
}

template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec error_function(typename Isa::Vec x) {
  using Vec = typename Isa::Vec;
  const Vec size = Isa::min(size_of<Isa>(x), Isa::broadcast(4.0f)), one = Isa::broadcast(1.0f);
  const Vec small = Isa::fma(size, polynomial<Isa>(erf_coefficients, Isa::mul(size, size)), size);
  const Vec twice = Isa::mul(tail_ratio<Isa>(Isa::mul(size, Isa::broadcast(apart(1.4142135f)))), Isa::broadcast(-2.0f));
  const Vec large = Isa::fma(twice, small_number<Isa>(bell<Isa>(size, 1.0f)), one);
  const Vec sized = where_at_least<Isa>(size, one, large, small);
  return where_at_least<Isa>(x, Isa::zero(), sized, Isa::sub(Isa::zero(), sized));
}
