// The call of a kernel: its inputs, its outputs, and the threads and the memory that it computes with.
#pragma once

#include "../common/memory.h"
#include "tensor.h"
#include "threads.h"

namespace attend_adapter::onnx {

// The attributes of a node, read once, when its kernel is made.
class Attributes {
 public:
  explicit Attributes(const OrtKernelInfo* info) : info_(info) {}

  int64_t integer(const char* name, int64_t otherwise) const { return read(KernelInfoGetAttribute_int64, name, otherwise); }
  float number(const char* name, float otherwise) const { return read(KernelInfoGetAttribute_float, name, otherwise); }
  bool has_integer(const char* name) const {
    int64_t number;
    return found(KernelInfoGetAttribute_int64(info_, name, &number));
  }
  // Empty where there is none.
  std::vector<int64_t> integers(const char* name) const {
    std::size_t count = 0;
    if (!found(KernelInfoGetAttributeArray_int64(info_, name, nullptr, &count))) return {};
    std::vector<int64_t> numbers(count);
    if (count > 0) check(KernelInfoGetAttributeArray_int64(info_, name, numbers.data(), &count));
    return numbers;
  }
  std::string text(const char* name, const char* otherwise) const {
    std::size_t size = 0;
    if (!found(KernelInfoGetAttribute_string(info_, name, nullptr, &size)) || size == 0) return otherwise;
    std::string text(size, '\0');
    check(KernelInfoGetAttribute_string(info_, name, text.data(), &size));
    return text.c_str();  // the size counts the zero at the end
  }
  std::size_t inputs() const {
    std::size_t count = 0;
    check(KernelInfo_GetInputCount(info_, &count));
    return count;
  }
  // An input that is the same in all calls, or one that is left out.
  Tensor constant(int input) const {
    int is_constant = 0;
    const OrtValue* value = nullptr;
    check(KernelInfoGetConstantInput_tensor(info_, std::size_t(input), &is_constant, &value));
    return is_constant == 0 ? Tensor{} : tensor_of(value);
  }

 private:
  template <class Entry, class Number>
  Number read(const Entry& entry, const char* name, Number otherwise) const {
    Number number;
    return found(entry(info_, name, &number)) ? number : otherwise;
  }
  static bool found(OrtStatus* status) {
    if (status != nullptr) ReleaseStatus(status);
    return status == nullptr;
  }

  const OrtKernelInfo* info_;
};

// Work memory of a call, taken from and given back to those that other calls use.
class WorkMemory {
 public:
  WorkMemory() : memory_(take()) {}
  ~WorkMemory();
  WorkMemory(const WorkMemory&) = delete;
  WorkMemory& operator=(const WorkMemory&) = delete;

  Memory& memory() { return memory_; }
  template <class Number>
  Number* numbers(int64_t count) {
    Number* const numbers = memory_.numbers<Number>(std::size_t(count < 1 ? 1 : count));
    if (numbers == nullptr) refuse("there is not enough memory", fail);
    return numbers;
  }

 private:
  static Memory take();
  Memory memory_;
};

// Where the inputs and outputs of an operator are among those of a node that was made of several.
struct Wiring {
  static constexpr int none = -1;
  std::vector<int> inputs;                           // of the operator: that of the node, none, or place_of a constant
  std::vector<std::pair<Tensor, Memory>> constants;  // with copies of their data
  std::vector<int> outputs;

  static int place_of(std::size_t constant) { return -2 - int(constant); }
};

class Call {
 public:
  Call(OrtKernelContext* context, Threads& threads, const Wiring* wiring = nullptr)
      : context_(context), threads_(threads), wiring_(wiring) {}

  // An input; where it may be left out, one without a type.
  Tensor input(int index) const {
    if (wiring_ != nullptr) {
      const int place = std::size_t(index) < wiring_->inputs.size() ? wiring_->inputs[std::size_t(index)] : Wiring::none;
      if (place == Wiring::none) return {};
      if (place < 0) return wiring_->constants[std::size_t(-2 - place)].first;
      index = place;
    }
    std::size_t count = 0;
    check(KernelContext_GetInputCount(context_, &count));
    if (std::size_t(index) >= count) return {};
    const OrtValue* value = nullptr;
    check(KernelContext_GetInput(context_, std::size_t(index), &value));
    return tensor_of(value);
  }
  // An input that must be there, of a type.
  Tensor required(int index, const char* name, Type type = float32) const {
    Tensor tensor = input(index);
    if (!tensor) refuse(std::string("input ") + name + " is missing");
    expect(tensor, name, type);
    return tensor;
  }
  Tensor optional(int index, const char* name, Type type = float32) const {
    Tensor tensor = input(index);
    if (tensor) expect(tensor, name, type);
    return tensor;
  }
  static void expect(const Tensor& tensor, const char* name, Type type) {
    if (tensor.type != type)
      refuse(std::string("input ") + name + " is of " + name_of(tensor.type) + ", expected " + name_of(type));
  }

  // Memory of an output; null where the node does not have it.
  template <class Number = float>
  Number* output(int index, const Shape& shape) {
    if (wiring_ != nullptr) {
      index = std::size_t(index) < wiring_->outputs.size() ? wiring_->outputs[std::size_t(index)] : Wiring::none;
      if (index == Wiring::none) return nullptr;
    }
    std::size_t count = 0;
    check(KernelContext_GetOutputCount(context_, &count));
    if (std::size_t(index) >= count) return nullptr;
    shape.count();  // refused where it is too large
    OrtValue* value = nullptr;
    check(KernelContext_GetOutput(context_, std::size_t(index), shape.data(), std::size_t(shape.rank()), &value));
    if (value == nullptr) return nullptr;
    void* data = nullptr;
    check(GetTensorMutableData(value, &data));
    return static_cast<Number*>(data);
  }

  // Threads for about so many multiply-adds, or as much other work.
  Parallel parallel(double work) const { return threads_.lend(context_, work); }

 private:
  OrtKernelContext* context_;
  Threads& threads_;
  const Wiring* wiring_;
};

// Refuses what is not so.
inline void expect(bool is_so, const std::string& otherwise) {
  if (!is_so) refuse(otherwise);
}

}  // namespace attend_adapter::onnx
