// Rotary positions: pairs of numbers turn by angles that grow with the position (Su et al., RoFormer, 2021).
//
//   a' = a * cos - b * sin        b' = b * cos + a * sin
//
// each as one product, rounded, and one fused multiply-add.

// Angles as fractions of a turn in 64-bit fixed point: 2^64 is a whole turn, so that turns vanish by themselves, and products
// with positions are exact.

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
  const uint64_t divided = (quotient << 23) + (rest << 23) / digits;
  const int exponent = int(bits >> 23) - 127;
  return exponent < 0 ? divided << -exponent : divided >> exponent;
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

// Turns pairs whose first and second numbers lie in two runs, as many as lanes.
template <class Isa>
ATTEND_ALWAYS_INLINE void rotate_vectors(float* a, float* b, const float* cosines, const float* sines, int step_size) {
  using Vec = typename Isa::Vec;
  const Vec x = load_some<Isa>(a, step_size), y = load_some<Isa>(b, step_size);
  const Vec cosine = load_some<Isa>(cosines, step_size), sine = load_some<Isa>(sines, step_size);
  store_some<Isa>(a, Isa::fma(y, Isa::sub(Isa::zero(), sine), Isa::mul(x, cosine)), step_size);
  store_some<Isa>(b, Isa::fma(y, cosine, Isa::mul(x, sine)), step_size);
}

// Turns some pairs of all heads of a token.
template <class Isa>
void rotate_token(const core::Rotation& r) {
  float* x = r.first;
  for (int head = 0; head < r.heads; ++head, x += r.head_stride) {
    if (r.partner == 1) {  // pairs are neighbours, and go one after the other
      for (int i = 0; i < r.pairs; ++i) rotate_vectors<Scalar>(x + 2 * i, x + 2 * i + 1, r.cosines + i, r.sines + i, 1);
    } else {
      for_each_vector<Isa>(r.pairs, [&](int i, int step_size) ATTEND_INLINE_LAMBDA {
        rotate_vectors<Isa>(x + i, x + i + r.partner, r.cosines + i, r.sines + i, step_size);
      });
    }
  }
}

// Rotary positions beyond the positions that a model was trained on: how its published parameters change the turns of pairs,
// and what cosines and sines are multiplied by. In whole numbers throughout, so that angles have the same bits on every target.

// a / b in units of 2^-63, for a < b < 2^63: long division.
inline uint64_t fraction_of(uint64_t a, uint64_t b) {
  uint64_t quotient = 0;
  for (int bit = 0; bit < 63; ++bit) {
    a <<= 1;
    quotient = quotient << 1 | (a >= b ? 1u : 0u);
    if (a >= b) a -= b;
  }
  return quotient;
}

constexpr uint64_t one = uint64_t(1) << 63;

// Between two turns, slow <= fast: the slow one at 0, the fast one at `one`, both exactly.
inline uint64_t turn_between(uint64_t slow, uint64_t fast, uint64_t at) {
  return at == one ? fast : slow + (multiply_high(fast - slow, at) << 1);
}

// How far `at` lies on the way from `low` to `high`, in units of 2^-63, at most one.
inline uint64_t ramp(int64_t at, int64_t low, int64_t high) {
  return at <= low ? 0 : at >= high ? one : fraction_of(uint64_t(at - low), uint64_t(high - low));
}

// Numbers of rotations and of pairs are in units of 2^-40. Of a float from 1 to 65536, exactly:
constexpr int ramp_bits = 40;
inline int64_t in_ramp_units(float a) {
  const uint32_t bits = bits_to<uint32_t>(a);
  return int64_t((bits & 0x7fffffu) | 0x800000u) << (ramp_bits - 23 + int(bits >> 23) - 127);
}

// Slow pairs turn `factor` times more slowly, fast ones as they did; what lies between is interpolated by how often a pair
// turns in the original positions (Llama 3.1).
inline void scale_as_llama3(const core::RotaryScaling& scaling, int pairs, uint64_t* turns) {
  const int64_t low = in_ramp_units(scaling.slow), high = in_ramp_units(scaling.fast);
  for (int i = 0; i < pairs; ++i) {
    // Turns are below 2^62.
    const uint64_t positions = uint64_t(scaling.original_positions) << (ramp_bits - 2);
    const int64_t rotations = int64_t(multiply_high(turns[i] << 2, positions));
    turns[i] = turn_between(turn_over(turns[i], scaling.factor), turns[i], ramp(rotations, low, high));
  }
}

// The pair, as a fraction, that turns so often in the original positions: pairs * log(positions / (2 pi rotations)) /
// log(base), from 0 to 2 * pairs - 1. Published code limits each of YaRN's two bounds on one side only; it differs where both
// lie past the same end.
inline int64_t pair_that_turns(float rotations, const core::RotaryScaling& scaling, float base, int pairs) {
  constexpr uint64_t log2_of_two_pi = 0x54d90e6931bbeebu;  // 2.6514961294723188 in units of 2^-57
  const uint64_t positions = fixed_log2(whole_to_float(scaling.original_positions));
  const uint64_t below = fixed_log2(rotations) + log2_of_two_pi, log_of_base = fixed_log2(base);
  if (positions <= below) return 0;
  const int64_t last = int64_t(2 * pairs - 1) << ramp_bits;
  if ((positions - below) / 2 >= log_of_base) return last;
  // The quotient is below 2.
  const int64_t pair =
      int64_t(multiply_high(fraction_of((positions - below) / 2, log_of_base), uint64_t(pairs) << (ramp_bits + 2)));
  return pair < last ? pair : last;
}

// As llama3, but interpolated by the number of the pair, between those that turn `fast` and `slow` times (Peng et al., 2023).
inline void scale_as_yarn(const core::RotaryScaling& scaling, float base, int pairs, uint64_t* turns) {
  constexpr int64_t whole = int64_t(1) << ramp_bits;
  int64_t low = pair_that_turns(scaling.fast, scaling, base, pairs), high = pair_that_turns(scaling.slow, scaling, base, pairs);
  if (!scaling.fractions) {
    low = low & -whole;
    high = (high + whole - 1) & -whole;
  }
  if (high <= low) high = low + whole / 1000;
  for (int i = 0; i < pairs; ++i) {
    turns[i] = turn_between(turn_over(turns[i], scaling.factor), turns[i], one - ramp(i * whole, low, high));
  }
}

// 1 + ln(factor) / 10 for YaRN, sqrt(1 + log(factor) / log(original positions)) for LongRoPE (Ding et al., 2024): rounded
// once.
inline float usual_attention_factor(const core::RotaryScaling& scaling) {
  const uint64_t logarithm = fixed_log2(scaling.factor);
  if (scaling.kind == core::RotaryKind::yarn) {
    const uint64_t number = (uint64_t(1) << 57) + multiply_high(logarithm, ln_2_digits) / 10;
    return FloatArithmetic::mul(whole_to_float(int64_t(number >> 21)), 1.4551915e-11f);  // 2^-36
  }
  if (scaling.kind != core::RotaryKind::long_rope) return 1.0f;
  // 1 + the quotient of logarithms, at most 17, in units of 2^-58; its root in units of 2^-29.
  const uint64_t log_context = fixed_log2(whole_to_float(scaling.original_positions));
  const uint64_t square = ((1 + logarithm / log_context) << 58) + (fraction_of(logarithm % log_context, log_context) >> 5);
  uint64_t root = 0;
  for (uint64_t bit = uint64_t(1) << 31; bit != 0; bit >>= 1) {
    if ((root | bit) * (root | bit) <= square) root |= bit;
  }
  return FloatArithmetic::mul(whole_to_float(int64_t(root)), 1.8626451e-09f);  // 2^-29
}

// radians < 4 as a fraction of a turn.
inline uint64_t turn_of(double radians) {
  const uint64_t bits = bits_to<uint64_t>(radians), digits = (bits & 0xfffffffffffffu) | 0x10000000000000u;
  const int exponent = int(bits >> 52) - 1023;                // 1 at most, of what is in range
  const uint64_t turn = multiply_high(digits << 11, radian);  // of 2 * radians / 2^exponent, in units of 2^-63
  return exponent < -62 ? 0 : exponent > 0 ? turn << 2 : turn << 1 >> -exponent;
}
