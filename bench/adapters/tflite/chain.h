// Attention that a graph spells out: two products with a softmax between them, and what stands around them.
#pragma once

#include <tensorflow/lite/c/common.h>

#include <set>
#include <vector>

#include "attention_node.h"
#include "graph.h"

namespace attend_tflite {

// A chain as a problem of the library, the tensors that it reads and writes, and the nodes whose place it takes.
struct Chain {
  Attention attention;
  int query, key, value, output;
  int mask;  // -1: none
  std::vector<int> nodes;
  std::vector<int> between;  // tensors of which nothing is left
};

// What the caller has found out about a graph: tensors that have to stay, and whether transpositions and reshapes in front of a
// chain stay too.
struct Limits {
  std::set<int> kept;
  bool no_views = false;
  bool int8 = true;
};

// The chain around a softmax. False where it is not attention, or one that the library does not compute.
bool match(const Graph& graph, int softmax, const Limits& limits, Chain* chain);

}  // namespace attend_tflite
