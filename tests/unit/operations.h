// What the operations of a host's instruction set do, lane by lane, against their contract: the table of
// src/guide/instruction-sets.md. Compiled with that instruction set, and so without std: tests/unit/test_operations.cpp.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../support/tested.h"

#include "lane_operations.h"
#include "load_operations.h"
#include "operation_numbers.h"
#include "own_loops.h"
#include "transpose_operations.h"
#include "whole_chains.h"

namespace attend_test {

// With Operations<Isa>::first_wrong.
void check_operations(const char* (*first_wrong)(float* end));

}  // namespace attend_test

namespace {

template <class Isa>
class Operations : LaneNumbers<Isa> {
  using Vec = typename Isa::Vec;
  using Loads = LoadTest<Isa>;
  using Transposes = TransposeTest<Isa>;
  using LaneNumbers<Isa>::is, LaneNumbers<Isa>::number, LaneNumbers<Isa>::numbers_from;
  static constexpr int lanes = Isa::lanes;
  // Loops of its own of 64-bit Arm, and of 32-bit Arm.
#if defined(__aarch64__)
  static constexpr bool has_lanes = true, has_four_steps = false;
#elif defined(__ARM_NEON)
  static constexpr bool has_lanes = false, has_four_steps = true;
#else
  static constexpr bool has_lanes = false, has_four_steps = false;
#endif

 public:
  // The name of the first operation that does something else than it must, or null.
  //   end  of memory behind which nothing may be touched; at least 8192 floats lie before it
  static const char* first_wrong(float* end) {
    if (!Loads::moves(end)) return "zero, broadcast, load, store";
    if (!Loads::moves_some(end)) return "load_first, store_first";
    if (!Loads::widens(end)) return "load of halves, bfloats or bytes";
    if (!Loads::reads_bits()) return "four_bits";
    if (!Loads::reads_bytes(end)) return "load_words, low_half, high_half, broadcast_half";
    if constexpr (Isa::flushes) {
      if (!finds_below(end)) return "has_below";
    }
    if constexpr (has_lanes) {
      if (!Loads::widens_four(end)) return "load_four";
      if (!multiplies_by_lane()) return "fma_lane, mul_lane";
      if (!stores_chains<Isa>(end)) return "add_four, store_four";
    }
    if constexpr (has_four_steps) {
      if (!OwnLoops<Isa>::take_four_steps(end)) return "four_steps";
    }
    if constexpr (Isa::chain_rows > 0) {
      if (const char* wrong = ChainTest<Isa>::first_wrong(end)) return wrong;
    }
    for (int rows = 1; rows <= Isa::tile_rows; ++rows) {
      if ((Isa::tile_vecs(rows) & (Isa::tile_vecs(rows) - 1)) != 0) return "tile_vecs";
    }
    if (!Transposes::transposes()) return "transpose";
    if constexpr (Isa::transposes_rows) {
      if (!Transposes::has_columns_of_rows() || !Transposes::has_columns_of_words(end)) return "columns_of_rows";
      if (!Transposes::template transposes_rows<attend::tested::Half>() ||
          !Transposes::template transposes_rows<attend::tested::Bfloat>() || !Transposes::template transposes_rows<int8_t>())
        return "transpose_rows";
    }
    for (int i = 0; i < test_count; ++i) {
      for (int j = 0; j < test_count; ++j) {
        if (const char* name = wrong_of_pairs(i, j)) return name;
      }
    }
    if (!selects(end)) return "first_of, where_bytes, where_bits";
    if (!finds_highest()) return "highest_lane, any_above";
    if (!makes_powers()) return "two_to";
    if (!scales()) return "scale_by_power";
    if (!scales_by_low_bits()) return "scale_by_low_bits";
    if (!sums_lanes()) return "sum_lanes";
    if constexpr (Isa::weighs_rows) {
      if (!weighs<Isa>(end)) return "weights_of_panels";
    }
    if (!finds_highest_of_rows<Isa>(end)) return "highest_of_rows";
    return nullptr;
  }

 private:
  template <int lane>
  static bool multiplies_by() {
    bool right = true;
    for (int first = 0; first < test_count; ++first) {
      right = right && is(Isa::template mul_lane<lane>(numbers_from(first), numbers_from(2)),
                          [=](int i) { return number(first + lane) * number(2 + i); });
      Vec sum = Isa::template fma_lane<lane>(numbers_from(first), numbers_from(2), numbers_from(3));
      Isa::compute_before_loads(sum);
      float sums[lanes];
      Isa::store(sums, Isa::fma(Isa::broadcast(number(first + lane)), numbers_from(2), numbers_from(3)));
      right = right && is(sum, [&](int i) { return sums[i]; });
    }
    return right;
  }
  static bool multiplies_by_lane() {
    return multiplies_by<0>() && multiplies_by<1>() && multiplies_by<2>() && multiplies_by<3>();
  }

  // Lanes of all pairs of numbers.
  static const char* wrong_of_pairs(int first, int second) {
    const Vec a = numbers_from(first), b = numbers_from(second), c = numbers_from(first + second);
    const auto x = [=](int i) { return number(first + i); };
    const auto y = [=](int i) { return number(second + i); };
    const auto z = [=](int i) { return number(first + second + i); };
    if (!is(Isa::add(a, b), [=](int i) { return x(i) + y(i); })) return "add";
    if (!is(Isa::sub(a, b), [=](int i) { return x(i) - y(i); })) return "sub";
    if (!is(Isa::max(a, b), [=](int i) { return y(i) > x(i) ? y(i) : x(i); })) return "max";
    float higher[lanes];
    Isa::store(higher, Isa::higher(a, b));
    for (int i = 0; i < lanes; ++i) {
      if (x(i) == x(i) && !are_same(higher[i], y(i) > x(i) ? y(i) : x(i))) return "higher";
    }
    if (!is(Isa::min(a, b), [=](int i) { return y(i) < x(i) ? y(i) : x(i); })) return "min";
    if (!is(Isa::where_equal(a, b, c, a), [=](int i) { return x(i) == y(i) ? z(i) : x(i); })) return "where_equal";
    // Products and sums that are not subnormal.
    const auto large = [](float n) { return n == 0 || !(n > -0x1p-100f && n < 0x1p-100f); };
    float products[lanes], sums[lanes], factor_sums[lanes];
    Isa::store(products, Isa::mul(a, b));
    Isa::store(sums, Isa::fma(a, b, c));
    Isa::store(factor_sums, Isa::fma(Isa::factor(x(0)), b, c));
    for (int i = 0; i < lanes; ++i) {
      const float product = x(i) * y(i), sum = attend::software_fma(x(i), y(i), z(i));
      const float factor_sum = attend::software_fma(x(0), y(i), z(i));
      if (large(product) && !are_same(products[i], product)) return "mul";
      if (large(sum) && !are_same(sums[i], sum)) return "fma";
      if (large(factor_sum) && !are_same(factor_sums[i], factor_sum)) return "fma by a factor";
    }
    const Vec guess = Isa::minus_reciprocal_guess(a);
    float guesses[lanes];
    Isa::store(guesses, guess);
    for (int i = 0; i < lanes; ++i) {
      const uint32_t bits = 0xfef311c7u - attend::bits_to<uint32_t>(x(i));
      if (!are_same(guesses[i], attend::bits_to<float>(bits))) return "minus_reciprocal_guess";
    }
    return nullptr;
  }

  static bool selects(float* end) {
    const Vec a = numbers_from(0), b = numbers_from(7);
    bool right = true;
    for (int count = 0; count <= lanes; ++count) {
      right = right && is(Isa::first_of(a, b, count), [=](int i) { return number(i < count ? i : 7 + i); });
    }
    void* const behind = end;
    uint8_t* const bytes = static_cast<uint8_t*>(behind) - lanes;
    for (unsigned bits = 0; bits < 65536; bits += 7) {
      for (int i = 0; i < lanes; ++i) bytes[i] = uint8_t((bits >> i & 1) != 0 ? 1u << (bits + unsigned(i)) % 8 : 0u);
      right = right && is(Isa::where_bytes(bytes, a, b), [=](int i) { return number(bytes[i] != 0 ? i : 7 + i); });
      right = right && is(Isa::where_bits(bits, a, b), [=](int i) { return number((bits >> i & 1) != 0 ? i : 7 + i); });
    }
    return right;
  }

  // Of up to 9 numbers, each in turn is below 2^-102, or just not; zeros never are.
  static bool finds_below(float* end) {
    constexpr uint32_t limit = (25u << 24) - 1;  // of 2^-102
    for (int count = 1; count <= 9; ++count) {
      float* const numbers = end - count;
      for (int i = 0; i < count; ++i) numbers[i] = i % 3 == 0 ? -0.0f : i % 3 == 1 ? 1.0f : test_nan;
      bool right = !Isa::has_below(numbers, count, limit) && !Isa::has_below(numbers, count, 0);
      for (int i = 0; i < count; ++i) {
        const float before = numbers[i];
        numbers[i] = -0x1p-102f;
        right = right && !Isa::has_below(numbers, count, limit);
        for (const float below : {0x1.fffffep-103f, -0x1p-126f, 0x1p-149f}) {
          numbers[i] = below;
          right = right && Isa::has_below(numbers, count, limit) && Isa::has_below(numbers, count, 0xffffffffu);
        }
        numbers[i] = before;
      }
      if (!right) return false;
    }
    return true;
  }

  // One lane at a time is the highest, or above.
  static bool finds_highest() {
    bool right = !Isa::any_above(Isa::broadcast(1.0f), Isa::broadcast(1.0f)) &&
                 !Isa::any_above(Isa::broadcast(test_nan), Isa::broadcast(1.0f)) &&
                 are_same(Isa::highest_lane(Isa::broadcast(-test_infinity)), -test_infinity);
    for (int high = 0; high < lanes; ++high) {
      float lane[lanes];
      for (int i = 0; i < lanes; ++i) lane[i] = -float(i + 2);
      lane[high] = -0.5f;
      right = right && are_same(Isa::highest_lane(Isa::load(lane)), -0.5f);
      right = right && Isa::any_above(Isa::load(lane), Isa::broadcast(-0.75f));
      right = right && !Isa::any_above(Isa::load(lane), Isa::broadcast(-0.5f));
    }
    return right;
  }

  static float power_of_two(int k) { return attend::bits_to<float>(uint32_t(k + 127) << 23); }

  static bool makes_powers() {
    bool right = true;
    for (int k = -126; k <= 127; ++k) {
      right = right && is(Isa::two_to(Isa::broadcast(whole + float(k))), [=](int) { return power_of_two(k); });
    }
    return right;
  }

  // Each lane has another power. NaN stays NaN, but for powers that are dropped.
  static bool scales() {
    bool right = true;
    for (int first = 0; first < 140; ++first) {
      float powers[lanes], ones[lanes];
      for (int i = 0; i < lanes; ++i) powers[i] = -float(first + i), ones[i] = i % 3 == 0 ? 0x1.23456p0f : -0x1.fffffep0f;
      const auto expected = [=](int i) { return first + i > 125 ? 0.0f : ones[i] * power_of_two(-first - i); };
      right = right && is(Isa::scale_by_power(Isa::load(ones), Isa::load(powers)), expected);
      right = right && is(Isa::scale_by_power(Isa::broadcast(test_nan), Isa::load(powers)),
                          [=](int i) { return first + i > 125 ? 0.0f : test_nan; });
    }
    right = right && is(Isa::scale_by_power(Isa::broadcast(1.5f), Isa::broadcast(-0x1.fffffep127f)), [](int) { return 0.0f; });
    right = right && is(Isa::scale_by_power(Isa::broadcast(1.5f), Isa::broadcast(-test_infinity)), [](int) { return 0.0f; });
    return right && is(Isa::scale_by_power(Isa::broadcast(test_nan), Isa::broadcast(test_nan)), [](int) { return test_nan; });
  }

  static bool scales_by_low_bits() {
    bool right = true;
    for (const int max : {0, 3, -7, 1000000, -1000000}) {
      const Vec lowest = Isa::broadcast(whole + float(max - 125));
      const Vec bias = Isa::broadcast(attend::bits_to<float>(uint32_t(127 - max) << 23));
      for (int first = -2; first < 140; ++first) {
        float shifted[lanes];
        for (int i = 0; i < lanes; ++i) shifted[i] = whole + float(max - first - i);
        const Vec n = Isa::load(shifted);
        right = right && is(Isa::scale_by_low_bits(Isa::broadcast(0x1.23456p0f), n, bias, lowest),
                            [=](int i) { return first + i > 125 ? 0.0f : 0x1.23456p0f * power_of_two(-first - i); });
      }
      const Vec infinite = Isa::broadcast(-test_infinity), nan = Isa::broadcast(test_nan);
      right = right && is(Isa::scale_by_low_bits(nan, infinite, bias, lowest), [](int) { return 0.0f; });
      right = right && is(Isa::scale_by_low_bits(nan, nan, bias, lowest), [](int) { return test_nan; });
    }
    return right;
  }

  // Numbers of which every other order of additions gives another sum.
  static bool sums_lanes() {
    bool right = true;
    for (uint32_t round = 0; round < 100; ++round) {
      float sums[17], left[16];
      for (uint32_t i = 0; i < 16; ++i) {
        const uint32_t bits = (i + 1) * (round + 1) * 0x9e3779b9u;
        sums[i + 1] = left[i] = attend::bits_to<float>(0x3f800000u | bits >> 9) * power_of_two(int(bits % 9));
      }
      for (int width = 8; width > 0; width /= 2) {
        for (int i = 0; i < width; ++i) left[i] = left[i] + left[i + width];
      }
      right = right && are_same(Isa::sum_lanes(sums + 1), left[0]);
    }
    return right;
  }
};

}  // namespace
