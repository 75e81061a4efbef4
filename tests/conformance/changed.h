// A copy of a case with other values in some of its fields: changed(c, &Case::keys, 5, &Case::causal, false). Freestanding.
#pragma once

namespace attend_test {

template <class Case>
constexpr Case changed(const Case& c) {
  return c;
}
template <class Case, class Field, class Value, class... More>
constexpr Case changed(Case c, Field Case::*field, Value value, More... more) {
  c.*field = value;
  return changed(c, more...);
}

}  // namespace attend_test
