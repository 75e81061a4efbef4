// Products in integers of inputs that are quantised while a model runs.
#include "patterns.h"

namespace attend_adapter::onnx {

// DynamicQuantizeLinear, and for each use of it MatMulInteger, Cast, Mul by both scales, Add of a constant row, and Gelu.
bool Pattern::dynamic_products(int node, Fused& fused) const {
  if (!graph_.is(node, ":DynamicQuantizeLinear")) return false;
  const Value *const numbers = graph_.output(node, 0), *const scale = graph_.output(node, 1),
                     *const zero = graph_.output(node, 2);
  if (numbers == nullptr || scale == nullptr || zero == nullptr || numbers->output || scale->output || zero->output)
    return false;
  fused.nodes.push_back(node);
  Step step{nullptr, {graph_.input(node, 0)}, {}};
  std::vector<bool> gelu;
  for (const int product : numbers->users) {
    if (!dynamic_product(product, {numbers, scale, zero}, fused.nodes, step)) return false;
    gelu.push_back(gelu_of(step.outputs.back(), fused.nodes));
  }
  step.op = make_dynamic_products(std::move(gelu));
  fused.steps.push_back(std::move(step));
  return !numbers->users.empty() && scale->users.size() == numbers->users.size() && zero->users.size() == numbers->users.size();
}

bool Pattern::dynamic_product(int product, const Value* const (&quantised)[3], std::vector<int>& nodes, Step& step) const {
  const auto [numbers, scale, zero] = quantised;
  if (!graph_.is(product, ":MatMulInteger") || graph_.input(product, 0) != numbers || graph_.input(product, 2) != zero)
    return false;
  const Value *const weights = graph_.input(product, 1), *const weight_zero = graph_.input(product, 3);
  if (weights == nullptr || !weights->constant || weights->tensor.shape.rank() != 2 || weights->tensor.shape.count() == 0 ||
      weights->tensor.shape[0] > 65536)
    return false;
  if (weight_zero != nullptr && !weight_zero->constant) return false;
  const int cast = next(graph_.output(product), ":Cast");
  if (cast < 0) return false;
  const Node& to_floats = graph_.nodes()[std::size_t(cast)];
  to_floats.integer("saturate", 1), to_floats.text("round_mode", "up");  // of floats of 8 bits
  if (to_floats.integer("to", 0) != float32) return false;
  const int scaled = next(graph_.output(cast), ":Mul");
  if (scaled < 0) return false;
  const Value* const factor = graph_.input(scaled, graph_.input(scaled, 0) == graph_.output(cast) ? 1 : 0);
  const int factors = before(factor, ":Mul");
  if (factors < 0) return false;
  const Value *weight_scale, *other;
  if (!with_constant(factors, weight_scale, other) || other != scale || !is_floats(weight_scale) ||
      weight_scale->tensor.shape.rank() > 1)
    return false;
  const int64_t columns = weights->tensor.shape[1], scales = weight_scale->tensor.shape.count();
  if (scales != 1 && scales != columns) return false;
  for (const int each : {product, cast, scaled, factors}) nodes.push_back(each);
  const Value* output = graph_.output(scaled);
  const Value *bias = nullptr, *sum;
  const int add = next(output, ":Add");
  if (add >= 0 && with_constant(add, bias, sum) && is_row(bias, columns)) {
    nodes.push_back(add);
    output = graph_.output(add);
  } else {
    bias = nullptr;
  }
  for (const Value* const input : {weights, weight_scale, weight_zero, bias}) step.inputs.push_back(input);
  step.outputs.push_back(output);
  return true;
}

}  // namespace attend_adapter::onnx
