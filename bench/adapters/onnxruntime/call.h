// The call of a kernel: its inputs, its outputs, and the threads and the memory that it computes with.
#pragma once

#include <set>

#include "../common/memory.h"
#include "tensor.h"
#include "threads.h"

namespace attend_adapter::onnx {

class Node;

// The attributes of a node, read once, when its kernel is made, or before, when the provider is asked whether it takes the
// node. What is there, and nobody reads, is not ignored: the provider leaves such a node, custom operators refuse it.
class Attributes {
 public:
  explicit Attributes(const OrtKernelInfo* info) : info_(info) {}
  explicit Attributes(const Node& node) : node_(&node) {}

  int64_t integer(const char* name, int64_t otherwise) const;
  float number(const char* name, float otherwise) const;
  std::vector<int64_t> integers(const char* name) const;  // empty where there is none
  std::string text(const char* name, const char* otherwise) const;
  bool flag(const char* name, bool otherwise = false) const {
    const int64_t number = integer(name, otherwise);
    if (number != 0 && number != 1) refuse_value(name, std::to_string(number), "0 or 1");
    return number == 1;
  }
  // What has one value that is computed.
  void only(const char* name, int64_t value) const {
    const int64_t number = integer(name, value);
    if (number != value) refuse_value(name, std::to_string(number), std::to_string(value));
  }
  void only_text(const char* name, const char* value) const {
    const std::string found = text(name, value);
    if (found != value) refuse_value(name, found, value);
  }
  [[noreturn]] static void refuse_value(const char* name, const std::string& value, const std::string& expected) {
    refuse(std::string("attribute ") + name + " is " + value + ", expected " + expected);
  }
  // Refuses attributes that were not read. A kernel is told of those alone that it asks for by name, so these are the names
  // that some specification has for the operators here, or has for such ones.
  void refuse_others() const;

  std::size_t inputs() const;
  // An input that is the same in all calls, or one that is left out.
  Tensor constant(int input) const;

 private:
  template <class Entry, class Number>
  Number read(const Entry& entry, const char* name, Number otherwise) const;
  void expect_absent(const char* name) const;
  bool has(const char* name) const;

  const OrtKernelInfo* info_ = nullptr;
  const Node* node_ = nullptr;
  mutable std::set<std::string> read_;
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
