// Projections, and sums that are normalised.
#include "patterns.h"

namespace attend_adapter::onnx {

// MatMul by constant weights, Add of a constant row, and Gelu as x * (1 + erf(x / sqrt(2))) * 0.5.
bool Pattern::projection(int node, Fused& fused) const {
  if (!graph_.is(node, ":MatMul")) return false;
  const Value* const weights = graph_.input(node, 1);
  if (!is_floats(weights) || weights->tensor.shape.rank() != 2 || weights->tensor.shape.count() == 0) return false;
  if (graph_.input(node, 0) == nullptr || graph_.nodes()[std::size_t(node)].input(0) != float32) return false;
  const int add = next(graph_.output(node), ":Add");
  const Value *bias, *product;
  if (add < 0 || !with_constant(add, bias, product) || !is_row(bias, weights->tensor.shape[1])) return false;
  fused.nodes = {node, add};
  const Value* output = graph_.output(add);
  const bool gelu = gelu_of(output, fused.nodes);
  fused.steps.push_back({make_projection(gelu), {graph_.input(node, 0), weights, bias}, {output}});
  return true;
}

bool Pattern::gelu_of(const Value*& x, std::vector<int>& nodes) const {
  if (x->output || x->users.size() != 2) return false;
  for (const std::size_t first : {0u, 1u}) {
    const int scaled = x->users[first], times_x = x->users[1 - first];
    if (!(graph_.is(scaled, ":Div") && graph_.input(scaled, 0) == x && is_number(graph_.input(scaled, 1), std::sqrt(2.0f))) &&
        !(graph_.is(scaled, ":Mul") &&
          is_number(graph_.input(scaled, graph_.input(scaled, 0) == x ? 1 : 0), std::sqrt(0.5f)))) {
      continue;
    }
    const int erf = next(graph_.output(scaled), ":Erf");
    const int add = erf < 0 ? -1 : next(graph_.output(erf), ":Add");
    const Value *one, *rest, *half;
    if (add < 0 || !with_constant(add, one, rest) || !is_number(one, 1)) continue;
    const int product = next(graph_.output(add), ":Mul");
    if (product < 0 || product != times_x) continue;
    const int halved = next(graph_.output(product), ":Mul");
    if (halved < 0 || !with_constant(halved, half, rest) || !is_number(half, 0.5f)) continue;
    for (const int each : {scaled, erf, add, product, halved}) nodes.push_back(each);
    x = graph_.output(halved);
    return true;
  }
  return false;
}

// Add, and LayerNormalization of the sum over its last axis.
bool Pattern::sum_norm(int node, Fused& fused) const {
  if (!graph_.is(node, ":LayerNormalization")) return false;
  const Node& norm = graph_.nodes()[std::size_t(node)];
  const Value *const sum = graph_.input(node, 0), *const weight = graph_.input(node, 1), *const bias = graph_.input(node, 2);
  if (norm.integer("axis", -1) != -1 || norm.integer("stash_type", float32) != float32 || norm.has_output(1) ||
      norm.has_output(2) || sum == nullptr || !graph_.is(sum->maker, ":Add"))
    return false;
  // One number is of all columns, or of rows of one.
  if (!is_floats(weight) || weight->tensor.shape.rank() != 1 || weight->tensor.shape[0] == 1 ||
      (bias != nullptr && !is_row(bias, weight->tensor.shape[0])))
    return false;
  const float epsilon = norm.number("epsilon", 1e-5f);
  const int add = sum->maker;
  const Value *const a = graph_.input(add, 0), *const b = graph_.input(add, 1);
  if (a == nullptr || b == nullptr || a->constant || b->constant || graph_.nodes()[std::size_t(add)].input(0) != float32 ||
      !(epsilon >= 0))
    return false;
  fused.nodes = {add, node};
  const bool used_elsewhere = sum->output || sum->users.size() > 1;
  fused.steps.push_back({make_sum_norm(epsilon), {a, b, weight, bias}, {graph_.output(node), used_elsewhere ? sum : nullptr}});
  return true;
}

}  // namespace attend_adapter::onnx
