// A node of a graph, before a kernel is made for it.
#pragma once

#include <cstring>
#include <set>

#include "operator.h"

namespace attend_adapter::onnx {

// What the graph says of a value; null where it says nothing, or the value is no tensor.
inline const OrtTensorTypeAndShapeInfo* tensor_info_of(const OrtValueInfo* value) {
  const OrtTypeInfo* type = nullptr;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  if (value == nullptr || !found(GetValueInfoTypeInfo(value, &type)) || type == nullptr) return nullptr;
  return found(CastTypeInfoToTensorInfo(type, &tensor)) ? tensor : nullptr;
}

class Node {
 public:
  explicit Node(const OrtNode* node) : node_(node) {
    std::size_t count = 0;
    check(Node_GetNumInputs(node, &count));
    inputs_.resize(count);
    if (count > 0) check(Node_GetInputs(node, inputs_.data(), count));
    check(Node_GetNumOutputs(node, &count));
    outputs_.resize(count);
    if (count > 0) check(Node_GetOutputs(node, outputs_.data(), count));
  }

  std::string type() const { return text(Node_GetOperatorType); }
  std::string domain() const {
    const std::string domain = text(Node_GetDomain);
    return domain == "ai.onnx" ? "" : domain;
  }
  int version() const {
    int version = 0;
    check(Node_GetSinceVersion(node_, &version));
    return version;
  }
  // The element type of an input; `undefined` where it is left out.
  Type input(std::size_t index) const { return index < inputs_.size() ? type_of(inputs_[index]) : undefined; }
  Type output(std::size_t index) const { return index < outputs_.size() ? type_of(outputs_[index]) : undefined; }
  bool has_output(std::size_t index) const { return output(index) != undefined; }
  const OrtNode* node() const { return node_; }
  const std::vector<const OrtValueInfo*>& inputs() const { return inputs_; }
  const std::vector<const OrtValueInfo*>& outputs() const { return outputs_; }

  // Attributes. One of another type than it is read by counts as one that nobody has read.
  int64_t integer(const char* name, int64_t otherwise) const {
    int64_t number = 0;
    return read(name, 1, &number, sizeof number) ? number : otherwise;
  }
  float number(const char* name, float otherwise) const {
    float number = 0;
    return read(name, 3, &number, sizeof number) ? number : otherwise;
  }
  std::vector<int64_t> integers(const char* name) const {
    int64_t numbers[8] = {};
    std::size_t used = 0;
    return read(name, 2, numbers, sizeof numbers, &used) ? std::vector<int64_t>(numbers, numbers + used / sizeof *numbers)
                                                         : std::vector<int64_t>{};
  }
  std::string text(const char* name, const char* otherwise) const {
    char buffer[64] = {};
    return read(name, 5, buffer, sizeof buffer - 1) ? buffer : otherwise;
  }
  // The first attribute that nobody has read; empty where there is none.
  std::string unread() const {
    std::size_t count = 0;
    check(Node_GetNumAttributes(node_, &count));
    std::vector<const OrtOpAttr*> attributes(count);
    if (count > 0) check(Node_GetAttributes(node_, attributes.data(), count));
    for (const OrtOpAttr* const attribute : attributes) {
      const char* name = nullptr;
      check(OpAttr_GetName(attribute, &name));
      if (read_.count(name) == 0) return name;
    }
    return {};
  }

 private:
  template <class Entry>
  std::string text(const Entry& entry) const {
    const char* text = nullptr;
    check(entry(node_, &text));
    return text == nullptr ? "" : text;
  }
  // kind: of the attribute, as the runtime counts them.
  bool read(const char* name, int kind, void* to, std::size_t size, std::size_t* used = nullptr) const {
    const OrtOpAttr* attribute = nullptr;
    if (!found(Node_GetAttributeByName(node_, name, &attribute)) || attribute == nullptr) return false;
    std::size_t unused = 0;
    const bool is_found = found(ReadOpAttr(attribute, kind, to, size, used == nullptr ? &unused : used));
    if (is_found) read_.insert(name);
    return is_found;
  }
  static Type type_of(const OrtValueInfo* value) {
    int element = undefined;
    const OrtTensorTypeAndShapeInfo* const tensor = tensor_info_of(value);
    return tensor != nullptr && found(GetTensorElementType(tensor, &element)) ? Type(element) : undefined;
  }

  const OrtNode* node_;
  std::vector<const OrtValueInfo*> inputs_;
  std::vector<const OrtValueInfo*> outputs_;
  mutable std::set<std::string> read_;
};

}  // namespace attend_adapter::onnx
