// The arrays that functions take: C arrays of floats of any number of extents, Vectors, and Query, Key, Value and Output.
#pragma once

#include <stddef.h>

#include "../shape.h"

namespace attend {

// vector[token][i]: numbers of tokens side by side.
template <int tokens, int size>
struct Vectors {
  static_assert(tokens >= 1 && size >= 1, "attend: Vectors have at least 1 token and 1 number");
  float data[size_t(tokens)][size_t(size)];

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
template <class Type, int tokens, int heads, int width>
Holds<float[size_t(tokens)][size_t(heads)][size_t(width)]> array_of(const Type*, const Rows<tokens, heads, width>*);
template <class Type, int tokens, int size>
Holds<float[size_t(tokens)][size_t(size)]> array_of(const Type*, const Vectors<tokens, size>*);

template <class Type>
struct FloatArray : ArrayExtents<typename decltype(array_of(static_cast<Type*>(nullptr), static_cast<Type*>(nullptr)))::Array> {
  using Base = ArrayExtents<typename decltype(array_of(static_cast<Type*>(nullptr), static_cast<Type*>(nullptr)))::Array>;
  static constexpr bool is_floats = Base::dimensions > 0 && Same<const typename Base::Element, const float>::value;
};

// The first float of an array.
inline float* first_float(float& first) { return &first; }
inline const float* first_float(const float& first) { return &first; }
template <class Type, size_t extent>
auto* first_float(Type (&array)[extent]) {
  return first_float(array[0]);
}
template <int tokens, int heads, int width>
float* first_float(Rows<tokens, heads, width>& rows) {
  return rows.data[0][0];
}
template <int tokens, int heads, int width>
const float* first_float(const Rows<tokens, heads, width>& rows) {
  return rows.data[0][0];
}
template <int tokens, int size>
float* first_float(Vectors<tokens, size>& vectors) {
  return vectors.data[0];
}
template <int tokens, int size>
const float* first_float(const Vectors<tokens, size>& vectors) {
  return vectors.data[0];
}

// An array as numbers of tokens: those of its first extent, or one token where there is one extent. No tokens for any other
// type.
template <class Type>
struct VectorsOf {
  using Array = FloatArray<Type>;
  static constexpr int tokens = !Array::is_floats ? 0 : Array::dimensions == 1 ? 1 : int(Array::first);
  static constexpr int size = tokens == 0 ? 0 : int(Array::count / (Array::dimensions == 1 ? 1 : Array::first));
};

// The same of any argument; null where it is no array of floats.
template <class Array>
auto* first_of(Array& array) {
  if constexpr (FloatArray<Array>::is_floats) {
    return first_float(array);
  } else {
    return static_cast<float*>(nullptr);
  }
}

// Whether an argument is a float[].
template <class Array>
constexpr bool is_row =
    FloatArray<typename Bare<Array>::Name>::is_floats&& FloatArray<typename Bare<Array>::Name>::dimensions == 1;

// Whether all are arrays of floats.
template <class... Arrays>
constexpr bool are_floats = (FloatArray<Arrays>::is_floats && ...);

// Whether all have as many floats; of what is no array of floats that is not asked.
template <class First, class... Others>
constexpr bool are_as_many = !are_floats<First, Others...> || ((FloatArray<First>::count == FloatArray<Others>::count) && ...);

// The argument in place of an array that is left out.
struct None {};

}  // namespace detail
}  // namespace attend
