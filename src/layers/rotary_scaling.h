// Rotary positions beyond the positions that a model was trained on: how its published parameters change the turns of pairs,
// and what cosines and sines are multiplied by. In whole numbers throughout, so that angles have the same bits on every target.

namespace attend::ATTEND_ISA {
namespace {

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

// As llama3, but interpolated by the number of the pair, between pairs that turn `fast` and `slow` times (Peng et al., YaRN,
// 2023).
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
  const uint64_t of_positions = fixed_log2(whole_to_float(scaling.original_positions));
  const uint64_t square = ((1 + logarithm / of_positions) << 58) + (fraction_of(logarithm % of_positions, of_positions) >> 5);
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

}  // namespace
}  // namespace attend::ATTEND_ISA
