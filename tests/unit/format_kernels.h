// What an instruction set does with numbers of other formats, compiled with that instruction set and checked without it:
// tests/test_formats*.cpp.
#pragma once

#include <cstddef>

#include "attend/core/options.h"

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
#include "../support/tested.h"

namespace {

template <class Isa, attend::core::Format format, int rows>
constexpr attend_test::RowKernels row_kernels() {
  return {
      [](const float* query, const void* panels, int head_dim, int key_count, float* scores) {
        attend::Tiles<Isa>::score(rows, query, {panels, format, nullptr, head_dim}, 0, key_count, scores);
      },
      [](const float* weights, const void* values, std::ptrdiff_t stride, int keys, float* sums, int value_dim, bool begun) {
        const int visible[] = {keys, keys, keys, keys};
        attend::Tiles<Isa>::value(rows, weights, {values, format, stride, attend::chain_keys, nullptr}, visible,
                                  {sums, value_dim, begun, false});
      }};
}

template <class Isa>
constexpr attend_test::FormatKernels format_kernels() {
  using attend::core::Format;
  return {attend::widen_row<Isa>,
          {{row_kernels<Isa, Format::float16, 1>(), row_kernels<Isa, Format::float16, 2>(),
            row_kernels<Isa, Format::float16, 3>(), row_kernels<Isa, Format::float16, 4>()},
           {row_kernels<Isa, Format::bfloat16, 1>(), row_kernels<Isa, Format::bfloat16, 2>(),
            row_kernels<Isa, Format::bfloat16, 3>(), row_kernels<Isa, Format::bfloat16, 4>()},
           {row_kernels<Isa, Format::int8, 1>(), row_kernels<Isa, Format::int8, 2>(), row_kernels<Isa, Format::int8, 3>(),
            row_kernels<Isa, Format::int8, 4>()}}};
}

}  // namespace
