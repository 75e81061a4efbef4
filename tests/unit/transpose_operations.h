// Transposes of an instruction set. Compiled with it, as operations.h is.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../support/tested.h"

#include "operation_numbers.h"

namespace {

template <class Isa>
class TransposeTest : LaneNumbers<Isa> {
  using Vec = typename Isa::Vec;
  using LaneNumbers<Isa>::is;
  static constexpr int lanes = Isa::lanes;

 public:
  static bool transposes() {
    constexpr int some = Isa::transposed;
    float from[16][2 * 16], to[16 * 16];
    const float* rows[16];
    for (int j = 0; j < 16; ++j) {
      rows[j] = from[j];
      for (int i = 0; i < 2 * 16; ++i) from[j][i] = float(100 * j + i);
    }
    bool right = true;
    for (float& number : to) number = -1.0f;
    Isa::transpose(rows, 3, to);
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 16; ++j) {
        right = right && are_same(to[16 * i + j], i < some && j < some ? from[j][3 + i] : -1.0f);
      }
    }
    return right;
  }

  // Rows of exactly four floats: a sanitizer sees what is read behind the last one.
  static bool has_columns_of_rows() {
    constexpr int stride = 7;
    float rows[(lanes - 1) * stride + 4];
    for (int i = 0; i < (lanes - 1) * stride + 4; ++i) rows[i] = float(i);
    Vec columns[4];
    Isa::columns_of_rows(rows, stride, columns);
    bool right = true;
    for (int i = 0; i < 4; ++i) right = right && is(columns[i], [=](int j) { return float(stride * j + i); });
    return right;
  }

  // Of three bytes more than words from row to row; nothing behind the last row is read.
  static bool has_columns_of_words(float* end) {
    constexpr int stride = 19, count = (lanes - 1) * stride + 16;
    void* const behind = end;
    uint8_t* const rows = static_cast<uint8_t*>(behind) - count;
    for (int i = 0; i < count; ++i) rows[i] = uint8_t(7 * i + i / 64);
    Vec columns[4];
    Isa::columns_of_rows(rows, stride, columns);
    bool right = true;
    for (int i = 0; i < 4; ++i) {
      float lane[lanes];
      Isa::store(lane, columns[i]);
      right = right && has_words(lane, rows + 4 * i, stride);
    }
    return right;
  }
  static bool has_words(const float* lane, const uint8_t* rows, int stride) {
    for (int j = 0; j < lanes; ++j) {
      uint32_t word;
      __builtin_memcpy(&word, rows + j * stride, sizeof word);
      if (attend::bits_to<uint32_t>(lane[j]) != word) return false;
    }
    return true;
  }

  template <class Number>
  static bool transposes_rows() {
    constexpr int numbers = 16 / int(sizeof(Number)), stride = numbers + 3, count = 15 * stride + numbers;
    Number rows[count], to[16 * numbers];
    unsigned char bytes[sizeof rows], expected[sizeof to];
    for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<unsigned char>(i * 167 + i / 256);
    __builtin_memcpy(rows, bytes, sizeof rows);
    for (int i = 0; i < numbers; ++i) {
      for (int j = 0; j < 16; ++j) {
        const int at = 16 * i + j, from = stride * j + i;
        __builtin_memcpy(expected + at * int(sizeof(Number)), bytes + from * int(sizeof(Number)), sizeof(Number));
      }
    }
    Isa::transpose_rows(rows, stride, to);
    return __builtin_memcmp(to, expected, sizeof to) == 0;
  }
};

}  // namespace
