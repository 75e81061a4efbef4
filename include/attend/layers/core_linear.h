// The run-time core of linear projections, of floats and of integers: plain structs of pointers, extents and strides, and
// functions that take them.
//
// Programs without projections hold none of its code. Nothing is checked here: linear.h and integer_linear.h do that.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../core/integer.h"

namespace attend::core {

// Packs rows[output][group] of 16 outputs from `first` on; where only `outputs` of them exist, the others become zeros. Rows:
// an array, or a type with such an operator[].
// (Inlined always, as put_int4_group.)
template <class Rows>
[[gnu::always_inline]] ATTEND_CONSTEXPR_14 void pack_int4_group(const Rows& rows, int first, int outputs, int group,
                                                                Int4Panel& to) {
  for (int o = 0; o < panel_keys; ++o) {
    const Int4Group none = {};
    put_int4_group(o < outputs ? rows[first + o][group] : none, o, to);
  }
}

// Rows of groups, `stride` groups apart.
struct Int4Rows {
  const Int4Group* data;
  ptrdiff_t stride;
  [[gnu::always_inline]] constexpr const Int4Group* operator[](int output) const { return data + output * stride; }
};

// y = W x + b for some tokens:
//
//   output[t][o] = sum over i of weights[o][i] * input[t][i], times scales[o], plus bias[o]
//
// The sum is chains of fused multiply-adds of chain_dims inputs each, i ascending, added up in ascending order. The scale and
// the bias are one fused multiply-add where there are both. The order is the same for every layout, number of tokens, part and
// backend, and so are the bits. Numbers of other formats are widened exactly.
inline namespace ATTEND_FORM {
struct Linear {
  const float* input;       // [tokens][inputs]
  float* output;            // [tokens][outputs]; must not overlap anything else
  const void* weights;      // numbers of the format, [outputs][inputs]; with panels [panel][inputs][panel_keys]. Of int4
                            // Int4Group[outputs][inputs / 32]; with panels Int4Panel[panel][inputs / 32]
  const float* scales;      // [outputs] of int8 weights; null for other formats
  const float* bias;        // [outputs], or null
  ptrdiff_t input_stride;   // from token to token
  ptrdiff_t output_stride;  // from token to token
  ptrdiff_t weight_stride;  // from output to output, in numbers; panels have none
  int inputs;               // >= 1; of int4 a multiple of 32, and so is weight_stride
  int outputs;              // >= 1
  int tokens;               // >= 0
  bool panels;              // weights are packed: 16 outputs side by side, those behind the last are zeros
  float* work;              // linear_work_floats floats, aligned to config::alignment, or null
};
}  // namespace ATTEND_FORM

// Floats of work memory, for any extents. It is used for several tokens: hosts pack weights that lie in rows and gather tokens,
// embedded processors widen weights of other formats once for all tokens. Without it a call takes longer and has the same bits.
constexpr size_t linear_work_floats = config::linear_work_floats;

// Numbers of weights that are packed as panels.
constexpr size_t packed_weight_numbers(int outputs, int inputs) {
  return size_t((outputs + panel_keys - 1) / panel_keys) * panel_keys * size_t(inputs);
}

// Packs weights that lie in rows, `stride` numbers apart, into packed_weight_numbers of the same format.
template <Format format>
void pack_weights(const void* rows, ptrdiff_t stride, int outputs, int inputs, void* panels);

// Converts weights of floats that lie in rows to another format, also in rows: float16 and bfloat16 to the nearest number, ties
// to even; int8 to one of 127 steps to each side of 0, with a scale for each output, which is NaN where a weight is not
// finite. Others have no scales. int4, as GGUF's reference computes it: the scale of a group is the number of the largest
// magnitude, divided by -8 and rounded to float16, and a weight is the nearest of -8 to 7 steps of the quotient. Up to 2^-22
// the scale is 0, and so are all 32 weights. A group with a NaN or an infinity has NaN as its scale, and one of numbers below
// 2^-123 a 0: these alone are not the reference's bytes. Returns false, and writes nothing, where a finite weight is too large
// for the format (core::store). Infinity and NaN stay what they are in float16 and bfloat16.
template <Format format>
bool convert_weights(const float* rows, int outputs, int inputs, void* converted, float* scales);

// Computes the projection with the active backend. A program holds the code of the formats that it names.
template <Format format>
void run_linear(const Linear& linear);

// The same where the layout is known when the program is compiled, and whether there is one token; linear.panels and
// linear.tokens must agree. On embedded processors it has none of the code of others.
#if ATTEND_EMBEDDED
template <Format format, bool panels, bool one_token>
void run_known_linear(const Linear& linear);
#else
template <Format format, bool panels, bool one_token>
inline void run_known_linear(const Linear& linear) {
  run_linear<format>(linear);
}
#endif

// Computes a part of it, 0 <= part < parts <= 65535: some outputs or some tokens, about as many as every other part does. All
// parts together are the whole, bit for bit; they write to different outputs, and each needs work memory of its own.
template <Format format>
void run_linear_part(const Linear& linear, int part, int parts);

// Linear projections in integers: 8-bit inputs and weights, and not one float instruction.

// Whether integer_multiplier takes a number: 2^-32 … 2^29, without 2^29 itself.
constexpr bool is_integer_multiplier(double number) {
  return number >= 1.0 / 4294967296.0 && number < 536870912;
}  // 2^-32 … 2^29

// number: input scale * scale of the output's weights / output scale. Meant for constants, and fit for any target.
ATTEND_CONSTEXPR_14 IntegerMultiplier integer_multiplier(double number) {
  const integer_detail::Normalised n = integer_detail::normalise(number, 31);
  if (n.mantissa == 0) return {0, 1};
  return {int32_t(n.mantissa), 31 - n.exponent};
}

// The most inputs of a projection: 65,536 products of a weight and an input less its zero point, each at most 128 * 255, fit
// into 32 bits.
inline constexpr int integer_linear_inputs = 65536;

// The largest bias with which no sum leaves 32 bits; the lowest is -it - 1. 2^23 - 1 beside the most inputs, and above 2^30
// beside 32,000.
constexpr int32_t most_integer_bias(ptrdiff_t inputs) { return int32_t(0x7fffffff - 128 * 255 * inputs); }

// y = W x + b for some tokens:
//
//   sum = sum over i of weights[o][i] * (input[t][i] - input_zero), plus bias[o]                exact, of 32 bits
//   output[t][o] = clamped(sum * factor / 2^shift, rounded to the nearest, ties up, + output_zero)
//
// A sum with its bias must stay within 32 bits; it does where most_integer_bias allows the bias.
inline namespace ATTEND_FORM {
struct IntegerLinear {
  const int8_t* input;                   // [tokens][inputs]
  void* output;                          // [tokens][outputs]; must not overlap anything else
  const int8_t* weights;                 // [outputs][inputs]; their zero point is 0
  const int32_t* bias;                   // [outputs], in steps of input scale * scale of the output's weights; or null
  const IntegerMultiplier* multipliers;  // of output o: multipliers[o * multiplier_stride]; unused by outputs of 32 bits
  int multiplier_stride;                 // 0 or 1
  ptrdiff_t input_stride;                // from token to token
  ptrdiff_t output_stride;               // from token to token
  ptrdiff_t weight_stride;               // from output to output
  int inputs;                            // 0 … integer_linear_inputs
  int outputs;                           // >= 0
  int tokens;                            // >= 0
  int input_zero;                        // -128 … 127
  int output_zero;                       // of the output
};
}  // namespace ATTEND_FORM

// Computes the projection. Outputs have 1 or 2 bytes, or 4 for the sums themselves, without multiplier and zero point: int32_t,
// which is another type for other compilers of one target. A program holds the code for the sizes that it names. The number of
// instructions depends on the extents alone.
template <int output_bytes>
void run_integer_linear(const IntegerLinear& linear);

// Bytes of packed weights. On hosts they are chunks of 32 outputs: the sum of each output's weights, of 32 bits, little-endian,
// then [quads of inputs][32 outputs][4 inputs]; behind the last output and input there are zeros. Embedded processors, whose
// kernels read rows, have rows without gaps.
constexpr size_t packed_integer_weight_bytes(int outputs, int inputs) {
  return config::embedded ? size_t(outputs) * size_t(inputs)
                          : size_t(whole_chunks(outputs)) * (sizeof(int32_t) + size_t(whole_quads(inputs)));
}

// Packs weights, rows[output][input]: an array, or a type with such an operator[].
template <class Rows>
ATTEND_CONSTEXPR_14 void pack_integer_weights(const Rows& rows, int outputs, int inputs, int8_t* packed) {
  if (config::embedded) {
    for (int o = 0; o < outputs; ++o) {
      for (int i = 0; i < inputs; ++i) *packed++ = rows[o][i];
    }
    return;
  }
  const int dims = whole_quads(inputs);
  for (int o = 0; o < whole_chunks(outputs); ++o) {
    int8_t* const to = packed + ptrdiff_t(o / integer_chunk) * integer_chunk * (4 + dims) + o % integer_chunk * 4;
    uint32_t sum = 0;
    for (int i = 0; i < dims; ++i) {
      const int8_t weight = o < outputs && i < inputs ? rows[o][i] : int8_t(0);
      to[(i / 4 + 1) * (4 * integer_chunk) + i % 4] = weight;
      sum += uint32_t(weight);
    }
    for (int byte = 0; byte < 4; ++byte) to[byte] = int8_t(sum >> 8 * byte & 0xff);
  }
}

// As run_integer_linear, of packed weights; weight_stride is `inputs`.
#if ATTEND_EMBEDDED
template <int output_bytes>
inline void run_packed_integer_linear(const IntegerLinear& linear) {
  run_integer_linear<output_bytes>(linear);
}
#else
template <int output_bytes>
void run_packed_integer_linear(const IntegerLinear& linear);
#endif

// A residual addition in integers, of numbers of 8 or of 16 bits:
//
//   output[i] = clamped(((a[i] - a_zero) * by.a + (b[i] - b_zero) * by.b) / 2^by.shift, rounded to the nearest, ties up, +
//   zero)
//
// from `lowest` on to the largest number of the output's type. With by.b = 0 and b = a it is a copy in other steps.
struct IntegerSumFactors {
  int32_t a;  // 0 … 2^21 - 1; the larger is at least 2^20
  int32_t b;
  int32_t shift;  // 8 … 30
};
struct IntegerSum {
  const void* a;
  const void* b;
  void* output;  // the same as an input of its type, or apart
  int count;     // >= 0
  IntegerSumFactors by;
  int a_zero, b_zero, zero;  // -128 … 127
  int lowest;                // the smallest output: the type's smallest number, or the zero point for a rectified sum
};

// The factors of two multipliers; one of them may be {0, 62}.
namespace integer_detail {
ATTEND_CONSTEXPR_14 int32_t shifted_factor(const IntegerMultiplier& by, int shift) {
  const int places = by.shift - shift;  // at least 10
  return places > 32 ? 0 : int32_t((int64_t(by.factor) + (int64_t(1) << (places - 1))) >> places);
}
}  // namespace integer_detail
ATTEND_CONSTEXPR_14 IntegerSumFactors integer_sum_factors(const IntegerMultiplier& a, const IntegerMultiplier& b) {
  IntegerSumFactors by = {1 << 21, 0, (a.shift < b.shift ? a.shift : b.shift) - 9};
  while (by.a >> 21 != 0 || by.b >> 21 != 0) {  // twice, where the larger is rounded up to 2^21
    --by.shift;
    by.a = integer_detail::shifted_factor(a, by.shift);
    by.b = integer_detail::shifted_factor(b, by.shift);
  }
  return by;
}

// Whether a sum takes them: the larger multiplier is within 2^-10 … 2^13, without 2^13 and what is rounded to it.
constexpr bool is_integer_sum(const IntegerSumFactors& by) { return by.shift >= 8 && by.shift <= 30; }

// Computes the sum, by a code of its own for each three types: int8_t or int16_t.
template <class A, class B, class Output>
void run_integer_sum(const IntegerSum& sum);

}  // namespace attend::core
