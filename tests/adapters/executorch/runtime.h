// The stub of ExecuTorch's runtime as the tests see it, and tensors for its kernels.
#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace stub {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::Error;
using executorch::runtime::EValue;

std::vector<executorch::runtime::Kernel>& kernels();
std::string& log();
extern int threads;

// A tensor with memory of its own.
template <class Number>
struct Made {
  std::vector<int32_t> sizes, strides;
  std::vector<Number> numbers;
  std::unique_ptr<TensorImpl> impl;

  Made(ScalarType type, std::vector<int32_t> of_sizes, Number fill = Number())
      : sizes(std::move(of_sizes)), strides(sizes.size()) {
    int64_t count = 1;
    for (size_t axis = sizes.size(); axis-- > 0;) {
      strides[axis] = int32_t(count);
      count *= sizes[axis];
    }
    numbers.assign(size_t(count), fill);
    impl = std::make_unique<TensorImpl>(type, ssize_t(sizes.size()), sizes.data(), numbers.data(), nullptr, strides.data());
  }
  Made(Made&&) = default;
  EValue value() const { return EValue(Tensor(impl.get())); }
  Number& at(int a, int b, int c, int d) { return numbers[size_t(a * strides[0] + b * strides[1] + c * strides[2] + d)]; }
};

// A kernel of the registry, called with values in the order of its schema. The error that it has left.
inline Error call(const char* name, std::vector<EValue> values) {
  for (const auto& kernel : kernels()) {
    if (std::strcmp(kernel.name_, name) != 0) continue;
    std::vector<EValue*> stack;
    for (EValue& value : values) stack.push_back(&value);
    executorch::runtime::KernelRuntimeContext context;
    log().clear();
    kernel.op_(context, {stack.data(), stack.size()});
    return context.failure_state();
  }
  return Error::OperatorMissing;
}

}  // namespace stub
