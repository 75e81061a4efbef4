// Chains of nodes that are computed as one: what exporters write in place of attention and of layers.
#pragma once

#include <functional>

#include "graph.h"

namespace attend_adapter::onnx {

// An operator, and the values of the graph that it reads and writes; null where it has none.
struct Step {
  std::unique_ptr<Operator> op;
  std::vector<const Value*> inputs, outputs;
};

// Nodes that together are one.
struct Fused {
  std::vector<int> nodes;
  std::vector<Step> steps;
};

// All that were found, no node in two of them.
std::vector<Fused> find_fused(const Graph& graph);

// Operators that are no node of their own.
// x times weights, plus a bias, and its Gelu where `gelu` is set: inputs x, weights, bias.
std::unique_ptr<Operator> make_projection(bool gelu);
// The normalised sum of two tensors, and the sum: inputs a, b, weight, bias (or none).
std::unique_ptr<Operator> make_sum_norm(float epsilon);
// Scores of queries and keys, masks, a softmax, and values: inputs query, key, value, mask (or none), which is added to scores,
// and two conditions (or none), which put a filling in the place of scores.
struct ChainLayout {
  // Which axes of the tensor are batch, heads, tokens and width, or batch, tokens and width. The width is the last one.
  std::vector<int64_t> query, key, value, output;
  float scale;
  bool shows[2];   // a condition that is true keeps a score, rather than filling it
  float filling;   // at most -10,000
  bool mask_last;  // the mask is added to what a condition has filled, rather than before
};
std::unique_ptr<Operator> make_chain_attention(const ChainLayout& layout);
// x times weights of 8 bits, each row of x quantised by itself, and Gelu where `gelu` of the product is set: inputs x, and for
// each product weights, scale, zero point (or none), bias (or none).
std::unique_ptr<Operator> make_dynamic_products(std::vector<bool> gelu);

}  // namespace attend_adapter::onnx
