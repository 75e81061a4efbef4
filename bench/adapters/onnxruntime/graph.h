// A graph as patterns look at it: which node makes a value, and which nodes use it.
#pragma once

#include <map>

#include "node.h"
#include "operators.h"

namespace attend_adapter::onnx {

struct Value {
  std::string name;
  const OrtValueInfo* info = nullptr;
  int maker = -1;  // the node that makes it; -1: none in this graph
  std::vector<int> users;
  bool constant = false, output = false;  // of the graph
  Tensor tensor;                          // of a constant
  int rank = 0;                           // 0 also where nobody says it
};

class Graph {
 public:
  explicit Graph(const OrtGraph* graph) {
    for (const OrtNode* const node : listed<OrtNode>(Graph_GetNumNodes, Graph_GetNodes, graph)) {
      const int index = int(nodes_.size());
      nodes_.emplace_back(node);
      types_.push_back(type_of(nodes_.back()));
      for (const OrtValueInfo* const info : nodes_.back().inputs()) {
        if (info != nullptr) add(info).users.push_back(index);
      }
      for (const OrtValueInfo* const info : nodes_.back().outputs()) {
        if (info != nullptr) add(info).maker = index;
      }
      for (const OrtValueInfo* const info : listed<OrtValueInfo>(Node_GetNumImplicitInputs, Node_GetImplicitInputs, node)) {
        if (info != nullptr) add(info).users.push_back(-1);
      }
    }
  }

  const std::vector<Node>& nodes() const { return nodes_; }
  // Whether a node, which may be -1, is of a type, ":MatMul", or "com.microsoft:Gelu", in a version that was read for this.
  bool is(int node, const char* type) const { return node >= 0 && types_[std::size_t(node)] == type; }
  // An input or output of a node; null where it is left out.
  const Value* input(int node, std::size_t index) const { return value(nodes_[std::size_t(node)].inputs(), index); }
  const Value* output(int node, std::size_t index = 0) const { return value(nodes_[std::size_t(node)].outputs(), index); }
  int maker(const Value* of) const { return of == nullptr ? -1 : of->maker; }
  // The only node that uses the value; -1 where there are several, or the graph puts it out.
  int only_user(const Value* of) const { return of == nullptr || of->output || of->users.size() != 1 ? -1 : of->users[0]; }

 private:
  // Empty in other versions.
  static std::string type_of(const Node& node) {
    const std::string domain = node.domain(), type = node.type();
    const int version = node.version();
    bool is_known = ((type == "Add" || type == "Mul" || type == "Div") && version >= 7 && version <= 14) ||
                    ((type == "Transpose" || type == "Cast") && version <= 25) ||
                    (type == "Where" && version >= 9 && version <= 16) || (type == "IsNaN" && version >= 9 && version <= 20) ||
                    (type == "Expand" && version <= 13) || (type == "Shape" && version <= 25);
    is_known = is_known && domain.empty();
    for_each_operator([&](const Definition& of) { is_known = is_known || of.versions_of(type, domain, version) != nullptr; });
    return is_known ? domain + ":" + type : "";
  }
  static int rank_of(const OrtValueInfo* info) {
    const OrtTensorTypeAndShapeInfo* const tensor = tensor_info_of(info);
    std::size_t rank = 0;
    return tensor != nullptr && found(GetDimensionsCount(tensor, &rank)) ? int(rank) : 0;
  }
  Value& add(const OrtValueInfo* info) {
    Value& value = values_[name_of(info)];
    if (value.info != nullptr) return value;
    value.name = name_of(info);
    value.info = info;
    value.rank = rank_of(info);
    check(ValueInfo_IsConstantInitializer(info, &value.constant));
    check(ValueInfo_IsGraphOutput(info, &value.output));
    const OrtValue* data = nullptr;
    if (value.constant) check(ValueInfo_GetInitializerValue(info, &data));
    if (data != nullptr) value.tensor = tensor_of(data);
    value.constant = bool(value.tensor);
    return value;
  }
  const Value* value(const std::vector<const OrtValueInfo*>& infos, std::size_t index) const {
    if (index >= infos.size() || infos[index] == nullptr) return nullptr;
    const auto found = values_.find(name_of(infos[index]));
    return found == values_.end() || found->second.name.empty() ? nullptr : &found->second;
  }

  std::vector<Node> nodes_;
  std::vector<std::string> types_;
  std::map<std::string, Value> values_;
};

}  // namespace attend_adapter::onnx
