// Which kernels there are. An instruction set names them once:
//
//   tile_rows            the most rows that share one pass over keys
//   kernel_rows(left)    the rows of the next kernel, of `left` rows; there are kernels for the numbers that it gives
//   tile_vecs(rows)      vectors of keys or columns of the widest tile of so many rows; narrower ones, by halves, follow
//   widening_vecs(rows)  the same where numbers are widened in registers
//   softmax_rows(left)   the rows of the next softmax, some of the same numbers
#pragma once

#include "../numerics/float_rules.h"

namespace attend {
namespace {

// Whether numbers are of one or two bytes, which are widened in registers.
template <class Number>
constexpr bool widens = sizeof(Number) < sizeof(float);

constexpr int typed_rows = 4;  // the most rows of a tile that widens numbers in registers

// The rows of the next kernel, of `left` rows. Three rows of other formats go as two and one: a kernel more for each format is
// not worth it.
template <class Isa, class Number>
ATTEND_ALWAYS_INLINE constexpr int kernel_rows(int left) {
  return widens<Number> && left == 3 ? 2 : Isa::kernel_rows(left);
}

// The most rows of any kernel for a number format.
template <class Isa, class Number>
constexpr int most_kernel_rows() {
  int most = 1;
  for (int rows = 1; rows <= (widens<Number> ? typed_rows : Isa::tile_rows); ++rows) {
    if (kernel_rows<Isa, Number>(rows) > most) most = kernel_rows<Isa, Number>(rows);
  }
  return most;
}
template <class Isa, class Number>
constexpr int most_rows = most_kernel_rows<Isa, Number>();

// A number as a type.
template <int number>
struct Constant {
  static constexpr int value = number;
};

// Calls with a number of rows as a type: one for which there are kernels, at most `most`.
template <class Isa, class Number, int most, class Call>
ATTEND_ALWAYS_INLINE void with_rows(int rows, Call call) {
  constexpr bool is_kernel = kernel_rows<Isa, Number>(most) == most;
  if constexpr (most > 1) {
    if (!is_kernel || rows != most) return with_rows<Isa, Number, most - 1>(rows, call);
  }
  if constexpr (is_kernel) call(Constant<most>());
}

// Calls with the first row and the number of rows, as a type, of each kernel that `rows` rows take.
template <class Isa, class Number, class Call>
ATTEND_ALWAYS_INLINE void for_each_kernel(int rows, Call call) {
  for (int r = 0, some; r < rows; r += some) {
    some = kernel_rows<Isa, Number>(rows - r);
    with_rows<Isa, Number, most_rows<Isa, Number>>(some, [&](auto count) { call(r, count); });
  }
}

}  // namespace
}  // namespace attend
