// The numbers of a state as a plain array: rows of panels are rows of a matrix, cut.
#include "../call/portable.h"
#include "list.h"

namespace attend::core {
namespace {

// Rows that are as wide as a panel have a known size, for which no function is called.
ATTEND_ALWAYS_INLINE void copy_panel_row(float* to, const float* from, size_t count) {
  if (count == panel_keys) {
    ATTEND_MEMCPY(to, from, panel_keys * sizeof(float));
  } else {
    ATTEND_MEMCPY(to, from, count * sizeof(float));
  }
}

// Calls move(place in the array, place in the state, count) for each row of each panel, in the order of the array.
template <class Move>
ATTEND_ALWAYS_INLINE void for_each_row_of_panels(const LinearHead& of, Move move) {
  const size_t width = size_t(of.value_dim), dims = size_t(of.head_dim), rows = dims * size_t(of.value_heads);
  for (size_t row = 0; row < rows; ++row) {
    const size_t d = row % dims, head = row - d;
    for (size_t column = 0; column < width; column += panel_keys) {
      const size_t count = width - column < panel_keys ? width - column : panel_keys;
      move(row * width + column, head * width + column * dims + d * count, count);
    }
  }
}

}  // namespace

void get_numbers(const LinearHead& of, const float* state, float* numbers) {
  for_each_row_of_panels(of, [&](size_t to, size_t from, size_t count)
                                 ATTEND_INLINE_LAMBDA { copy_panel_row(numbers + to, state + from, count); });
}

void set_numbers(const LinearHead& of, const float* numbers, float* state) {
  for_each_row_of_panels(of, [&](size_t from, size_t to, size_t count)
                                 ATTEND_INLINE_LAMBDA { copy_panel_row(state + to, numbers + from, count); });
  const size_t first = linear_head_floats(of.head_dim, of.value_dim) * size_t(of.value_heads), end = saved_numbers(of);
  for (size_t i = first; i < end; ++i) state[i] = least_log_gate;  // the next token sweeps
}

}  // namespace attend::core
