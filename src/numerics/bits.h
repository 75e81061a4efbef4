// Values as compilers are to see them: the bits of a float as an integer, and back; values that they must not look through.

template <class To, class From>
To bits_to(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  ATTEND_MEMCPY(&to, &from, sizeof to);
  return to;
}

// |a| as an integer that orders floats like their size, NaN above infinity.
inline uint32_t magnitude(float a) { return bits_to<uint32_t>(a) & 0x7fffffffu; }

inline bool is_finite(float a) { return magnitude(a) < 0x7f800000u; }

constexpr uint32_t minus_infinity = 0xff800000u;

// The same pointer or number, hidden from the compiler: what is read through it is read where it is used, what was added to it
// is not computed in advance, and a loop that runs so often is not unrolled. Otherwise GCC fills the stack with constants and
// addresses of unrolled loops.
template <class T>
T opaque(T value) {
  ATTEND_HIDE(value);
  return value;
}

// A constant that Clang does not know. With -funsafe-math-optimizations it makes one factor of two constant ones, of a product
// and of the multiply-add that takes it, and no pragma forbids that for intrinsics.
inline float apart(float constant) {
#if defined(__clang__)
  return bits_to<float>(opaque(bits_to<uint32_t>(constant)));
#else
  return constant;
#endif
}
