// Chunks of keys and values in panels (core/integer.h): where a number lies, and how they are brought into rows for what
// reads rows only.
#ifndef ATTEND_ATTENTION_INTEGER_PANELS_H
#define ATTEND_ATTENTION_INTEGER_PANELS_H

#include "../../include/attend/core/integer.h"
#include "../numerics/arithmetic.h"

namespace attend::ATTEND_ISA {
namespace {

// Where number d of key k, or column c of value k, lies behind the first number of a chunk.
constexpr ptrdiff_t key_in_panel(int k, int d) { return ptrdiff_t(d / 4) * (4 * integer_chunk) + 4 * k + d % 4; }
constexpr ptrdiff_t value_in_panel(int k, int c, int width) { return (ptrdiff_t(k / 4) * width + c) * 4 + k % 4; }

// `count` rows of a chunk, one behind the other.
inline void rows_of_key_panel(const int8_t* panel, int count, int head_dim, int8_t* rows) {
  for (int k = 0; k < count; ++k, rows += head_dim) {
    const int8_t* from = panel + key_in_panel(k, 0);
    int d = 0;
    for (; d + 4 <= head_dim; d += 4, from += 4 * integer_chunk) __builtin_memcpy(rows + d, from, 4);
    for (int i = 0; d + i < head_dim; ++i) rows[d + i] = from[i];
  }
}
inline void rows_of_value_panel(const int8_t* panel, int count, int width, int8_t* rows) {
  for (int k = 0; k < count; k += 4, rows += 4 * ptrdiff_t(width)) {
    const int quad_keys = count - k < 4 ? count - k : 4;
    for (int c = 0; c < width; ++c, panel += 4) {
      for (int i = 0; i < quad_keys; ++i) rows[i * ptrdiff_t(width) + c] = panel[i];
    }
  }
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
