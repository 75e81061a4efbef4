// What `chain`, an instruction set's own loop for whole chains of a tile, does, against multiply-adds by software one by one;
// and that tiles go on by steps where it cannot tell. Compiled with that instruction set, and so without std, as operations.h
// is.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../support/tested.h"

#include "operation_numbers.h"

namespace {

// The digits of random numbers, and how large they are.
enum class Digits { all, few, huge, tiny };

template <class Isa>
class ChainTest {
  using Vec = typename Isa::Vec;
  static constexpr int rows = Isa::chain_rows, vecs = Isa::chain_vecs, columns = vecs * Isa::lanes;
  static constexpr int dims = attend::chain_dims, longest = Isa::chains_values ? attend::chain_keys : dims;
  static constexpr int by = Isa::stores_chains ? 4 : 1;  // what steps are a multiple of
  static constexpr int panels = columns > attend::panel_keys ? columns / attend::panel_keys : 1;
  static constexpr int most_apart = columns + 3 > attend::panel_keys ? columns + 3 : attend::panel_keys;

 public:
  // What is wrong, or null.
  //   end  of memory behind which nothing may be touched; at least 8192 floats lie before it
  static const char* first_wrong(float* end) {
    ChainTest test(end);
    for (int steps = Isa::stores_chains ? by : Isa::chains_values ? 0 : dims; steps <= longest; steps += by) {
      if (!test.lengths(steps)) return "chain of normal numbers, or of numbers of few digits, or of huge or tiny ones";
    }
    for (const int steps : {5, 8, 17, longest}) {
      // Where rounding is the instruction's own, one length is enough.
      if (Isa::stores_chains ? steps != 8 : Isa::chains_values ? steps == 8 : steps != dims) continue;
      if (!test.halfway(steps)) return "chain whose sums end halfway between floats";
      if (!test.too_large(steps)) return "chain whose sums or products are too large";
    }
    return test.scores() && test.values() ? nullptr : "tiles whose chains go step by step";
  }

 private:
  float* const end_;
  float factors_[rows * (longest + 5)], vectors_[longest * most_apart];
  uint32_t state_ = 1;

  static_assert(longest * most_apart <= 8192, "");
  explicit ChainTest(float* end) : end_(end) {}

  uint32_t bits() {
    state_ ^= state_ << 13, state_ ^= state_ >> 17, state_ ^= state_ << 5;
    return state_;
  }
  float number(Digits digits) {
    const uint32_t random = bits(), sign = random & 0x80000000u, fraction = random & 0x7fffffu;
    if (digits == Digits::all) return attend::bits_to<float>(sign | (120 + random / 0x800000 % 12) << 23 | fraction | 1);
    if (digits == Digits::few) return float(int(random / 0x800000 % 64) - 32) * 0.125f;
    if (digits == Digits::tiny) return attend::bits_to<float>(sign | (61 + random / 0x800000 % 6) << 23 | fraction);
    if (random / 0x800000 % 32 == 0) return test_numbers[fraction % test_count];
    return attend::bits_to<float>(sign | (155 + random / 0x800000 % 100) << 23 | fraction);
  }

  // A chain's operands, in this memory or where memory ends.
  struct Operands {
    float* factors;
    ptrdiff_t factor_stride;
    float* vectors;
    ptrdiff_t vector_stride;
    int steps;
    float expected(int r, int c) const {
      float sum = 0.0f;
      for (int i = 0; i < steps; ++i) {
        sum = attend::software_fma(factors[r * factor_stride + i], vectors[i * vector_stride + c], sum);
      }
      return sum;
    }
  };
  Operands operands(int steps, int vector_stride, bool vectors_end) {
    const int stride = steps + 5;
    return {vectors_end ? factors_ : end_ - (rows - 1) * stride - steps, stride,
            vectors_end ? end_ - (steps - 1) * vector_stride - columns : vectors_, vector_stride, steps};
  }
  void fill(const Operands& of, Digits digits) {
    for (int r = 0; r < rows; ++r) {
      for (int i = 0; i < of.steps; ++i) of.factors[r * of.factor_stride + i] = number(digits);
    }
    for (int i = 0; i < of.steps; ++i) {
      for (int c = 0; c < columns; ++c) of.vectors[i * of.vector_stride + c] = number(digits);
    }
  }

  // The sums of a chain, or false where its loop cannot tell.
  static bool chain(const Operands& of, float (&to)[rows][columns]) {
    if constexpr (Isa::stores_chains) {
      Isa::value_chain(of.factors, of.factor_stride, of.vectors, of.vector_stride, of.steps, to[0], columns, false);
    } else {
      Vec sums[rows][vecs];
      if (!Isa::chain(of.factors, of.factor_stride, of.vectors, of.vector_stride, of.steps, sums)) return false;
      for (int r = 0; r < rows; ++r) {
        for (int v = 0; v < vecs; ++v) Isa::store(to[r] + v * Isa::lanes, sums[r][v]);
      }
    }
    return true;
  }

  // Whether a chain is right, or could not tell what its sums are.
  static bool is_right(const Operands& of, bool must_tell) {
    float sums[rows][columns];
    if (!chain(of, sums)) return !must_tell;
    bool right = true;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) right = right && are_same(sums[r][c], of.expected(r, c));
    }
    return right;
  }

  // Vectors at the distances of panels and of rows, and where memory ends behind the last vector or behind the last factor.
  bool lengths(int steps) {
    bool right = true;
    for (const int stride : {attend::panel_keys, columns, columns + 3}) {
      if (!Isa::chains_values && stride != attend::panel_keys) continue;
      for (const bool vectors_end : {false, true}) {
        const Operands of = operands(steps, stride, vectors_end);
        for (int round = 0; round < 8; ++round) {
          for (const Digits digits : {Digits::all, Digits::few, Digits::huge, Digits::tiny}) {
            fill(of, digits);
            right = right && is_right(of, digits == Digits::all);
          }
          fill(of, Digits::all);  // more digits where a chain begins
          fill({of.factors + 1, of.factor_stride, of.vectors + stride, stride, steps - 1}, Digits::few);
          right = right && is_right(of, false);
        }
      }
    }
    return right;
  }

  // Zeros, but for numbers of all digits in the first vector and one of the first factors, which meet zeros.
  Operands zeros(int steps, int step) {
    const Operands of = operands(steps, attend::panel_keys, true);
    for (int i = 0; i < rows * (steps + 5); ++i) factors_[i] = 0.0f;
    for (int i = 0; i < steps; ++i) {
      for (int c = 0; c < columns; ++c) of.vectors[i * of.vector_stride + c] = i == 0 ? 0.3f : 0.0f;
    }
    of.factors[step == 2 ? 3 : step == 3 ? 1 : step == 4 ? 1 : 2] = 0.7f;
    return of;
  }
  // One product in a chain that is 0 elsewhere.
  static void put(const Operands& of, int step, int r, int c, float factor, float number) {
    of.factors[r * of.factor_stride + step] = factor;
    of.vectors[step * of.vector_stride + c] = number;
  }

  // Each sum in each step: what is halfway, and what is only nearly so, which a double does not tell apart from it.
  bool halfway(int steps) {
    bool right = true;
    for (int step = 2; step < steps; ++step) {
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c) {
          const Operands of = zeros(steps, step);
          put(of, step - 1, r, c, 1.0f, 1.0f);
          put(of, step, r, c, 0x1p-12f, 0x1p-12f);
          right = right && is_right(of, false);
          put(of, step, r, c, -0x1.00004p-12f, -0x1.ffff8p-13f);
          right = right && is_right(of, false);
        }
      }
    }
    return right;
  }

  // Sums that are infinite, whatever is added to them, and a product that is too large where the sum is not.
  bool too_large(int steps) {
    bool right = true;
    for (int step = 2; step < steps; ++step) {
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c) {
          Operands of = zeros(steps, step);
          put(of, step - 1, r, c, -0x1.8p64f, 0x1p63f);
          put(of, step, r, c, 0x1p64f, 0x1p64f);
          right = right && is_right(of, false);
          if (step + 1 == steps) continue;
          of = zeros(steps, step);
          put(of, step - 1, r, c, 0x1p64f, 0x1p63f);
          put(of, step, r, c, 0x1p64f, 0x1p63f);
          put(of, step + 1, r, c, -0x1p64f, 0x1p63f);
          right = right && is_right(of, false);
        }
      }
    }
    return right;
  }

  // Chains of all kinds in turn.
  static constexpr Digits kinds[4] = {Digits::all, Digits::few, Digits::huge, Digits::few};

  bool scores() {
    constexpr int most = 4 * dims + 5, apart = attend::config::score_keys;
    float query[rows * most], keys[panels * attend::panel_keys * most], got[rows * apart];
    bool right = true;
    for (int count = 1; count <= most; count += 3) {
      for (int i = 0; i < rows * count; ++i) query[i] = number(kinds[i % count / dims % 4]);
      for (int i = 0; i < panels * attend::panel_keys * count; ++i) {
        keys[i] = number(kinds[i / attend::panel_keys % count / dims % 4]);
      }
      attend::score_tile<Isa, float, rows, vecs>(query, keys, count, nullptr, got);
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c) {
          float expected = 0.0f;
          for (int first = 0; first < count; first += dims) {
            const int steps = attend::at_most(count - first, dims);
            const int panel = c / attend::panel_keys;
            expected +=
                Operands{query + first, count, keys + (panel * count + first) * attend::panel_keys, attend::panel_keys, steps}
                    .expected(r, c % attend::panel_keys);
          }
          right = right && are_same(got[r * apart + c], expected);
        }
      }
    }
    return right;
  }

  // Rows that see more and more keys, the first of them none, too; and the same keys, or none at all.
  bool values() {
    constexpr int apart = attend::config::score_keys, stride = columns + 1, most = attend::chain_keys;
    float weights[rows * apart], values[most * stride], sums[rows * columns], before[rows * columns];
    bool right = true;
    for (int first = -1; first <= most - rows + 1; ++first) {
      const Digits digits = kinds[(first + 4) % 4];
      for (float& weight : weights) weight = number(digits);
      for (float& value : values) value = number(digits);
      for (int i = 0; i < rows * columns; ++i) sums[i] = before[i] = number(Digits::all);
      int visible[rows];
      for (int r = 0; r < rows; ++r) visible[r] = first < 0 ? 0 : first % 8 == 4 ? first : first + r;
      const bool begun = first / 4 % 3 != 1;
      attend::value_columns<Isa, float, rows, vecs>(weights, {values, stride, most}, visible, {sums, columns, begun, false}, 0,
                                                    columns);
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c) {
          const float chain = Operands{weights, apart, values, stride, visible[r]}.expected(r, c);
          right = right && are_same(sums[r * columns + c], begun ? before[r * columns + c] + chain : chain);
        }
      }
    }
    return right;
  }
};
}  // namespace
