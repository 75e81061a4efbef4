// Division and roots without an instruction for them, by Newton's iteration: the same on every target.

// -1 / a within 0.501 units in the last place, for -2^40 < a <= -1, by Newton's iteration from a guess by the bits: the same on
// every target, and faster than division where vectors are wide.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec near_minus_reciprocal(typename Isa::Vec a) {
  using Vec = typename Isa::Vec;
  const Vec one = Isa::broadcast(1.0f);
  Vec y = Isa::minus_reciprocal_guess(a);
  ATTEND_UNROLL
  for (int step = 0; step < 3; ++step) y = Isa::fma(y, Isa::fma(a, y, one), y);
  return y;
}

// a / b for 1 <= b < 2^40, rounded correctly but for rare cases in which the last bit is the neighbour's: the remainder of a
// first quotient is exact, and corrects it.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec near_quotient(typename Isa::Vec a, typename Isa::Vec b) {
  using Vec = typename Isa::Vec;
  const Vec minus_b = Isa::sub(Isa::zero(), b), reciprocal = near_minus_reciprocal<Isa>(minus_b);
  const Vec quotient = Isa::mul(a, reciprocal);
  return Isa::fma(Isa::fma(minus_b, quotient, a), reciprocal, quotient);
}

// 1 / sqrt(a) for a >= 2^-126, within 0.5001 units in the last place; 0 for infinity, NaN for NaN.
//
// Newton's iteration from a guess by the bits, whose error of 3.5 % shrinks to 1.8e-3, 4.8e-6 and a last bit in three steps.
// The fourth, like the others, takes the rounding of its product into account, and rounds almost every result correctly.
inline float reciprocal_root(float a) {
  using F = FloatArithmetic;
  if (!is_finite(a)) return magnitude(a) == 0x7f800000u ? 0.0f : a;
  float y = bits_to<float>(0x5f3759dfu - (bits_to<uint32_t>(a) >> 1));
  for (int step = 0; step < 4; ++step) {
    const float product = F::mul(a, y), minus = bits_to<float>(bits_to<uint32_t>(product) ^ 0x80000000u);
    const float minus_rest = F::fma(F::sub(0.0f, a), y, product);  // what the product was rounded by
    const float short_of_one = F::fma(minus_rest, y, F::fma(minus, y, 1.0f));
    y = F::fma(F::mul(0.5f, y), short_of_one, y);
  }
  return y;
}
