// Numbers in memory other than floats: made floats exactly, and floats rounded to them.
//
//   float16, bfloat16   the nearest number, ties to even
//   int8                one of 127 steps to each side: number = scale * byte, with a scale for the row
//
// A finite number that is so large that the nearest one would be an infinity is told from the rest while it is rounded.
//
// Floats are made and rounded with integers only, so that every target gives the same numbers whatever it flushes, rounds or
// lacks; hosts widen vectors of them with the instructions of their own, which give the same.

// IEEE binary16.
struct Half {
  uint16_t bits;
};

// The upper half of a float.
struct Bfloat {
  uint16_t bits;
};

// The numbers of a format.
template <core::Format format>
struct NumbersOf {
  using Type = float;
};
template <>
struct NumbersOf<core::Format::float16> {
  using Type = Half;
};
template <>
struct NumbersOf<core::Format::bfloat16> {
  using Type = Bfloat;
};
template <>
struct NumbersOf<core::Format::int8> {
  using Type = int8_t;
};
template <core::Format format>
using NumberOf = typename NumbersOf<format>::Type;

template <class Number>
const Number* numbers_of(const void* data) {
  return static_cast<const Number*>(data);
}

// core::format_bytes, which is one function for all sources: the linker could keep a copy with instructions of one backend. Of
// int4 so many numbers are whole groups.
inline ptrdiff_t bytes_of(core::Format format, ptrdiff_t numbers) {
  if (format == core::Format::int4) return numbers / core::int4_group * ptrdiff_t(sizeof(core::Int4Group));
  return numbers * (format == core::Format::float32 ? 4 : format == core::Format::int8 ? 1 : 2);
}

// The same address, some numbers of a format further on.
inline const void* moved(const void* data, ptrdiff_t numbers, core::Format format) {
  return static_cast<const char*>(data) + bytes_of(format, numbers);
}
inline void* moved(void* data, ptrdiff_t numbers, core::Format format) {
  return static_cast<char*>(data) + bytes_of(format, numbers);
}

// Where four bits of a word, from bit `at` on, may stand in a mantissa with few moves: 2^(23 - place) + the number in them is
// the float that has their bits and the bits of the power, and (2^(23 - place) + 8) * a float16 is exact.
constexpr int place_of_bits(int at) { return at == 0 || at == 8 || at == 20 ? 8 : at == 16 || at == 28 ? 16 : 12; }

inline float widen(float number) { return number; }

inline float widen(Half number) {
  constexpr uint32_t one = 1u << 23;  // of the exponent
  const uint32_t sign = uint32_t(number.bits & 0x8000u) << 16, size = uint32_t(number.bits & 0x7fffu) << 13;
  if (size - one < 30 * one) return bits_to<float>(sign | (size + 112 * one));
  if (size >= 31 * one) return bits_to<float>(sign | 0x7f800000u | size | (size > 31 * one ? 0x400000u : 0u));
  if (size == 0) return bits_to<float>(sign);
  uint32_t digits = size, exponent = 113;  // subnormal: the highest digit moves up to where it is implied
  for (; digits < one; digits <<= 1) --exponent;
  return bits_to<float>(sign | ((exponent - 1) * one + digits));
}

inline float widen(Bfloat number) { return bits_to<float>(uint32_t(number.bits) << 16); }

inline float widen(int8_t number) {
#if ATTEND_SOFT_FLOAT
  return soft_widen(number);
#else
  return float(number);
#endif
}

// The magnitude from which on finite numbers are too large for a format, as bits: half a step beyond its largest number.
constexpr uint32_t infinite_bits = 0x7f800000u;
template <class Number>
constexpr uint32_t too_large = infinite_bits;
template <>
constexpr uint32_t too_large<Half> = 0x477ff000u;  // 65520
template <>
constexpr uint32_t too_large<Bfloat> = 0x7f7f8000u;

// Whether a float is finite but too large for a format that ends at `end`.
inline bool is_too_large(float number, uint32_t end) { return magnitude(number) >= end && is_finite(number); }

// Whether no float is too large. Mostly no float is infinite or NaN either, which takes few steps to see.
ATTEND_NOINLINE inline bool all_fit(const float* from, int count, uint32_t end) {
  const uint32_t up = 0x80000000u - end;
  uint32_t sums = 0;
  int i = 0;
  for (; !config::embedded && i + 4 <= count; i += 4) {
    ATTEND_UNROLL
    for (int k = i; k < i + 4; ++k) sums |= magnitude(from[k]) + up;
  }
  for (; i < count; ++i) sums |= magnitude(from[i]) + up;
  bool fit = true;
  for (i = 0; i < count && sums >= 0x80000000u && fit; ++i) fit = !is_too_large(from[i], end);
  return fit;
}

// The nearest number there is, ties to even; infinity where the float is too large. NaN becomes a quiet one.
ATTEND_ALWAYS_INLINE Half to_half(float number) {
  const uint32_t bits = bits_to<uint32_t>(number), size = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
  constexpr uint32_t one = 1u << 23;
  uint32_t rounded = 0;
  if (size >= too_large<Half>) {
    rounded = size > infinite_bits ? 0x7e00u | (size >> 13 & 0x3ffu) : 0x7c00u;
  } else if (size >= 113 * one) {
    rounded = (size - 112 * one + 0xfffu + (size >> 13 & 1)) >> 13;
  } else if (size >= 102 * one) {  // from 2^-25 on: subnormal, units of 2^-24
    const int shift = 126 - int(size >> 23);
    const uint32_t digits = (size & (one - 1)) | one;
    rounded = (digits + (1u << (shift - 1)) - 1 + (digits >> shift & 1)) >> shift;
  }
  return {uint16_t(sign | rounded)};
}

ATTEND_ALWAYS_INLINE Bfloat to_bfloat(float number) {
  const uint32_t bits = bits_to<uint32_t>(number);
  if ((bits & 0x7fffffffu) > infinite_bits) return {uint16_t(bits >> 16 | 0x40u)};
  return {uint16_t((bits + 0x7fffu + (bits >> 16 & 1)) >> 16)};
}

ATTEND_ALWAYS_INLINE void narrow(float number, float* to) { *to = number; }
ATTEND_ALWAYS_INLINE void narrow(float number, Half* to) { *to = to_half(number); }
ATTEND_ALWAYS_INLINE void narrow(float number, Bfloat* to) { *to = to_bfloat(number); }

// Returns the scale, so that the largest number becomes 127 or -127. Sizes are compared as integers. A row with a number that
// is not finite is not converted: its scale is NaN.
inline float narrow_to_bytes(const float* from, int count, int8_t* to, ptrdiff_t stride) {
  using F = FloatArithmetic;
  constexpr uint32_t infinity = 0x7f800000u;
  uint32_t largest = 0;
  for (int i = 0; i < count; ++i) {
    if (magnitude(from[i]) > largest) largest = magnitude(from[i]);
  }
  const float max = bits_to<float>(largest);
  if (largest == 0 || largest >= infinity) {
    for (int i = 0; i < count; ++i) to[i * stride] = 0;
    return largest == 0 ? 0.0f : bits_to<float>(0x7fc00000u);
  }
  // Numbers whose reciprocal may be too large, or which are subnormal, are made larger first; numbers whose reciprocal is
  // subnormal, smaller. 2^-64, 2^64 and 2^126
  const float up = largest < magnitude(5.421011e-20f)     ? 1.8446744e+19f
                   : largest >= magnitude(8.5070592e+37f) ? 5.421011e-20f
                                                          : 1.0f;
  const float factor = F::mul(127.0f, F::reciprocal(F::mul(max, up)));
  for (int i = 0; i < count; ++i) {
    constexpr float shift = 12582912.0f;  // leaves the nearest whole number in the low bits
    const float shifted = F::add(F::mul(F::mul(from[i], up), factor), shift);
    to[i * stride] = int8_t(int32_t(bits_to<uint32_t>(shifted)) - bits_to<int32_t>(shift));
  }
  constexpr float step = 1.0f / 127.0f;
  return F::mul(max, step);
}

// The largest number of a format.
template <class Number>
constexpr uint16_t largest_bits = 0x7bff;
template <>
constexpr uint16_t largest_bits<Bfloat> = 0x7f7f;

// Narrows a number that is not below too_large. (Apart, so that the loop has one comparison for it.)
template <class Number>
ATTEND_NOINLINE bool narrow_largest(float number, Number* to, bool saturates) {
  if (magnitude(number) < too_large<Number>) ATTEND_UNREACHABLE();
  narrow(number, to);
  if (!is_too_large(number, too_large<Number>)) return true;
  if (saturates) to->bits = uint16_t((to->bits & 0x8000u) | largest_bits<Number>);
  return saturates;
}

// Floats as a row of numbers, `stride` apart; not of int8, which needs a scale. Floats that are too large become the largest
// number if it saturates, as bfloat16 always does, which costs it half a step; otherwise an infinity, and the result is false.
template <class Number>
bool narrow_numbers(const float* from, int count, Number* to, ptrdiff_t stride, bool saturates) {
  bool fits = true;
  for (int i = 0; i < count; ++i, to += stride) {
    if (magnitude(from[i]) < too_large<Number>) {
      narrow(from[i], to);
    } else {
      fits = narrow_largest(from[i], to, saturates) && fits;
    }
  }
  return fits;
}
template <>
inline bool narrow_numbers(const float* from, int count, float* to, ptrdiff_t stride, bool /*saturates*/) {
  for (int i = 0; i < count; ++i) to[i * stride] = from[i];
  return true;
}

// Results of a call, which may be infinite.
inline void narrow_row(core::Format format, const float* from, int count, void* to) {
  for (int i = 0; i < count; ++i) {
    if (format == core::Format::float16) {
      narrow(from[i], static_cast<Half*>(to) + i);
    } else if (format == core::Format::bfloat16) {
      narrow(from[i], static_cast<Bfloat*>(to) + i);
    } else {
      narrow(from[i], static_cast<float*>(to) + i);
    }
  }
}

// A row of any format as it is stored; *scale is written where the format has scales.
template <core::Format format>
bool narrow_row_to(const float* from, int count, NumberOf<format>* to, ptrdiff_t stride, float* scale, bool saturates) {
  if constexpr (format == core::Format::int8) {
    *scale = narrow_to_bytes(from, count, to, stride);
    return true;
  } else {
    return narrow_numbers(from, count, to, stride, saturates || !core::has_end(format));
  }
}
