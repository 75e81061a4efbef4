// The softmax of integer attention: what decides its bits, in plain C++ without a branch that depends on data, so that the time
// of a call depends on its shape and its mask alone.
//
//   weight of a score d below the largest of its chunk: 2^-t, t = (d >> right) * factor / 2^16 + fraction, in 2048ths
//   2^-t = 2^-(t / 2048) * polynomial(t % 2048), rounded to a multiple of 2^-15

// Lower than any score, and no score is so far below another: 4096 products of at most 2^15.
constexpr int32_t masked_integer_score = -(1 << 30);

// 2^16 * 2^-x = c0 - x * (c1 - x * (c2 - x * c3)), x in 0 … 1, each product rounded down to 16 bits; off by less than 1e-4.
constexpr uint32_t exp2_c0 = 65531, exp2_c1 = 45287, exp2_c2 = 15075, exp2_c3 = 2554;

// Where weights are zero, in 2048ths of an octave before `fraction` is added: 15 octaves.
constexpr int32_t weight_octave_bits = 11;
constexpr int32_t weight_end = 15 << weight_octave_bits;

constexpr int32_t lowest_exponent = -(1 << 29);  // of a row that has seen nothing

// The exponent of a chunk in which a row sees no key: its weights add nothing to the row's sums, because it is too far below
// theirs, even below lowest_exponent.
constexpr int32_t exponent_of_nothing = lowest_exponent - 32;

// Whether code is to be small rather than fast.
#ifdef __OPTIMIZE_SIZE__
constexpr bool code_is_small = true;
#else
constexpr bool code_is_small = false;
#endif

inline int32_t larger_of(int32_t a, int32_t b) { return a - ((a - b) & ((a - b) >> 31)); }
inline int32_t smaller_of_numbers(int32_t a, int32_t b) { return b + ((a - b) & ((a - b) >> 31)); }

// The scale of a chunk's weights: 2^exponent, the first whole power above the weight of its largest score.
// (fraction: 1 … 2048, that power minus the largest score.)
struct Reference {
  int32_t exponent;
  uint32_t fraction;
};

// |largest| <= 2^27. The product with the factor has up to 44 bits, in two words.
ATTEND_ALWAYS_INLINE Reference reference_of(int32_t largest, const core::ScoreScale& scale) {
  const uint32_t factor = scale.factor >> scale.left;
  const uint32_t low = (uint32_t(largest) & 0xffffu) * factor;
  const int32_t high = (largest >> 16) * int32_t(factor) + int32_t(low >> 16);
  const int32_t shifted = high >> scale.right;
  const uint32_t steps = (uint32_t(shifted) << scale.left) | ((low & 0xffffu) >> (16 - scale.left));
  return {(shifted >> (weight_octave_bits - scale.left)) + 1, 2048 - (steps & 2047)};
}

// distance: how far a score is below the largest, >= 0.
ATTEND_ALWAYS_INLINE uint32_t weight_of(int32_t distance, const core::ScoreScale& scale, uint32_t fraction) {
  const uint32_t shifted = uint32_t(distance) >> scale.right;
  const uint32_t t =
      ((shifted * scale.factor) >> 16) + (fraction + (11 << weight_octave_bits));  // no meaning from scale.end on
  const uint32_t x = t & 2047;
  uint32_t power = exp2_c2 - ((x * exp2_c3) >> 11);
  power = exp2_c1 - ((x * power) >> 11);
  // exp2_c0 - ((x * power) >> 11) with 11 bits more, which the shift by octaves takes away: t has 11 of these more.
  const uint32_t longer = (exp2_c0 << 11 | 2047) - x * power;
  const uint32_t weight = ((longer >> ((t >> weight_octave_bits) & 31)) + 1) >> 1;
  // All ones where shifted < scale.end.
  return weight & (0u - ((shifted - scale.end) >> 31));
}

// A row's sums so far: value sums are in 2^-7 of (2^exponent * a step of the values), the denominator in 2^-15 * 2^exponent.
struct IntegerSoftmaxState {
  int32_t exponent;
  uint32_t denominator;
};

// The shifts that bring sums to a common exponent:  sum = (sum >> total) + ((chunk + half) >> chunk).
struct Merge {
  int32_t total;
  int32_t chunk;
  int32_t half;
};

// Adds a chunk's denominator to a state, and returns how its value sums are added. The added value sums are shifted by `scaled`
// bits more: by 8 for a chunk, whose weights have 15 bits. Further below counts as 30 bits below.
ATTEND_ALWAYS_INLINE Merge merge_scaled(IntegerSoftmaxState& state, int32_t exponent, uint32_t denominator, int scaled) {
  const int32_t common = larger_of(state.exponent, exponent);
  const int32_t old = smaller_of_numbers(common - state.exponent, 31);
  const int32_t added = smaller_of_numbers(common - exponent, 30 - scaled);
  state.exponent = common;
  state.denominator = (state.denominator >> old) + ((denominator + ((1u << added) >> 1)) >> added);
  return {old, added + scaled, int32_t((1u << (added + scaled)) >> 1)};
}

inline ATTEND_NOINLINE void merge_called(IntegerSoftmaxState& state, int32_t exponent, uint32_t denominator, int scaled,
                                         Merge& merge) {
  merge = merge_scaled(state, exponent, denominator, scaled);
}

template <int scaled>
void merge(IntegerSoftmaxState& state, int32_t exponent, uint32_t denominator, Merge& merge) {
  if constexpr (code_is_small) return merge_called(state, exponent, denominator, scaled, merge);
  merge = merge_scaled(state, exponent, denominator, scaled);
}

constexpr Merge adds_nothing = {0, 30, 1 << 29};

// The number of zero bits before the first one of a number above 0.
inline int32_t leading_zeros(uint32_t a) {
#if defined(ATTEND_LEADING_ZEROS) && (ATTEND_X86 || defined(__aarch64__) || defined(__ARM_FEATURE_CLZ))
  return ATTEND_LEADING_ZEROS(a);
#else
  int32_t zeros = 0;
  for (int32_t bits = 16; bits > 0; bits >>= 1) {
    const int32_t none = int32_t(((a >> (32 - bits)) - 1) >> 31) * bits;  // a's first bits are all zero
    zeros += none;
    a <<= none;
  }
  return zeros;
#endif
}

// floor(a / b), b in 2^15 … 2^16, a < 2^32, and the quotient below 2^17.
ATTEND_ALWAYS_INLINE uint32_t quotient(uint32_t a, uint32_t b) {
#if ATTEND_X86 || defined(__aarch64__) || defined(__ARM_FEATURE_IDIV) || defined(__riscv_div)
  return a / b;
#else
  uint32_t rest = a >> 17, result = 0;
  for (int bit = 16; bit >= 0; --bit) {
    rest = (rest << 1) | ((a >> bit) & 1);
    const uint32_t fits = ~(0u - ((rest - b) >> 31));  // all ones where rest >= b: both are below 2^31
    rest -= b & fits;
    result = (result << 1) - fits;  // adds 1 where it fits
  }
  return result;
#endif
}

// (a * b) >> 32 of b >= 0.
inline int32_t high_product(int32_t a, int32_t b) {
#if defined(__arm__) && !defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
  // Without an instruction that gives 64 bits.
  const uint32_t low_a = uint32_t(a) & 0xffffu, low_b = uint32_t(b) & 0xffffu;
  const int32_t high_a = a >> 16, high_b = b >> 16;
  const int32_t middle = high_a * int32_t(low_b) + int32_t((low_a * low_b) >> 16);
  const int32_t other = int32_t(low_a) * high_b + (middle & 0xffff);
  return high_a * high_b + (middle >> 16) + (other >> 16);
#else
  return int32_t((int64_t(a) * b) >> 32);
#endif
}

// The factors that turn the sums of a row into outputs.
struct RowEnd {
  int32_t left;    // sums are shifted left by this …
  int32_t zero;    // … halved, and lessened by this,
  int32_t factor;  // multiplied by this / 2^32,
  int32_t shift;   // divided by 2^this, rounded to the nearest, ties up,
  int32_t offset;  // and moved by this
};

// One reciprocal for a row. A row that has seen nothing has the value 0; and one whose denominator is above all that keys can
// add up to, 2^31 - 1, which somebody has made up.
ATTEND_ALWAYS_INLINE RowEnd row_end(const IntegerSoftmaxState& state, const core::OutputScale& scale) {
  if (int32_t(state.denominator) <= 0) return {0, 0, 0, 1, scale.zero};
  const int32_t left = leading_zeros(state.denominator) - 1;
  const uint32_t denominator = state.denominator << left;  // 2^30 … 2^31 - 1
  const uint32_t divisor = (denominator + (1u << 14)) >> 15;
  const uint32_t reciprocal = quotient((1u << 31) + (divisor >> 1), divisor);  // 2^15 … 2^16
  return {left, scale.value_zero * int32_t(denominator >> 9), int32_t(reciprocal * uint32_t(scale.factor)), scale.shift + 5,
          scale.zero};
}

// Before it is clamped to the output's range.
inline int32_t output_of(int32_t sum, const RowEnd& end) {
  const int32_t aligned = (int32_t(uint32_t(sum) << end.left) >> 1) - end.zero;
  return ((high_product(aligned, end.factor) + ((1 << end.shift) >> 1)) >> end.shift) + end.offset;
}

// As a float, rounded to 24 bits toward zero, and without the offset.
inline float unrounded_output_of(int32_t sum, const RowEnd& end) {
  const int32_t aligned = (int32_t(uint32_t(sum) << end.left) >> 1) - end.zero;
  const int32_t number = high_product(aligned, end.factor);
  if (number == 0) return 0.0f;
  const uint32_t size = number < 0 ? 0u - uint32_t(number) : uint32_t(number);  // below 2^30
  const int32_t zeros = leading_zeros(size);
  return bits_to<float>((number < 0 ? 0x80000000u : 0u) | (uint32_t(127 + 31 - zeros - end.shift) << 23) |
                        ((size << zeros >> 8) & 0x7fffffu));
}

inline int32_t clamped(int32_t a, int32_t low, int32_t high) { return larger_of(smaller_of_numbers(a, high), low); }
