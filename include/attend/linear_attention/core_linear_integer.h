// Linear attention in integers of 8 bits under the typed surface: no float instruction, and as many instructions for any
// numbers. The arithmetic is in src/guide/integers.md.
#pragma once

#include "../core/integer.h"
#include "core_linear_attention.h"

namespace attend::core {

// What two sums are multiplied by, factor / 2^31 * 2^-shift, factor 2^30 … 2^31 - 1: retrieved values, by the square of the
// scale of keys; and outputs, by query scale * key scale * value scale * scale / output scale.
struct [[gnu::may_alias]] LinearScale {
  int32_t retrieved, retrieved_shift;
  int32_t output, output_shift;
};
constexpr bool is_linear_scale(double key_scale, double output_factor) {
  return key_scale >= 1.0 / 65536 && key_scale < 1 && output_factor >= 1.0 / (int64_t(1) << 40) && output_factor < 1.0 / 64;
}
constexpr double linear_output_factor(double query_scale, double key_scale, double value_scale, double scale,
                                      double output_scale) {
  return quotient(product(product(query_scale, key_scale), product(value_scale, scale)), output_scale);
}
ATTEND_CONSTEXPR_14 LinearScale linear_scale(double key_scale, double output_factor) {
  const integer_detail::Normalised r = integer_detail::normalise(product(key_scale, key_scale), 31),
                                   o = integer_detail::normalise(output_factor, 31);
  return {int32_t(r.mantissa), -r.exponent, int32_t(o.mantissa), -o.exponent};
}

// One call, as LinearAttention: gates and beta of 15 bits, 32768 is 1; larger gates count as 1, betas may be up to 65535.
struct IntegerLinearAttention : LinearExtents {
  Tensor<const int8_t> query, key, value;
  Tensor<const uint16_t> gates, beta;
  Tensor<int8_t> output;
  int32_t* state;
  const int32_t* from;
  int32_t* work;
  const LinearScale* scales;  // of a value head, scale_stride apart
  int scale_stride;
};

template <LinearRule rule, Decay decay>
void run_linear_attention(const IntegerLinearAttention& call, int part, int parts);

// Exponents of states; only one that diverges has the least.
inline constexpr int32_t most_linear_exponent = 10, least_linear_exponent = -16;

// Whether a panel's three numbers can be of a state. Its numbers x, or -x - 1 below 0, are at most `bound`, and below 2^30.
constexpr bool is_linear_scaling(int32_t exponent, uint32_t bound, uint32_t tokens) {
  return exponent >= least_linear_exponent && exponent <= most_linear_exponent && tokens < linear_run &&
         bound <= (uint32_t(1) << 29) + ((tokens + linear_run - 1) % linear_run + 1) * (uint32_t(1) << 26);
}

// The most head_dim of integers: a sum of so many products of 8 and 16 bits has 31.
inline constexpr int most_linear_dims = 256;

}  // namespace attend::core
