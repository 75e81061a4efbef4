// No sum, product or shift of attention and projections in integers leaves its type: where extremes decide, by static_assert,
// and else for every number that a step can take.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "attend/layers/core_linear.h"

#include "../support/tested.h"

namespace core = attend::core;
using std::int64_t;
using std::uint32_t;

namespace {

constexpr int64_t int_end = int64_t(1) << 31, most_number = 128, most_weight = 1 << 15, chunk_keys = attend::integer_chunk;

// Scores: sums of head_dim products of a key and a query less its zero point, as they are and beside one that is masked.
constexpr int64_t most_score = 4096 * most_number * (2 * most_number - 1);
static_assert(most_score < 1 << 27, "what reference_of takes");
static_assert((1 << 11) * int64_t(0xffff) + (1 << 16) < int_end,
              "reference_of: the upper half of a score times a factor, and a carry");
static_assert(most_score - attend::masked_integer_score < int_end, "the distance of a masked score");
static_assert((-attend::masked_integer_score - most_score) >> 13 >= 15 << 12, "which is beyond the end of every scale");

// Weights: a chunk's sums, and a row's over all the keys that it may see. A chunk's sum of values comes 8 bits shorter.
constexpr int64_t chunk_values = chunk_keys * most_weight * most_number,
                  chunks = (attend::integer_keys + chunk_keys) / chunk_keys;
constexpr int64_t most_sum = chunks * (chunk_values >> 8), most_denominator = attend::integer_keys * most_weight;
static_assert(chunk_values + (1 << 29) < int_end, "merge: a chunk's sum and half of the largest shift");
static_assert(most_denominator < int_end, "row_end takes denominators with a sign");
static_assert(most_sum <= int_end / 2, "value sums of a row");

// Outputs: denominators are 2^30 … 2^31 - 1 once they are shifted, and the sum of values at most half of its denominator and
// half a unit a chunk for its rounding; a row's largest weight is at least 2^14.
constexpr int64_t most_aligned = ((int_end / 2 + (chunks << 16)) >> 1) + most_number * (int_end >> 9);
static_assert(most_aligned < int_end, "output_of: a sum and the zero point of the values");
static_assert((most_aligned * int_end >> 32) + (int64_t(1) << 29) < int_end,
              "output_of: the largest product and half of the largest shift");

// Projections: 64 bits for what is multiplied, and sums with the largest bias.
constexpr int64_t inputs = core::integer_linear_inputs, a_product = most_number * (2 * most_number - 1);
static_assert(inputs * a_product + core::most_integer_bias(inputs) < int_end, "a sum with its bias");
static_assert(core::most_integer_bias(inputs) + inputs * most_number * most_number < int_end, "the start of an output");
static_assert(core::most_integer_bias(1) + a_product < int_end, "the same of one input");
static_assert(core::most_integer_bias(1) + most_number * most_number <= int_end, "whose start is -2^31 … 2^31 - 1, too");

// Sums of tensors: halves of 8 bits of each number, beside the zero points and half of the largest shift.
constexpr int64_t most_factor = (1 << 21) - 1;
static_assert(2 * (2 * most_number - 1) * most_factor + 2 * most_number * most_factor + (1 << 29) < int_end, "lower halves");
static_assert(2 * most_number * most_factor + (int_end >> 8) < int_end, "upper halves, and what is carried");

}  // namespace

// ATTEND_EVERY_FLOAT=1 leaves no distance out.
TEST_CASE("integers: every weight stays in 32 bits and is at most 2^15, for every factor and every distance in 2048ths") {
  const bool all = std::getenv("ATTEND_EVERY_FLOAT") != nullptr;
  bool power_fits = true, weight_fits = true;
  for (uint32_t x = 0; x < 2048; ++x) {
    power_fits &= attend::exp2_c2 >= (x * attend::exp2_c3) >> 11;
    const uint32_t second = attend::exp2_c2 - ((x * attend::exp2_c3) >> 11);
    power_fits &= attend::exp2_c1 >= (x * second) >> 11 && uint64_t(x) * second >> 32 == 0;
    const uint32_t first = attend::exp2_c1 - ((x * second) >> 11);
    power_fits &= uint64_t(x) * first <= (attend::exp2_c0 << 11 | 2047);
  }
  CHECK(power_fits);
  std::vector<double> exact;  // weights. Others than a chunk's largest may be off by half a unit besides
  for (int t = 0; t <= attend::weight_end + 2048; ++t) exact.push_back(std::exp2(15 - t / 2048.0));
  const core::ScoreScale ones = {1u << 16, 0, 0, attend::weight_end};  // a distance is a number of 2048ths
  for (uint32_t fraction = 1; fraction <= 2048; ++fraction) {
    for (std::int32_t distance = 0; distance < attend::weight_end; distance += all || fraction % 64 == 0 ? 1 : 61) {
      const uint32_t weight = attend::weight_of(distance, ones, fraction);
      const double is = exact[uint32_t(distance) + fraction], off = std::fabs(weight - is);
      weight_fits &= weight <= most_weight && off <= (distance > 0 ? 0.5 + 9.7e-5 * is : 1.22e-4 * is);
    }
    weight_fits &= attend::weight_of(attend::weight_end, ones, fraction) == 0;
  }
  CHECK(weight_fits);
  CHECK(attend::weight_of(0, ones, 1) > most_weight - 16);
  CHECK(attend::weight_of(0, ones, 2048) >= most_weight / 2 - 1);
}

TEST_CASE("integers: no scale of scores lets a product leave 32 bits before its end") {
  bool fits = true;
  for (uint32_t mantissa = 1u << 15; mantissa < 1u << 16; ++mantissa) {
    double step = (mantissa + 0.5) * 0x1p-16 * (1 - 0x1p-53);  // where rounding loses most
    const core::OutputScale output = core::output_scale(step);
    fits &= std::fabs(std::ldexp(output.factor, -output.shift) - step) <= step * 0x1p-15;
    for (int shift = 0; shift < 26; ++shift, step *= 0.5) {
      const core::ScoreScale scale = core::score_scale(step);
      fits &= int64_t(scale.end - 1) * scale.factor < int64_t(15) << 27 && scale.end <= 15u << 12 && scale.factor < 1u << 27 &&
              scale.left >= 0 && scale.left <= 11 && scale.right >= 0 && scale.right <= 13 &&
              scale.factor >> scale.left < 1u << 16;
      const double off = std::fabs(std::ldexp(scale.factor, -27 - scale.right) - step);
      fits &= off <= step * 0x1p-16 + (scale.right == 13 ? 0x1p-40 : 0) && (step < 0x1p-12 || scale.right == 0);
    }
  }
  CHECK(fits);
}

TEST_CASE("integers: every reciprocal of a row's denominator has 17 bits, and its product with every factor 31") {
  bool fits = true;
  double off = 0;
  for (uint32_t divisor = 1u << 15; divisor <= 1u << 16; ++divisor) {
    const uint32_t number = (1u << 31) + (divisor >> 1), reciprocal = attend::quotient(number, divisor);
    // Denominators of 31 bits that are rounded to this divisor.
    const double least = std::fmax(0x1p30, divisor * 32768.0 - 16384), most = std::fmin(0x1p31 - 1, divisor * 32768.0 + 16383);
    off = std::fmax(off, std::fmax(std::fabs(reciprocal * least * 0x1p-46 - 1), std::fabs(reciprocal * most * 0x1p-46 - 1)));
    fits &= reciprocal == number / divisor && reciprocal >= 1u << 15 && int64_t(reciprocal) * ((1 << 15) - 1) < int_end;
  }
  CHECK(fits);
  CHECK(off <= 2.3e-5);
}
