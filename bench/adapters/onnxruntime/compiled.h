// A node that the provider has made of several.
#pragma once

#include "callbacks.h"
#include "fusion.h"

namespace attend_adapter::onnx {

class Compiled : public OrtNodeComputeInfo {
 public:
  // graph: the nodes of which `node` was made.
  Compiled(const OrtGraph* graph, const OrtNode* node, Threads& threads);

 private:
  void wire(Step step, const Node& node);

  struct Part {
    std::unique_ptr<Operator> op;
    Wiring wiring;
  };
  std::vector<Part> parts_;
  Threads& threads_;
};

}  // namespace attend_adapter::onnx
