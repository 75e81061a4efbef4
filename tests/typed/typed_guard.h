// The widths of guarded calls of the typed surface, which are compiled in: around those of vectors.
#pragma once

#include "../support/guarded.h"

#if ATTEND_TEST_GUARDS

#include <type_traits>
#include <utility>

#include "attend/merged_states.h"

namespace attend_test {

template <int width, int other>
struct ShapeOf {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = width, value_dim = other, max_tokens = 64;
};
constexpr int tokens = 3, keys = 64;

template <int... width, class Check>
void for_widths(std::integer_sequence<int, width...>, Check check) {
  (check(std::integral_constant<int, width>(), std::integral_constant<int, width * 37 % 131 % 130 + 1>()), ...);
}
// All of them take a minute to compile: tests/scripts/rest.sh does that with ALL=1.
#ifdef ATTEND_TEST_FIRST_WIDTH
template <int... width>
constexpr std::integer_sequence<int, ATTEND_TEST_FIRST_WIDTH + width...> from_first(std::integer_sequence<int, width...>) {
  return {};
}
constexpr auto widths = from_first(std::make_integer_sequence<int, 26>());
#else
constexpr std::integer_sequence<int, 1, 7, 16, 33, 64, 65, 127, 130> widths;
#endif

}  // namespace attend_test

#endif
