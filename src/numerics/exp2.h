// Powers of two, and the weight of a score.

// 2^f for f in [-1/2, 1/2] within 0.80 units in the last place, and exactly 1 at 0.
//
// The polynomial with float coefficients that has the smallest relative error, 3.7e-9, among those with constant term 1
// (found with Sollya's fpminimax: Brisebarre and Chevillard, 2007); the rest is rounding. Vectors go through it side by side.
ATTEND_HOT_DATA constexpr float exp2_coefficients[] = {0.00015241286f, 0.0013391302f, 0.009618834f, 0.05550359f,
                                                       0.24022645f,    0.6931472f,    1.0f};

template <class Isa, int count>
ATTEND_ALWAYS_INLINE void exp2_fraction(typename Isa::Vec (&f)[count], const float* coefficients = exp2_coefficients) {
  typename Isa::Vec g[count];
  ATTEND_UNROLL
  for (int v = 0; v < count; ++v) g[v] = Isa::broadcast(coefficients[0]);
  ATTEND_UNROLL
  for (int i = 1; i < 7; ++i) {
    ATTEND_UNROLL
    for (int v = 0; v < count; ++v) g[v] = Isa::fma(g[v], f[v], Isa::broadcast(coefficients[i]));
  }
  ATTEND_UNROLL
  for (int v = 0; v < count; ++v) f[v] = g[v];
}

// The smallest whole number that is not below a.
inline float round_up(float a) {
  if (magnitude(a) >= magnitude(8388608.0f)) return a;  // no fraction, or NaN
  const float shift = FloatArithmetic::less(a, 0.0f) ? -8388608.0f : 8388608.0f;
  const float nearest = FloatArithmetic::sub(FloatArithmetic::add(a, shift), shift);
  return FloatArithmetic::less(nearest, a) ? FloatArithmetic::add(nearest, 1.0f) : nearest;
}

// Scores in base 2 become weights 2^(score - max), for a whole number |max| < near_max, score <= max (hosts: max + above_max).
//
// The polynomial sees only the score's own fraction, never max, and max only moves the exponent. So whatever max was when a
// key's turn came, the weight's digits are the same: that is what makes blocks of any size give the same bits.
// Minus infinity has weight 0; NaN has NaN.
//
// Adding 1.5 * 2^23 rounds a score to a whole number and leaves that in the low bits, from where a shift brings it into an
// exponent. Scores too low for that have weight 0 in any case.
constexpr float near_max = 2097152.0f;      // 2^21
constexpr float whole_shift = 12582912.0f;  // 1.5 * 2^23

// An even whole number that may be subtracted from scores and max alike where |max| >= near_max. There, scores within reach of
// max lose nothing by it, and being even it leaves ties as they are; all other scores have weight 0 before and after.
inline float even_reference(float max) { return FloatArithmetic::mul(2.0f, round_up(FloatArithmetic::mul(0.5f, max))); }

constexpr float log2_e = 1.442695f, ln_2 = 0.6931472f;

// A whole number as a float, rounded to the nearest once. Some targets have no instruction for it.
inline float whole_to_float(int64_t a) {
  const auto small = [](int n) { return FloatArithmetic::sub(bits_to<float>(0x4b400000u + uint32_t(n)), whole_shift); };
  return FloatArithmetic::fma(small(int(a >> 16)), 65536.0f, small(int(a & 0xffff)));
}

// 2^y - 1 for y = k + fraction and whole = whole_shift + k: as 2^k * (2^fraction - 1) + (2^k - 1), so that small y lose
// nothing. The polynomial is 2^fraction - 1, within 2.5e-8 of it.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec power_less_one(typename Isa::Vec whole, typename Isa::Vec fraction) {
  using Vec = typename Isa::Vec;
  Vec g = Isa::broadcast(exp2_coefficients[0]);
  ATTEND_UNROLL
  for (int i = 1; i < 6; ++i) g = Isa::fma(g, fraction, Isa::broadcast(exp2_coefficients[i]));
  const Vec power = Isa::two_to(whole);
  return Isa::fma(power, Isa::mul(g, fraction), Isa::sub(power, Isa::broadcast(1.0f)));
}
