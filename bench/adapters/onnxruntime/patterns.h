// Patterns of nodes, and what they are looked for with.
#pragma once

#include <cmath>

#include "fusion.h"

namespace attend_adapter::onnx {

// A pattern from one node on. One that does not fit throws nothing: it returns false, and the nodes that it has taken so far
// are forgotten.
class Pattern {
 public:
  explicit Pattern(const Graph& graph) : graph_(graph) {}

  bool attention(int node, Fused& fused) const;         // attention_pattern.cpp
  bool dynamic_products(int node, Fused& fused) const;  // dynamic_pattern.cpp
  bool projection(int node, Fused& fused) const;        // layer_patterns.cpp, these and gelu_of
  bool sum_norm(int node, Fused& fused) const;

 private:
  static bool is_floats(const Value* value) { return value != nullptr && value->constant && value->tensor.type == float32; }
  static bool is_row(const Value* value, int64_t count) {
    return is_floats(value) && value->tensor.shape.rank() == 1 && value->tensor.shape[0] == count;
  }
  static bool is_scalar(const Value* value, float& number) {
    if (!is_floats(value) || value->tensor.shape.count() != 1 || value->tensor.shape.rank() > 1) return false;
    number = value->tensor.floats()[0];
    return true;
  }
  static bool is_number(const Value* value, float number) {
    float other;
    return is_scalar(value, other) && std::abs(other - number) <= 1e-6f * std::abs(number);
  }
  // The constant of a node with two inputs, and the other one.
  bool with_constant(int node, const Value*& constant, const Value*& other) const {
    for (const std::size_t side : {1u, 0u}) {
      constant = graph_.input(node, side);
      other = graph_.input(node, 1 - side);
      if (constant != nullptr && other != nullptr && constant->constant && !other->constant) return true;
    }
    return false;
  }
  // The only user of a value, if it is of a type.
  int next(const Value* value, const char* type) const {
    const int user = graph_.only_user(value);
    return graph_.is(user, type) ? user : -1;
  }
  // The node that makes a value which is used once, or is this one, if it is of a type.
  int before(const Value* value, const char* type, const Value* shared = nullptr) const {
    const bool is_used_here = value != nullptr && !value->output && (value->users.size() == 1 || value == shared);
    return is_used_here && graph_.is(value->maker, type) ? value->maker : -1;
  }

  // Gelu as x * (1 + erf(x / sqrt(2))) * 0.5 behind a value, which becomes the Gelu.
  bool gelu_of(const Value*& x, std::vector<int>& nodes) const;
  const Value* without_scale(const Value* value, float& scale, std::vector<int>& nodes, const Value* shared = nullptr) const;
  // What is known of a chain of attention so far.
  struct Chain;
  std::vector<int64_t> order_of(int node) const;
  const Value* without_transposition(const Value* value, std::vector<int64_t>& axes, std::vector<int>& nodes) const;
  bool product_of_keys(const Value* scores, Chain& chain) const;
  bool scores_of(const Value* scores, Chain& chain) const;
  bool condition_of(int where, std::size_t side, const Value* scores, Chain& chain) const;
  const Value* weights_of(int softmax, std::vector<int>& nodes) const;
  bool dynamic_product(int product, const Value* const (&quantised)[3], std::vector<int>& nodes, Step& step) const;

  const Graph& graph_;
};

}  // namespace attend_adapter::onnx
