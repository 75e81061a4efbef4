// The arguments of a call after its arrays: work memory, options, a part; each is found by its type.
#pragma once

#include "../options.h"
#include "workspaces.h"

namespace attend {
namespace detail {

// The kinds of arguments after the arrays of a call, each at most once and in this order.
enum class Kind { other, work, options, part };

template <class Type>
struct KindOf {
  static constexpr Kind kind = work_floats(static_cast<Type*>(nullptr)) > 0 ? Kind::work : Kind::other;
};
template <>
struct KindOf<Options> {
  static constexpr Kind kind = Kind::options;
};
template <class Shape>
struct KindOf<ScoreOptions<Shape>> {
  static constexpr Kind kind = Kind::options;
  using ShapeType = Shape;
};
template <>
struct KindOf<Part> {
  static constexpr Kind kind = Kind::part;
};

// The defaults of a call without options or without a part: objects, so that none is made on the caller's stack.
struct Whole {};
struct NoOptions : Options {};  // a type of its own, so that checks of what nobody has set cost nothing
inline constexpr NoOptions no_options{};
inline constexpr Whole whole{};

// The argument of a kind, or its default.
template <Kind kind, class Fallback>
constexpr Fallback& pick(Fallback& fallback) {
  return fallback;
}
template <Kind kind, class Fallback, class First, class... Others>
constexpr auto& pick(Fallback& fallback, First& first, Others&... others) {
  if constexpr (KindOf<typename Bare<First>::Name>::kind == kind) {
    return first;
  } else {
    return pick<kind>(fallback, others...);
  }
}

template <class Shape, class Type>
constexpr bool is_of_shape(const Type*) {
  return true;
}
template <class Shape, class Other>
constexpr bool is_of_shape(const ScoreOptions<Other>*) {
  return Same<Other, Shape>::value;
}
constexpr bool is_score_options(const void*) { return false; }
template <class Shape>
constexpr bool is_score_options(const ScoreOptions<Shape>*) {
  return true;
}

// The arguments of a call after its arrays.
template <class Shape, class... More>
struct CallArguments {
  static constexpr bool in_order() {
    const Kind kinds[] = {Kind::other, KindOf<typename Bare<More>::Name>::kind...};
    for (size_t i = 0; i < sizeof...(More); ++i) {
      if (kinds[i + 1] <= kinds[i]) return false;
    }
    return true;
  }
  static_assert(in_order(),
                "attend: after its arrays a call takes work memory, if it needs any, then attend::Options or "
                "attend::ScoreOptions<Shape>, then an attend::Part; the last two may be left out");
  static_assert((is_of_shape<Shape>(null_of<More>()) && ...),
                "attend: attend::ScoreOptions must be of the shape of the call's arrays");
  static constexpr bool checked = true;  // to name it makes the compiler check what is above
  static constexpr bool score_options = (is_score_options(null_of<More>()) || ...);
  static constexpr bool work = ((KindOf<typename Bare<More>::Name>::kind == Kind::work) || ...);
  static constexpr bool only_options = ((KindOf<typename Bare<More>::Name>::kind == Kind::options) && ...);
};

}  // namespace detail
}  // namespace attend
