// What an instruction set does with numbers of other formats, compiled with that instruction set and checked without it:
// tests/test_formats*.cpp.
#pragma once

#include <cstddef>

#include "attend/core_options.h"

namespace attend_test {

// Of `rows` rows: 1 to max_rows, with numbers of one format. Rows of scores and weights are score_keys apart.
struct RowKernels {
  void (*scores)(const float* query, const void* panels, int head_dim, int key_count, float* scores);
  void (*values)(const float* weights, const void* values, std::ptrdiff_t stride, int keys, float* sums, int value_dim,
                 bool begun);
};

constexpr int max_rows = 4;

struct FormatKernels {
  void (*widen_row)(attend::core::Format, const void* from, int count, float* to);
  RowKernels rows[3][max_rows];  // of float16, bfloat16, int8
};

// Against the scalar ones, which are checked against the definition of the formats.
void check_format_kernels(const FormatKernels& kernels);

}  // namespace attend_test

// What is below is compiled with the instruction set.
#include "../../src/kernel/typed_tiles.h"

namespace {

template <class Isa, class Number, int rows>
constexpr attend_test::RowKernels row_kernels() {
  return {
      [](const float* query, const void* panels, int head_dim, int key_count, float* scores) {
        attend::typed_scores<Isa, Number, rows>(query, static_cast<const Number*>(panels), head_dim, key_count, nullptr,
                                                scores);
      },
      [](const float* weights, const void* values, std::ptrdiff_t stride, int keys, float* sums, int value_dim, bool begun) {
        attend::typed_values<Isa, Number, rows>(weights, static_cast<const Number*>(values), stride, keys, attend::chain_keys,
                                                {sums, value_dim, begun});
      }};
}

template <class Isa>
constexpr attend_test::FormatKernels format_kernels() {
  using attend::Bfloat;
  using attend::Half;
  return {attend::widen_row<Isa>,
          {{row_kernels<Isa, Half, 1>(), row_kernels<Isa, Half, 2>(), row_kernels<Isa, Half, 3>(), row_kernels<Isa, Half, 4>()},
           {row_kernels<Isa, Bfloat, 1>(), row_kernels<Isa, Bfloat, 2>(), row_kernels<Isa, Bfloat, 3>(),
            row_kernels<Isa, Bfloat, 4>()},
           {row_kernels<Isa, int8_t, 1>(), row_kernels<Isa, int8_t, 2>(), row_kernels<Isa, int8_t, 3>(),
            row_kernels<Isa, int8_t, 4>()}}};
}

}  // namespace
