// Which kernels there are: a tile of rows is done by kernels of a few numbers of rows, and each of these goes over keys or
// columns by wide tiles, then by narrower ones.
#pragma once

#include "../numerics/float_rules.h"

namespace attend {
namespace {

// Whether numbers are of one or two bytes, which are widened in registers.
template <class Number>
constexpr bool widens = sizeof(Number) < sizeof(float);

constexpr int typed_rows = 4;  // the most for which there are tiles that do

// The most rows of any kernel for a number format.
template <class Isa, class Number>
constexpr int most_rows = widens<Number>&& typed_rows < Isa::kernel_rows(Isa::tile_rows) ? typed_rows
                                                                                         : Isa::kernel_rows(Isa::tile_rows);

// Vectors of the tile that goes on where one of `vecs` is too wide; `least` is the narrowest.
template <class Number>
constexpr int narrower(int vecs, int least) {
  return !widens<Number> ? vecs / 2 : vecs > 4 ? 4 : least;
}

// A number of rows as a type.
template <int rows>
struct RowCount {
  static constexpr int value = rows;
};

// Calls with a number of rows as a type: one for which there are kernels, at most `most`.
template <class Isa, int most, class Call>
ATTEND_ALWAYS_INLINE void with_rows(int rows, Call call) {
  if constexpr (most > 1) {
    if (Isa::kernel_rows(most) != most || rows != most) return with_rows<Isa, most - 1>(rows, call);
  }
  if constexpr (Isa::kernel_rows(most) == most) call(RowCount<most>());
}

// Calls with the first row and the number of rows, as a type, of each kernel that `rows` rows take.
template <class Isa, int most, class Call>
ATTEND_ALWAYS_INLINE void for_each_kernel(int rows, Call call) {
  for (int r = 0, some; r < rows; r += some) {
    some = Isa::kernel_rows(rows - r);
    with_rows<Isa, most>(some, [&](auto count) { call(r, count); });
  }
}

}  // namespace
}  // namespace attend
