// What loops of an instruction set's own do, against its operations one by one: four_steps and panel_weights. Compiled with
// that instruction set, and so without std, as operations.h is.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../../src/numerics/bits.h"
#include "../../src/numerics/exp2.h"
#include "../../src/numerics/formats.h"

namespace {

template <class Isa>
class OwnLoops {
  using Vec = typename Isa::Vec;
  static constexpr int lanes = Isa::lanes;

 public:
  // end  of memory behind which nothing may be touched; at least 64 floats lie before it
  static bool take_four_steps(float* end) {
    uint8_t* const bytes = static_cast<uint8_t*>(static_cast<void*>(end));
    for (int i = 1; i <= 256; ++i) bytes[-i] = uint8_t(37 * i);
    return tiles_of<attend::Half>(end) && tiles_of<attend::Bfloat>(end) && tiles_of<int8_t>(end) && tiles_of_floats(end);
  }

  static bool weigh_panels() {
    // Whole numbers, ties, scores too low for a weight, and what no score should be.
    constexpr float some[] = {0.0f,   -0.5f, 1.75f,    -3.25f, 0.3f,   -124.0f, -125.5f,           -126.0f,
                              -200.f, -1e9f, -0.0001f, 2.0f,   -77.7f, 1.4999f, -__builtin_inff(), __builtin_nanf("")};
    bool right = true;
    for (int max = -3; max < 3; ++max) {
      const float shift = attend::whole_shift, lowest = shift + float(max) - 125.0f;
      const uint32_t exponent = attend::bits_to<uint32_t>(shift + float(max)) << 23;
      const float bias = attend::bits_to<float>((127u << 23) - exponent);
      float scores[16], sums[16], expected[16], expected_sums[16], alone[16];
      for (int i = 0; i < 16; ++i) {
        scores[i] = alone[i] = some[i] + float(max);
        sums[i] = expected_sums[i] = float(i);
      }
      for (int k = 0; k < 16; k += lanes) {
        const Vec score = Isa::load(scores + k), shifted = Isa::add(score, Isa::broadcast(shift));
        Vec weight[1] = {Isa::sub(score, Isa::sub(shifted, Isa::broadcast(shift)))};
        attend::exp2_fraction<Isa, 1>(weight);
        weight[0] = Isa::scale_by_low_bits(weight[0], shifted, Isa::broadcast(bias), Isa::broadcast(lowest));
        Isa::store(expected + k, weight[0]);
        Isa::store(expected_sums + k, Isa::add(Isa::load(expected_sums + k), weight[0]));
      }
      const auto weigh = [&](float* row, const float* before, float* to) {
        Isa::panel_weights(row, Isa::broadcast(shift), Isa::broadcast(lowest), bias, before, to);
      };
      constexpr float none[16] = {};
      weigh(scores, sums, sums);
      weigh(alone, none, alone);  // the weights of a first panel are the sums
      right = right && are_equal(scores, expected, 16) && are_equal(sums, expected_sums, 16) && are_equal(alone, expected, 16);
    }
    return right;
  }

 private:
  static bool are_equal(const float* a, const float* b, int count) {
    for (int i = 0; i < count; ++i) {
      if (attend::bits_to<uint32_t>(a[i]) != attend::bits_to<uint32_t>(b[i]) && (a[i] == a[i] || b[i] == b[i])) return false;
    }
    return true;
  }

  static bool tiles_of_floats(float* end) {
    for (int i = 1; i <= 64; ++i) end[-i] = 0.37f * float(i) - 9.0f;
    return tiles_of<float>(end);
  }

  // Vectors of each step end where memory ends.
  template <class Number>
  static bool tiles_of(const void* end) {
    const Number* const from = static_cast<const Number*>(end) - 64;
    return tile_of<Number, 2, 4>(from, 16, from) && tile_of<Number, 1, 4>(from, 16, from) &&
           tile_of<Number, 1, 8>(from, 16, from) && tile_of<Number, 1, 8>(from + 16, 8, from + 24);
  }

  template <class Number, int rows, int vecs>
  static bool tile_of(const Number* from, int stride, const Number* other) {
    const float factors[8] = {1.5f, -0.7f, 3.0f, 0.01f, -2.0f, 0.3f, 7.0f, -1.1f};
    Vec sums[rows][vecs], expected[rows][vecs];
    for (int r = 0; r < rows; ++r) {
      for (int v = 0; v < vecs; ++v) sums[r][v] = expected[r][v] = Isa::broadcast(0.1f * float(r + 2 * v));
    }
    Isa::four_steps({factors, factors + 4}, {from, other}, stride, sums);
    bool right = true;
    for (int r = 0; r < rows; ++r) {
      for (int v = 0; v < vecs; ++v) {
        const bool is_other = v >= 4;
        const float* const by = factors + (is_other ? 4 : 4 * r);
        for (int i = 0; i < 4; ++i) {
          const Vec vector = Isa::load((is_other ? other : from) + i * stride + v % 4 * lanes);
          expected[r][v] = Isa::fma(Isa::broadcast(by[i]), vector, expected[r][v]);
        }
        float got[lanes], wanted[lanes];
        Isa::store(got, sums[r][v]);
        Isa::store(wanted, expected[r][v]);
        right = right && are_equal(got, wanted, lanes);
      }
    }
    return right;
  }
};

}  // namespace
