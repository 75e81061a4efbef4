// The arrays that functions take: C arrays of floats of any number of extents, Vectors, and Query, Key, Value and Output.
#pragma once

#include <stddef.h>

#include "../shape.h"

namespace attend {

// vector[token][i]: numbers of tokens side by side; for projections in integers of int8_t or int16_t.
template <int tokens, int size, class Number = float>
struct Vectors {
  static_assert(tokens >= 1 && size >= 1, "attend: Vectors have at least 1 token and 1 number");
  static_assert(detail::Same<Number, float>::value || detail::Same<Number, int8_t>::value ||
                    detail::Same<Number, int16_t>::value,
                "attend: Vectors are of float, int8_t or int16_t");
  Number data[size_t(tokens)][size_t(size)];

  constexpr auto& operator[](int token) { return data[token]; }
  constexpr const auto& operator[](int token) const { return data[token]; }
};

namespace detail {

// The innermost element of an array type and its extents. A type that is no array has none.
template <class Type>
struct ArrayExtents {
  using Element = Type;
  static constexpr size_t count = 1, first = 1, last = 1, before_last = 1;
  static constexpr int dimensions = 0;
  static constexpr bool has_rows_of(size_t /*width*/) { return false; }
};
template <class Type, size_t extent>
struct ArrayExtents<Type[extent]> {
  using Inner = ArrayExtents<Type>;
  using Element = typename Inner::Element;
  static constexpr size_t count = extent * Inner::count, first = extent;
  static constexpr int dimensions = Inner::dimensions + 1;
  static constexpr size_t last = dimensions == 1 ? extent : Inner::last;
  static constexpr size_t before_last = dimensions == 2 ? extent : Inner::before_last;
  // Whether the last extent, or some of the last ones together, have so many elements.
  static constexpr bool has_rows_of(size_t width) { return width == count || Inner::has_rows_of(width); }
};

template <class Type>
struct Holds {
  using Array = Type;
};

// The array that an argument is or, as Query, Key, Value and Output do, holds.
template <class Type>
Holds<Type> array_of(const Type*, const void*);
template <class Type, int tokens, int heads, int width, class Number>
Holds<Number[size_t(tokens)][size_t(heads)][size_t(width)]> array_of(const Type*, const Rows<tokens, heads, width, Number>*);
template <class Type, int tokens, int size, class Number>
Holds<Number[size_t(tokens)][size_t(size)]> array_of(const Type*, const Vectors<tokens, size, Number>*);

template <class Type>
struct ArrayOf : ArrayExtents<typename decltype(array_of(static_cast<Type*>(nullptr), static_cast<Type*>(nullptr)))::Array> {
  using Base = ArrayExtents<typename decltype(array_of(static_cast<Type*>(nullptr), static_cast<Type*>(nullptr)))::Array>;
  static constexpr bool is_floats = Base::dimensions > 0 && Same<const typename Base::Element, const float>::value;
};

// The first number of an array, or of one that holds one.
template <class Type>
constexpr auto* first_number(Type& array) {
  if constexpr (__is_class(Type)) {
    return first_number(array.data);
  } else if constexpr (ArrayExtents<Type>::dimensions > 0) {
    return first_number(array[0]);
  } else {
    return &array;
  }
}

// An array as numbers of tokens. Its first extent is the tokens; an array of one extent is one token. Other types have none.
template <class Type, bool are_numbers = ArrayOf<Type>::is_floats>
struct VectorsOf {
  using Array = ArrayOf<Type>;
  using Number = typename Array::Element;
  static constexpr int tokens = !are_numbers ? 0 : Array::dimensions == 1 ? 1 : int(Array::first);
  static constexpr int size = tokens == 0 ? 0 : int(Array::count / (Array::dimensions == 1 ? 1 : Array::first));
};

// The same of Vectors of integers, and of the arrays of an integer shape.
template <class Type>
using IntegersOf = VectorsOf<Type, __is_class(Type) && !ArrayOf<Type>::is_floats && ArrayOf<Type>::dimensions != 0>;

// The same of any argument; null where it is no array of floats.
template <class Array>
auto* first_of(Array& array) {
  if constexpr (ArrayOf<Array>::is_floats) {
    return first_number(array);
  } else {
    return static_cast<float*>(nullptr);
  }
}

// Whether an argument is a float[].
template <class Array>
constexpr bool is_row = ArrayOf<typename Bare<Array>::Name>::is_floats&& ArrayOf<typename Bare<Array>::Name>::dimensions == 1;

// Whether all are arrays of floats.
template <class... Arrays>
constexpr bool are_floats = (ArrayOf<Arrays>::is_floats && ...);

// Whether all have as many floats; true where one is no array of floats.
template <class First, class... Others>
constexpr bool are_as_many = !are_floats<First, Others...> || ((ArrayOf<First>::count == ArrayOf<Others>::count) && ...);

// Whether two arrays share memory.
template <class Array, class Other>
bool overlap(const Array& a, const Other& b) {
  const uintptr_t first = reinterpret_cast<uintptr_t>(&a), second = reinterpret_cast<uintptr_t>(&b);
  return first < second + sizeof b && second < first + sizeof a;
}

// Whether y shares memory with x but is another array: then a block would write what a later block reads.
template <class X, class Y>
bool overlaps_partly(const X& x, const Y& y) {
  return overlap(x, y) && (static_cast<const void*>(&x) != static_cast<const void*>(&y) || sizeof x != sizeof y);
}

struct None {};

}  // namespace detail

// The argument in place of a weight or bias that is left out.
inline constexpr detail::None none{};

}  // namespace attend
