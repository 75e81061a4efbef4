// Arithmetic of floats with integers, for processors without a floating-point unit: rounded to nearest, ties to even.
//
// Half the size of a compiler's own routines, because everything is one multiply-add: a + b = a * 1 + b. The sign of a zero is
// not kept, and a NaN is some quiet NaN.

constexpr uint32_t soft_infinity = 0x7f800000u;
constexpr uint32_t soft_nan = 0x7fc00000u;

// The last bit of a number after `lost` was cut off from it: 1 unless `lost` is 0.
inline uint32_t trace(uint32_t lost) { return lost != 0 ? 1 : 0; }

#if !ATTEND_SOFT_SUM_THUMB

// a * b / 2, for a and b of 32 bits whose last 8 are zero.
inline Words half_product(uint32_t a, uint32_t b) {
  const uint64_t product = uint64_t(a >> 1) * b;
  return {uint32_t(product >> 32), uint32_t(product)};
}

inline uint64_t joined(Words a) { return uint64_t(a.high) << 32 | a.low; }

inline Words sum_of(Words a, Words b) {
  const uint64_t sum = joined(a) + joined(b);
  return {uint32_t(sum >> 32), uint32_t(sum)};
}

inline Words difference_of(Words a, Words b) {
  const uint64_t difference = joined(a) - joined(b);
  return {uint32_t(difference >> 32), uint32_t(difference)};
}

inline int32_t leading_zeros(uint32_t a);  // integer_softmax.h

// Shifts a, whose upper word has a bit below its last but one or there, until that is set.
inline int zeros_shifted_out(Words& a) {
#if defined(ATTEND_LEADING_ZEROS)
  const int zeros = ATTEND_LEADING_ZEROS(a.high) - 1;
#else
  const int zeros = leading_zeros(a.high) - 1;
#endif
  a = {a.high << zeros | a.low >> 1 >> (31 - zeros), a.low << zeros};
  return zeros;
}

// Adds `other`, of the sign of c, to a sum of the sign of the product: both change where c is larger.
ATTEND_ALWAYS_INLINE void add_signed(Words& sum, const Words& other, int& exponent, uint32_t& sign, uint32_t c_bits) {
  if (int32_t(c_bits ^ sign) >= 0) {
    sum = sum_of(sum, other);
    if (int32_t(sum.high) < 0) {
      sum = {sum.high >> 1, sum.low | (sum.high & 1)};  // only whether the lower word is 0 counts from here on
      ++exponent;
    }
  } else {
    sum = difference_of(sum, other);
    if (int32_t(sum.high) < 0) {
      sum = difference_of({0, 0}, sum);
      sign = c_bits;
    }
  }
}

#endif

// a * b + c where one of them is infinite or NaN, or the product is 0. Takes bits: if it took floats, the caller would keep a
// copy of the bits beside them.
ATTEND_NOINLINE inline float soft_special(uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t infinity = soft_infinity, product_sign = (a ^ b) & 0x80000000u;
  const uint32_t a_size = a & 0x7fffffffu, b_size = b & 0x7fffffffu, c_size = c & 0x7fffffffu;
  const bool infinite = a_size == infinity || b_size == infinity;
  if (a_size > infinity || b_size > infinity || c_size > infinity || (infinite && (a_size == 0 || b_size == 0)) ||
      (infinite && c_size == infinity && (c ^ product_sign) != infinity)) {
    return bits_to<float>(soft_nan);
  }
  return bits_to<float>(infinite ? product_sign | infinity : c);
}

// The float nearest to a sum whose highest digit is the last but one of the upper word.
ATTEND_ALWAYS_INLINE float rounded_sum(const Words& sum, int exponent, uint32_t sign) {
  --exponent;
  uint32_t digits = sum.high | trace(sum.low);
  if (ATTEND_EXPECT(unsigned(exponent) >= 254, 0)) {
    if (exponent >= 0) return bits_to<float>(sign | soft_infinity);
    const int down = exponent < -31 ? 31 : -exponent;  // subnormal: the digits move down again
    digits = digits >> down | trace(digits << 1 << (31 - down));
    exponent = 0;
  }
  // The highest digit adds 1 to the exponent; so does a carry out of the digits.
  return bits_to<float>(sign + (uint32_t(exponent) << 23) + ((digits + 63 + (digits >> 7 & 1)) >> 7));
}

// a * b + c
ATTEND_HOT ATTEND_NOINLINE inline float soft_fma(float a, float b, float c) {
  uint32_t a_bits = bits_to<uint32_t>(a), b_bits = bits_to<uint32_t>(b), c_bits = bits_to<uint32_t>(c);
  int a_exponent, b_exponent, exponent;
  for (;;) {
    a_exponent = int(a_bits << 1 >> 24), b_exponent = int(b_bits << 1 >> 24), exponent = int(c_bits << 1 >> 24);
    if (ATTEND_EXPECT(unsigned(a_exponent - 1) < 254 && unsigned(b_exponent - 1) < 254 && exponent != 255, 1)) break;
    const uint32_t a_size = opaque(a_bits) << 1, b_size = opaque(b_bits) << 1;  // or they are kept from above
    if (a_exponent == 255 || b_exponent == 255 || exponent == 255 || a_size == 0 || b_size == 0)
      return soft_special(a_bits, b_bits, c_bits);
    // A subnormal factor takes powers of two from the other one. Where that is small as well, the product is so far below all
    // floats that any such number does for it.
    const uint32_t sign = (a_bits ^ b_bits) & 0x80000000u;
    a_bits = (a_exponent == 0 ? a_size : b_size) >> 1;
    b_bits = (a_exponent == 0 ? b_size : a_size) >> 1;
    if (b_bits < 64u << 23) a_bits = b_bits = 32u << 23;
    for (; a_bits < 1u << 23; a_bits <<= 1) b_bits -= 1u << 23;
    b_bits |= sign;
  }
#if ATTEND_SOFT_SUM_THUMB
  uint32_t sign;
  a_exponent += b_exponent - 126;
  const Words sum = thumb_sum(a_bits, b_bits, c_bits, exponent, a_exponent, sign);
  return rounded_sum(sum, a_exponent, sign);
#else
  // Both terms as 63 bits: the product exact, and 39 zeros below the digits of c. The one with the smaller exponent moves down.
  uint32_t sign = a_bits ^ b_bits;
  int apart = a_exponent + b_exponent - 126;
  Words sum = half_product(a_bits << 8 | 0x80000000u, b_bits << 8 | 0x80000000u);
  Words other = {c_bits << 8 >> 1, 0};
  if (exponent != 0) {
    other.high |= 0x40000000u;
  } else {  // zero or subnormal: the highest bit is not implied
    exponent = 1;
  }
  apart -= exponent;
  if (apart >= 0) {
    exponent += apart;
    if (apart < 32) {
      other = {other.high >> apart, other.high << 1 << (31 - apart)};
    } else {
      apart -= 32;
      other = {0, apart < 32 ? other.high >> apart | trace(other.high << 1 << (31 - apart)) : trace(other.high)};
    }
  } else {
    apart = -apart;
    if (apart >= 32) {
      apart -= 32;
      sum = {0, sum.high | trace(sum.low)};
      if (apart >= 32) sum.low = 1, apart = 0;
    }
    const int rest = 31 - apart;
    sum = {sum.high >> apart, sum.high << 1 << rest | sum.low >> apart | trace(sum.low << 1 << rest)};
  }
  add_signed(sum, other, exponent, sign, c_bits);
  if (sum.high == 0) {
    if (sum.low == 0) return 0.0f;
    sum = {sum.low >> 1 | (sum.low & 1), 0};
    exponent -= 31;
  }
  exponent -= zeros_shifted_out(sum);
  return rounded_sum(sum, exponent, sign & 0x80000000u);
#endif
}

// 1 / a, digit by digit.
ATTEND_HOT ATTEND_NOINLINE inline float soft_reciprocal(float a) {
  const uint32_t bits = bits_to<uint32_t>(a), size = bits << 1, sign = bits & 0x80000000u;
  if (size > soft_infinity << 1) return a;
  if (size == soft_infinity << 1) return 0.0f;
  if (size <= 0x200000u << 1) return bits_to<float>(sign | soft_infinity);  // 1 / 2^-128 is too large
  int exponent = int(size >> 24);
  uint32_t divisor = (bits & 0x7fffffu) | 0x800000u;
  if (exponent == 0) {
    divisor = size >> 1;
    for (exponent = 1; divisor < 0x800000u; divisor <<= 1) --exponent;
  }
  uint32_t quotient = 0, remainder = 0x800000u;
  for (int digit = 0; digit < 31; ++digit) {
    quotient <<= 1;
    if (remainder >= divisor) {
      remainder -= divisor;
      quotient |= 1;
    }
    remainder <<= 1;
  }
  // 2^30 for a power of two, otherwise less, but more than 2^29. No quotient is half way between two floats.
  exponent = 253 - exponent;
  if (quotient < 0x40000000u) quotient <<= 1, --exponent;
  if (exponent < 0) quotient >>= -exponent, exponent = 0;
  return bits_to<float>(sign + (uint32_t(exponent) << 23) + ((quotient + 64) >> 7));
}

// a < b; false where one is NaN.
ATTEND_HOT ATTEND_NOINLINE inline bool soft_less(float a, float b) {
  const int32_t a_bits = bits_to<int32_t>(a), b_bits = bits_to<int32_t>(b);
  const uint32_t a_size = uint32_t(a_bits) << 1, b_size = uint32_t(b_bits) << 1;
  if (a_size > soft_infinity << 1 || b_size > soft_infinity << 1 || (a_size | b_size) == 0) return false;
  return (a_bits & b_bits) < 0 ? a_bits > b_bits : a_bits < b_bits;
}

// The whole number that is left of a without its fraction; |a| < 2^31. 0 for infinities and NaN.
inline int32_t soft_truncated(float a) {
  const uint32_t bits = bits_to<uint32_t>(a);
  const int shift = 158 - int(bits >> 23 & 255);
  if (unsigned(shift) > 31) return 0;
  const int32_t whole = int32_t((0x80000000u | bits << 8) >> shift);
  return int32_t(bits) < 0 ? -whole : whole;
}

// The float of a whole number, for processors without such an instruction: the highest digit moves up to where it is implied,
// the lowest bit of the exponent, and raises that by one.
inline float soft_widen(int number) {
  const int sign = number >> 31;  // 0 or -1
  uint32_t digits = uint32_t((number ^ sign) - sign) << 25;
  if (digits == 0) return number == 0 ? 0.0f : -128.0f;
  int exponent = 127 + 5 - sign * 256;
#if defined(ATTEND_LEADING_ZEROS) && defined(__ARM_FEATURE_CLZ)
  const int zeros = ATTEND_LEADING_ZEROS(digits);
  digits <<= zeros;
  exponent -= zeros;
#else
  for (; int32_t(digits) >= 0; digits <<= 1) --exponent;
#endif
  return bits_to<float>((uint32_t(exponent) << 23) + (digits >> 8));
}
