// What four_steps, a loop of an instruction set's own, does, against its operations one by one. Compiled with that instruction
// set, and so without std, as operations.h is.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../support/tested.h"

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
