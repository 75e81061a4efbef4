// Angles as fractions of a turn in 64-bit fixed point: 2^64 is a whole turn, so that turns vanish by themselves, and products
// with positions are exact.

namespace attend::ATTEND_ISA {
namespace {

// The upper half of the product of two numbers of 64 bits.
inline uint64_t multiply_high(uint64_t a, uint64_t b) {
  const uint64_t a_low = uint32_t(a), a_high = a >> 32, b_low = uint32_t(b), b_high = b >> 32;
  const uint64_t middle = a_high * b_low + (a_low * b_low >> 32);  // never above 2^64
  const uint64_t other = a_low * b_high + uint32_t(middle);
  return a_high * b_high + (middle >> 32) + (other >> 32);
}

// log2(a) in units of 2^-57, within 2^-56, for 1 <= a < 2^64: one bit for each squaring.
inline uint64_t fixed_log2(float a) {
  const uint32_t bits = bits_to<uint32_t>(a);
  uint64_t digits = uint64_t((bits & 0x7fffffu) | 0x800000u) << 40, logarithm = (bits >> 23) - 127;
  for (int bit = 0; bit < 57; ++bit) {
    digits = multiply_high(digits, digits);
    logarithm = logarithm << 1 | digits >> 63;
    if (digits >> 63 == 0) digits <<= 1;
  }
  return logarithm;
}

// ln 2, in units of 2^-64.
constexpr uint64_t ln_2_digits = 0xb17217f7d1cf79acu;

// 2^-y in units of 2^-63, for y in units of 2^-57: the power series of the exponential.
inline uint64_t fixed_exp2_of_minus(uint64_t y) {
  constexpr uint64_t one = uint64_t(1) << 63;
  const uint64_t z = multiply_high(y << 7, ln_2_digits);
  uint64_t sum = one;
  for (unsigned term = 20; term > 0; --term) sum = one - multiply_high(z, sum) / term;
  return sum >> (y >> 57);
}

// One radian, in units of 2^-64 of a turn.
constexpr uint64_t radian = 0x28be60db9391054au;

// turn / divisor, for turn < 2^62 and a divisor from 2^-4 on; whole turns drop out.
inline uint64_t turn_over(uint64_t turn, float divisor) {
  const uint32_t bits = bits_to<uint32_t>(divisor), digits = (bits & 0x7fffffu) | 0x800000u;
  const uint64_t quotient = turn / digits, rest = turn % digits;
  const uint64_t of_digits = (quotient << 23) + (rest << 23) / digits;
  const int exponent = int(bits >> 23) - 127;
  return exponent < 0 ? of_digits << -exponent : of_digits >> exponent;
}

struct CosineAndSine {
  float cosine, sine;
};

// Within 1.2 * 2^-24 of the exact ones.
inline CosineAndSine cosine_and_sine(uint64_t angle) {
  using F = FloatArithmetic;
  constexpr float two_pi = 6.2831855f, two_pi_rest = -1.7484555e-07f;
  const unsigned quarter = unsigned((angle + (uint64_t(1) << 61)) >> 62);
  // Within an eighth of a turn of a multiple of a quarter. Of 64 bits 26 are below what matters.
  const float t = F::mul(whole_to_float(int64_t(angle - (uint64_t(quarter) << 62)) >> 26), 3.637979e-12f),
              square = F::mul(t, t);  // 2^-38
  float c = F::fma(square, 54.65221f, -85.336914f);
  c = F::fma(square, c, 64.93871f);
  c = F::fma(square, c, -19.739208f);
  c = F::fma(square, c, 1.0f);
  float s = F::fma(square, -75.73108f, 81.59962f);
  s = F::fma(square, s, -41.341698f);
  s = F::fma(square, s, two_pi_rest);
  s = F::fma(t, two_pi, F::mul(t, s));
  const auto signed_by = [](float a, unsigned bit) { return bits_to<float>(bits_to<uint32_t>(a) ^ bit << 31); };
  const unsigned cosine_sign = (quarter + 1) >> 1 & 1, sine_sign = quarter >> 1 & 1;
  if ((quarter & 1) != 0) return {signed_by(s, cosine_sign), signed_by(c, sine_sign)};
  return {signed_by(c, cosine_sign), signed_by(s, sine_sign)};
}

}  // namespace
}  // namespace attend::ATTEND_ISA
