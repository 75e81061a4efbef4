// Reading a graph as the runtime tells of it.
#include "graph.h"

#include "nodes.h"

namespace attend_tflite {

bool Graph::read(TfLiteContext* context) {
  context_ = context;
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk || plan == nullptr) return false;
  plan_.assign(plan->data, plan->data + plan->size);
  makers_.assign(context->tensors_size, -1);
  readers_.assign(context->tensors_size, {});
  nodes_.clear();
  for (const int index : plan_) {
    Node node{};
    if (index < 0 || context->GetNodeAndRegistration(context, index, &node.node, &node.registration) != kTfLiteOk) return false;
    if (nodes_.size() <= std::size_t(index)) nodes_.resize(std::size_t(index) + 1);
    nodes_[std::size_t(index)] = node;
    for (int i = 0; i < inputs(*node.node); ++i) {
      if (tensor(context, node.node->inputs->data[i]) != nullptr)
        readers_[std::size_t(node.node->inputs->data[i])].push_back(index);
    }
    for (int i = 0; i < outputs(*node.node); ++i) {
      if (tensor(context, node.node->outputs->data[i]) != nullptr) makers_[std::size_t(node.node->outputs->data[i])] = index;
    }
  }
  return true;
}

}  // namespace attend_tflite
