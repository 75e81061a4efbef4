// Attention that a graph spells out: two products with a softmax between them, and what stands around them.
#pragma once

#include <tensorflow/lite/c/common.h>

#include <set>
#include <vector>

#include "attention_node.h"

namespace attend_tflite {

// A chain as a problem of the library, the tensors that it reads and writes, and the nodes whose place it takes.
struct Chain {
  Attention attention;
  int query, key, value, output;
  int mask;  // -1: none
  std::vector<int> nodes;
  std::vector<int> between;  // tensors of which nothing is left
};

// The nodes of a graph, and who makes and reads each tensor.
class Graph {
 public:
  // False where the runtime does not tell.
  bool read(TfLiteContext* context);

  struct Node {
    TfLiteNode* node;
    TfLiteRegistration* registration;
  };
  TfLiteContext* context() const { return context_; }
  const std::vector<int>& plan() const { return plan_; }
  const Node& node(int index) const { return nodes_[std::size_t(index)]; }
  int maker(int tensor) const { return tensor < 0 ? -1 : makers_[std::size_t(tensor)]; }
  // The only node that reads a tensor, which reads it once; -1 where there are several, or none.
  int reader(int tensor) const { return tensor < 0 || readers_[std::size_t(tensor)].size() != 1 ? -1 : readers_[std::size_t(tensor)][0]; }

 private:
  TfLiteContext* context_ = nullptr;
  std::vector<int> plan_;
  std::vector<Node> nodes_;
  std::vector<int> makers_;
  std::vector<std::vector<int>> readers_;
};

// What the caller has found out about a graph: tensors that have to stay, and whether transpositions and reshapes in front of a chain stay too.
struct Limits {
  std::set<int> kept;
  bool no_views = false;
  bool int8 = true;
};

// The chain around a softmax. False where it is not attention, or one that the library does not compute.
bool match(const Graph& graph, int softmax, const Limits& limits, Chain* chain);

}  // namespace attend_tflite
