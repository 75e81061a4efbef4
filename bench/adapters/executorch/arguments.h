// Arguments of kernels as ExecuTorch's runtime passes them, read without its checks that end the program: what does not fit
// fails the kernel, with a line in the log.
#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include <cstddef>
#include <cstdint>

namespace attend_executorch {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;

// Bytes of a number; 0 of types that no kernel here takes.
inline std::ptrdiff_t bytes_of(ScalarType type) {
  switch (type) {
    case ScalarType::Byte:
    case ScalarType::Char:
    case ScalarType::Bool:
      return 1;
    case ScalarType::Short:
    case ScalarType::Half:
    case ScalarType::BFloat16:
      return 2;
    case ScalarType::Int:
    case ScalarType::Float:
      return 4;
    case ScalarType::Long:
    case ScalarType::Double:
      return 8;
    default:
      return 0;
  }
}

// A tensor that was checked: sizes are not negative, numbers of the last axis lie side by side, and where there are any, so is
// memory.
struct Array {
  void* data = nullptr;
  ScalarType type = ScalarType::Undefined;
  int axes = 0;
  std::ptrdiff_t size[4] = {}, stride[4] = {};

  std::ptrdiff_t numbers() const {
    std::ptrdiff_t count = 1;
    for (int axis = 0; axis < axes; ++axis) count *= size[axis];
    return count;
  }
  char* row(std::ptrdiff_t a, std::ptrdiff_t b, std::ptrdiff_t c) const {
    return static_cast<char*>(data) + (a * stride[0] + b * stride[1] + c * stride[2]) * bytes_of(type);
  }
};

// The arguments of one call. The first that is wrong fails the kernel; what is read after that means nothing.
class Arguments {
 public:
  Arguments(KernelRuntimeContext& context, const char* name, Span<EValue*> stack, std::size_t count)
      : context_(context), name_(name), stack_(stack) {
    require(stack.data() != nullptr && stack.size() >= count, "has fewer arguments than its schema");
  }

  bool failed() const { return failed_; }
  const char* name() const { return name_; }

  // What must be, and the sentence to log where it is not.
  bool require(bool condition, const char* sentence, Error error = Error::InvalidArgument) {
    if (condition || failed_) return !failed_;
    failed_ = true;
    ET_LOG(Error, "attend: %s %s", name_, sentence);
    context_.fail(error);
    return false;
  }

  bool is_none(std::size_t index) const { return failed_ || stack_[index] == nullptr || stack_[index]->isNone(); }

  std::int64_t integer(std::size_t index, const char* sentence) {
    if (!require(!is_none(index) && stack_[index]->isInt(), sentence)) return 0;
    return stack_[index]->payload.copyable_union.as_int;
  }
  bool truth(std::size_t index, const char* sentence) {
    if (!require(!is_none(index) && (stack_[index]->isBool() || stack_[index]->isInt()), sentence)) return false;
    const auto& payload = stack_[index]->payload.copyable_union;
    return stack_[index]->isBool() ? payload.as_bool : payload.as_int != 0;
  }
  double real(std::size_t index, const char* sentence) {
    if (!require(!is_none(index) && (stack_[index]->isDouble() || stack_[index]->isInt()), sentence)) return 0;
    const auto& payload = stack_[index]->payload.copyable_union;
    return stack_[index]->isDouble() ? payload.as_double : double(payload.as_int);
  }
  Tensor* tensor(std::size_t index, const char* sentence) {
    if (!require(
            !is_none(index) && stack_[index]->isTensor() && stack_[index]->payload.as_tensor.unsafeGetTensorImpl() != nullptr,
            sentence))
      return nullptr;
    return &stack_[index]->payload.as_tensor;
  }

  // A tensor of so many axes, at most 4.
  Array array(std::size_t index, int axes, const char* sentence) {
    Array array;
    const Tensor* const given = tensor(index, sentence);
    if (given == nullptr) return array;
    array.axes = axes;
    array.type = given->scalar_type();
    array.data = given->mutable_data_ptr();
    const auto sizes = given->sizes();
    const auto strides = given->strides();
    if (!require(given->dim() == axes && sizes.data() != nullptr && bytes_of(array.type) != 0, sentence)) return array;
    if (!require(given->unsafeGetTensorImpl()->device_type() == executorch::aten::DeviceType::CPU,
                 "has a tensor that is not in the memory of the processor"))
      return array;
    std::ptrdiff_t dense = 1;  // of every axis, or too long for memory
    for (int axis = axes - 1; axis >= 0; --axis) {
      const std::size_t at = std::size_t(axis);
      array.size[axis] = sizes[at];
      array.stride[axis] = strides.data() == nullptr ? dense : strides[at];
      const bool fits = sizes[at] >= 0 && array.stride[axis] >= 0 &&
                        !__builtin_mul_overflow(dense, std::ptrdiff_t(sizes[at] > 0 ? sizes[at] : 1), &dense);
      if (!require(fits && dense <= PTRDIFF_MAX / 64, sentence)) return array;
    }
    const int last = axes - 1;
    require(array.size[last] <= 1 || array.stride[last] == 1, "has a tensor whose last axis is not contiguous");
    require(array.numbers() == 0 || array.data != nullptr, "has a tensor without memory");
    return array;
  }

 private:
  KernelRuntimeContext& context_;
  const char* name_;
  Span<EValue*> stack_;
  bool failed_ = false;
};

}  // namespace attend_executorch
