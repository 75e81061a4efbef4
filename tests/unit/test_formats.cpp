// Halves, bfloats and bytes against what their definitions say, computed with doubles.
#include "../support/tested.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "../support/random.h"
#include "../support/rounds.h"
#include "target_isa.h"

#include "format_kernels.h"

namespace {

using attend::Bfloat;
using attend::Half;
using attend::core::Format;
using attend_test::Random;

constexpr float infinity = std::numeric_limits<float>::infinity();

// The number that has a sign, an exponent and `digits` digits of these bits.
double number_of(std::uint32_t bits, int digits, int exponents) {
  const std::uint32_t fraction = bits & ((1u << digits) - 1), exponent = bits >> digits & ((1u << exponents) - 1);
  const int bias = (1 << (exponents - 1)) - 1;
  double size =
      std::ldexp(exponent == 0 ? fraction : fraction + (1u << digits), int(exponent == 0 ? 1 : exponent) - bias - digits);
  if (exponent == (1u << exponents) - 1) size = fraction == 0 ? HUGE_VAL : std::nan("");
  return bits >> (digits + exponents) != 0 ? -size : size;
}

// The bits of the nearest one; of any NaN, the sign and a quiet one without more.
std::uint32_t nearest_bits(float number, int digits, int exponents) {
  const int bias = (1 << (exponents - 1)) - 1;
  const std::uint32_t sign = std::signbit(number) ? 1u << (digits + exponents) : 0, one = 1u << digits;
  const std::uint32_t infinite = ((1u << exponents) - 1) * one;
  if (std::isnan(number)) return sign | infinite | one >> 1;
  const double size = std::fabs(double(number));
  if (size == 0.0) return sign;
  if (std::isinf(number)) return sign | infinite;
  int exponent = std::ilogb(size);
  if (exponent < 1 - bias) exponent = 1 - bias;
  const auto steps = std::uint32_t(std::nearbyint(std::ldexp(size, digits - exponent)));  // a carry goes into the exponent
  const std::uint32_t bits = steps + std::uint32_t(exponent + bias - 1) * one;
  return sign | (bits < infinite ? bits : infinite);
}

bool same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }
float float_of(std::uint32_t bits) { return attend::bits_to<float>(bits); }

void check_narrow(float number, int& wrong) {
  const std::uint32_t half = attend::to_half(number).bits, bfloat = attend::to_bfloat(number).bits;
  if (std::isnan(number)) {  // the payload may be anything
    wrong += (half & 0x7e00u) != 0x7e00u || (bfloat & 0x7fc0u) != 0x7fc0u;
    wrong += half >> 15 != std::uint32_t(std::signbit(number)) || bfloat >> 15 != std::uint32_t(std::signbit(number));
  } else {
    wrong += half != nearest_bits(number, 10, 5) || bfloat != nearest_bits(number, 7, 8);
  }
}

// Numbers that lie at the end of their memory, so that a sanitizer sees what is read behind them.
struct Numbers {
  Format format;
  std::vector<std::uint16_t> words;
  std::vector<std::int8_t> bytes;

  Numbers(Format of, std::size_t count, Random& random) : format(of) {
    for (std::size_t i = 0; i < count; ++i) {
      const float number = random.uniform() * 2.0f;
      if (of == Format::int8) bytes.push_back(std::int8_t(random.bits() >> 24));
      if (of == Format::float16) words.push_back(attend::to_half(number).bits);
      if (of == Format::bfloat16) words.push_back(attend::to_bfloat(number).bits);
    }
  }
  const void* data() const { return format == Format::int8 ? static_cast<const void*>(bytes.data()) : words.data(); }
  float operator[](std::size_t i) const {
    return format == Format::int8      ? attend::widen(bytes[i])
           : format == Format::float16 ? attend::widen(Half{words[i]})
                                       : attend::widen(Bfloat{words[i]});
  }
};

constexpr int between_rows = attend::config::score_keys;

// Scores of rows by the definition: chains of 16 dimensions, added up in ascending order.
void check_scores(const attend_test::RowKernels& kernels, Format format, int rows, int head_dim, int keys, Random& random) {
  const int padded = attend::whole_panels(keys);
  const Numbers panels(format, std::size_t(padded * head_dim), random);
  std::vector<float> query(std::size_t(rows * head_dim)), scores(std::size_t((rows - 1) * between_rows + padded + 1), 7.0f);
  random.fill(query.data(), query.size());
  kernels.scores(query.data(), panels.data(), head_dim, keys, scores.data());
  int wrong = scores.back() != 7.0f;
  for (int r = 0; r < rows; ++r) {
    for (int k = 0; k < padded; ++k) {
      float expected = 0.0f;
      for (int first = 0; first < head_dim; first += attend::chain_dims) {
        float chain = 0.0f;
        for (int d = first; d < head_dim && d < first + attend::chain_dims; ++d) {
          const float key = panels[std::size_t((k / 16 * head_dim + d) * 16 + k % 16)];
          chain = std::fma(query[std::size_t(r * head_dim + d)], key, chain);
        }
        expected = first == 0 ? chain : expected + chain;
      }
      wrong += scores[std::size_t(r * between_rows + k)] != expected;
    }
  }
  CHECK(wrong == 0);
}

void check_values(const attend_test::RowKernels& kernels, Format format, int rows, int value_dim, int keys, Random& random) {
  const int stride = value_dim + random.between(0, 1) * 3;
  const Numbers values(format, std::size_t((keys - 1) * stride + value_dim), random);
  std::vector<float> weights(std::size_t((rows - 1) * between_rows + keys)), sums(std::size_t(rows * value_dim + 1), 7.0f);
  random.fill(weights.data(), weights.size());
  for (const bool begun : {false, true}) {
    const std::vector<float> before = sums;
    kernels.values(weights.data(), values.data(), stride, keys, sums.data(), value_dim, begun);
    int wrong = sums.back() != 7.0f;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < value_dim; ++c) {
        float chain = 0.0f;
        for (int k = 0; k < keys; ++k) {
          chain = std::fma(weights[std::size_t(r * between_rows + k)], values[std::size_t(k * stride + c)], chain);
        }
        const auto at = std::size_t(r * value_dim + c);
        wrong += sums[at] != (begun ? before[at] + chain : chain);
      }
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

void attend_test::check_format_kernels(const FormatKernels& kernels) {
  Random shapes(7);
  int taken = 0;
  for (int format = 0; format < 3; ++format) {
    for (int rows = 1; rows <= max_rows; ++rows) {
      for (int number = 0; number < 60; ++number) {
        if (!is_tried(taken)) continue;
        const int dim = number < 34 ? number + 1 : shapes.between(34, 300);
        const int keys = shapes.between(1, rows == 1 && number % 4 == 0 ? 300 : between_rows);
        const auto as = Format(format + 1);
        INFO(format, " ", rows, " ", dim, " ", keys);
        check_scores(kernels.rows[format][rows - 1], as, rows, dim, keys, shapes);
        check_values(kernels.rows[format][rows - 1], as, rows, dim, attend::at_most(keys, attend::chain_keys), shapes);
      }
    }
  }
  std::vector<std::uint16_t> numbers(65536 + 40);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::uint16_t(i);
  std::vector<std::uint8_t> bytes(300);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::uint8_t(i);
  std::vector<float> got(numbers.size()), expected(numbers.size());
  for (const Format format : {Format::float16, Format::bfloat16, Format::int8}) {
    const bool byte = format == Format::int8;
    const void* from = byte ? static_cast<const void*>(bytes.data()) : numbers.data();
    const std::size_t all = byte ? bytes.size() : numbers.size();
    attend::widen_row<attend::Scalar>(format, from, int(all), expected.data());
    int wrong = 0;
    for (std::size_t count = 0; count < all; count += count < 70 ? 1 : all - 71) {  // the last of all
      got.assign(got.size(), 7.0f);
      kernels.widen_row(format, from, int(count), got.data());
      for (std::size_t i = 0; i < count; ++i)
        wrong += !same(got[i], expected[i]) && !(std::isnan(got[i]) && std::isnan(expected[i]));
      for (std::size_t i = count; i < got.size(); ++i) wrong += got[i] != 7.0f;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("formats: every half, bfloat and byte widens to the number it is") {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const double half = number_of(bits, 10, 5), bfloat = number_of(bits, 7, 8);
    const float from_half = attend::widen(Half{std::uint16_t(bits)}), from_bfloat = attend::widen(Bfloat{std::uint16_t(bits)});
    wrong += std::isnan(half) ? !std::isnan(from_half) : !same(from_half, float(half));
    wrong += std::isnan(bfloat) ? !std::isnan(from_bfloat) : !same(from_bfloat, float(bfloat));
  }
  for (int number = -128; number < 128; ++number) {
    wrong += !same(attend::widen(std::int8_t(number)), float(number));
    wrong += !same(attend::soft_widen(std::int8_t(number)), float(number));
  }
  CHECK(wrong == 0);
}

TEST_CASE("formats: every half and bfloat comes back from the float it is") {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float from_half = attend::widen(Half{std::uint16_t(bits)}), from_bfloat = attend::widen(Bfloat{std::uint16_t(bits)});
    if (!std::isnan(from_half)) wrong += attend::to_half(from_half).bits != bits;
    if (!std::isnan(from_bfloat)) wrong += attend::to_bfloat(from_bfloat).bits != bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("formats: floats become the nearest half or bfloat, ties even") {
  int wrong = 0;
  // Each half and bfloat, the middle between it and the next, and the floats beside these.
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    for (const std::uint32_t first : {bits << 16, attend::bits_to<std::uint32_t>(attend::widen(Half{std::uint16_t(bits)}))}) {
      for (const std::uint32_t middle : {0u, 0x8000u, 0x1000u}) {
        for (const std::uint32_t beside : {0u, 1u, ~0u}) check_narrow(float_of(first + middle + beside), wrong);
      }
    }
  }
  for (std::uint32_t step = 0; step < 4096; ++step) {  // subnormal halves: quarters of their steps
    for (const std::uint32_t beside : {0u, 1u, ~0u}) {
      const float quarter = float(step) * 0x1p-26f;
      check_narrow(float_of(attend::bits_to<std::uint32_t>(quarter) + beside), wrong);
    }
  }
  Random random(3);
  for (int i = 0; i < attend_test::rounds(2000000); ++i) check_narrow(float_of(random.bits()), wrong);
  for (int i = 0; i < attend_test::rounds(2000000); ++i)
    check_narrow(std::ldexp(random.uniform(), random.between(-27, 17)), wrong);
  for (const float number :
       {0.0f, -0.0f, 65519.996f, 65520.0f, -65520.0f, 0x1.fep127f, 0x1.feffffp127f, 0x1.ffp127f, infinity, -infinity}) {
    check_narrow(number, wrong);
  }
  CHECK(wrong == 0);
}

TEST_CASE("formats: rows") {
  const float numbers[] = {0.0f, 1.0f, -2.5f, 65504.0f, 0x1p-24f, 1e9f, 0x1.fffffep-1f};
  const float as_half[] = {0.0f, 1.0f, -2.5f, 65504.0f, 0x1p-24f, infinity, 1.0f};
  const float as_bfloat[] = {0.0f, 1.0f, -2.5f, 65536.0f, 0x1p-24f, 0x1.dcp29f, 1.0f};
  std::uint16_t narrow[7];
  float wide[7];
  attend::narrow_row(Format::float16, numbers, 7, narrow);
  attend::widen_row<attend::Scalar>(Format::float16, narrow, 7, wide);
  for (int i = 0; i < 7; ++i) CHECK(wide[i] == as_half[i]);
  attend::narrow_row(Format::bfloat16, numbers, 7, narrow);
  attend::widen_row<attend::Scalar>(Format::bfloat16, narrow, 7, wide);
  for (int i = 0; i < 7; ++i) CHECK(wide[i] == as_bfloat[i]);
  attend::narrow_row(Format::float32, numbers, 7, wide);
  for (int i = 0; i < 7; ++i) CHECK(wide[i] == numbers[i]);
}

namespace {

template <class Number>
int wrong_chains(Random& random) {
  using attend::Scalar;
  constexpr int most_steps = 20, b_step = 7;
  Number narrow[most_steps * b_step];
  float wide[most_steps * b_step], a[4 * most_steps], sums[2][4][8];
  for (int i = 0; i < most_steps * b_step; ++i) {
    const std::uint32_t bits = random.bits();
    std::memcpy(static_cast<void*>(narrow + i), &bits, sizeof(Number));
    if (!std::isfinite(attend::widen(narrow[i]))) narrow[i] = Number{};
    wide[i] = attend::widen(narrow[i]);
  }
  random.fill(a, 4 * most_steps);
  random.fill(sums[0][0], 32);
  std::memcpy(sums[1], sums[0], sizeof sums[0]);
  const int rows = random.between(0, 1) == 0 ? 1 : Scalar::tile_rows, columns = random.between(1, Scalar::widened_columns);
  const int steps = random.between(1, most_steps), column = random.between(0, 4);
  const float scale = rows == 1 ? 0.37f : 1.0f;
  const bool adds = random.between(0, 1) != 0;
  float* const widened_to[] = {sums[0][0], sums[0][1], sums[0][2], sums[0][3]};
  float* const float_to[] = {sums[1][0], sums[1][1], sums[1][2], sums[1][3]};
  Scalar::chains(
      attend::ChainsOf<Number>{rows, columns, steps, a, most_steps, scale, narrow, b_step, 1, widened_to, column, adds});
  Scalar::chains(attend::Chains{rows, columns, steps, a, most_steps, scale, wide, b_step, 1, float_to, column, adds});
  int wrong = 0;
  for (int i = 0; i < 32; ++i) {
    const float x = sums[0][i / 8][i % 8], y = sums[1][i / 8][i % 8];
    wrong += !same(x, y) && !(std::isnan(x) && std::isnan(y));
  }
  return wrong;
}

}  // namespace

TEST_CASE("formats: chains over numbers of embedded processors, in plain C++, are those over the floats that these are") {
  Random random(5);
  int wrong = 0;
  for (int i = 0; i < attend_test::rounds(20000); ++i) {
    wrong += wrong_chains<Half>(random) + wrong_chains<Bfloat>(random) + wrong_chains<std::int8_t>(random);
  }
  CHECK(wrong == 0);
}

#ifdef ATTEND_TEST_ISA
TEST_CASE("formats: the target's vectors widen to the same floats, in rows of scores and sums too") {
  attend_test::check_format_kernels(format_kernels<ATTEND_TEST_ISA>());
}
#endif
