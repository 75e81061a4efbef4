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

inline std::string name_of(const OrtValueInfo* info) {
  const char* name = nullptr;
  if (info != nullptr) check(GetValueInfoName(info, &name));
  return name == nullptr ? "" : name;
}

// What the runtime counts and gives by two functions.
template <class Each, class Count, class Get, class Of>
std::vector<const Each*> listed(const Count& count_of, const Get& get, const Of* of) {
  std::size_t count = 0;
  check(count_of(of, &count));
  std::vector<const Each*> found(count);
  if (count > 0) check(get(of, found.data(), count));
  return found;
}

class Node {
 public:
  explicit Node(const OrtNode* node)
      : node_(node),
        inputs_(listed<OrtValueInfo>(Node_GetNumInputs, Node_GetInputs, node)),
        outputs_(listed<OrtValueInfo>(Node_GetNumOutputs, Node_GetOutputs, node)) {}

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
    for (const OrtOpAttr* const attribute : listed<OrtOpAttr>(Node_GetNumAttributes, Node_GetAttributes, node_)) {
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
