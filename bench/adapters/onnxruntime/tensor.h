// Tensors, attributes and the call of a kernel, as operators see them. Nothing that the runtime says of a tensor is believed
// before it was checked.
#pragma once

#include <climits>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "runtime.h"

namespace attend_adapter::onnx {

// What is wrong with a call, in a sentence. It becomes the status of the runtime.
struct Error {
  Code code;
  std::string text;
};
[[noreturn]] inline void refuse(std::string text, Code code = invalid_argument) { throw Error{code, std::move(text)}; }

// A status of the runtime that is not null ends the call.
struct Refused {
  OrtStatus* status;
};
inline void check(OrtStatus* status) {
  if (status != nullptr) throw Refused{status};
}
// Whether there is what was asked for.
inline bool found(OrtStatus* status) {
  if (status != nullptr) ReleaseStatus(status);
  return status == nullptr;
}

// Runs `work` and returns what it threw as a status of the runtime: nothing is thrown into the runtime.
template <class Work>
OrtStatus* guarded(const char* name, const Work& work) noexcept {
  try {
    work();
    return nullptr;
  } catch (const Refused& refused) {
    return refused.status;
  } catch (const Error& error) {
    try {
      return CreateStatus(error.code, (std::string("Attend: ") + name + ": " + error.text).c_str());
    } catch (...) {
      return CreateStatus(fail, "Attend: not enough memory");
    }
  } catch (...) {
    return CreateStatus(fail, "Attend: not enough memory");
  }
}

// The product, which must stay within what indices are computed with.
inline int64_t times(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product) || product > int64_t(PTRDIFF_MAX / 16)) refuse("a tensor has too many elements");
  return product;
}

// An extent as the int that the library counts with.
inline int narrow(int64_t extent) {
  if (extent < 0 || extent > INT_MAX / 2) refuse("an extent of " + std::to_string(extent) + " is too large");
  return int(extent);
}

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> extents) : extents_(extents) {}
  explicit Shape(std::vector<int64_t> extents) : extents_(std::move(extents)) {}

  int rank() const { return int(extents_.size()); }
  // Axes below 0 count from the last one.
  int64_t operator[](int axis) const { return extents_[std::size_t(axis < 0 ? axis + rank() : axis)]; }
  int64_t& operator[](int axis) { return extents_[std::size_t(axis < 0 ? axis + rank() : axis)]; }
  int64_t count() const { return count(0, rank()); }
  // Elements of the axes from first up to end.
  int64_t count(int first, int end) const {
    int64_t product = 1;
    bool none = false;
    for (int axis = first; axis < end; ++axis) none = none || (*this)[axis] == 0;
    for (int axis = first; axis < end && !none; ++axis) product = times(product, (*this)[axis]);
    return none ? 0 : product;
  }
  bool operator==(const Shape& other) const { return extents_ == other.extents_; }
  bool operator!=(const Shape& other) const { return extents_ != other.extents_; }
  const int64_t* data() const { return extents_.data(); }
  const std::vector<int64_t>& extents() const { return extents_; }
  std::string text() const {
    std::string list = "[";
    for (int axis = 0; axis < rank(); ++axis) list += (axis > 0 ? ", " : "") + std::to_string((*this)[axis]);
    return list + "]";
  }

 private:
  std::vector<int64_t> extents_;
};

// An axis that an attribute names, from 0 on.
inline int axis_of(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    refuse("axis " + std::to_string(axis) + " is not one of a tensor of " + std::to_string(rank) + " axes");
  return int(axis < 0 ? axis + rank : axis);
}

// An input. One that is left out has no type.
struct Tensor {
  const void* data = nullptr;
  Type type = undefined;
  Shape shape;

  explicit operator bool() const { return type != undefined; }
  template <class Number>
  const Number* as() const {
    return static_cast<const Number*>(data);
  }
  const float* floats() const { return as<float>(); }
};

inline const char* name_of(Type type) {
  switch (type) {
    case float32:
      return "float32";
    case uint8:
      return "uint8";
    case int8:
      return "int8";
    case int32:
      return "int32";
    case int64:
      return "int64";
    case boolean:
      return "bool";
    case float16:
      return "float16";
    case float64:
      return "float64";
    case bfloat16:
      return "bfloat16";
    case undefined:
      break;
  }
  return "another type";
}

inline Tensor tensor_of(const OrtValue* value) {
  Tensor tensor;
  if (value == nullptr) return tensor;
  int is_tensor = 0;
  check(IsTensor(value, &is_tensor));
  if (is_tensor == 0) refuse("an input is not a tensor");
  OrtTensorTypeAndShapeInfo* info = nullptr;
  check(GetTensorTypeAndShape(value, &info));
  struct Release {
    OrtTensorTypeAndShapeInfo* info;
    ~Release() { ReleaseTensorTypeAndShapeInfo(info); }
  } release{info};
  int type = undefined;
  std::size_t rank = 0;
  check(GetTensorElementType(info, &type));
  check(GetDimensionsCount(info, &rank));
  std::vector<int64_t> extents(rank);
  if (rank > 0) check(GetDimensions(info, extents.data(), rank));
  for (const int64_t extent : extents) {
    if (extent < 0) refuse("a tensor has an extent below 0");
  }
  tensor.type = Type(type);
  tensor.shape = Shape(std::move(extents));
  void* data = nullptr;
  check(GetTensorMutableData(const_cast<OrtValue*>(value), &data));
  if (data == nullptr && tensor.shape.count() > 0) refuse("a tensor has no data");
  tensor.data = data;
  return tensor;
}

}  // namespace attend_adapter::onnx
