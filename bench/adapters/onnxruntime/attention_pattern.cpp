// Attention that is spelled out.
#include "patterns.h"

namespace attend_adapter::onnx {

// Factors by which a value is multiplied or divided on its way.
const Value* Pattern::without_scale(const Value* value, float& scale, std::vector<int>& nodes) const {
  for (;;) {
    float factor;
    int node = before(value, ":Mul");
    const Value *constant, *other;
    if (node >= 0 && with_constant(node, constant, other) && is_scalar(constant, factor)) {
      scale *= factor;
    } else if (node = before(value, ":Div");
               node >= 0 && is_scalar(graph_.input(node, 1), factor) && graph_.input(node, 0) != nullptr) {
      scale /= factor;
      other = graph_.input(node, 0);
    } else {
      return value;
    }
    nodes.push_back(node);
    value = other;
  }
}
// The value before a transposition.
const Value* Pattern::without_transposition(const Value* value, const std::vector<int64_t>& order,
                                            std::vector<int>& nodes) const {
  const int node = before(value, ":Transpose");
  if (node < 0 || graph_.nodes()[std::size_t(node)].integers("perm") != order) return nullptr;
  nodes.push_back(node);
  return graph_.input(node, 0);
}

// MatMul of queries and transposed keys, Mul or Div, Add of a mask, Softmax, MatMul of values, and the transpositions around.
bool Pattern::attention(int node, Fused& fused) const {
  if (!graph_.is(node, ":Softmax") || graph_.nodes()[std::size_t(node)].version() < 13) return false;
  const int64_t axis = graph_.nodes()[std::size_t(node)].integer("axis", -1);
  if (graph_.nodes()[std::size_t(node)].input(0) != float32 || (axis != -1 && axis != 3)) return false;
  std::vector<int>& nodes = fused.nodes;
  nodes.push_back(node);
  ChainLayout layout{};
  layout.scale = 1;
  const Value* scores = graph_.input(node, 0);
  const Value* mask = nullptr;
  if (const int add = before(scores, ":Add"); add >= 0) {
    nodes.push_back(add);
    // The scores are the side that a product of two values leads to.
    for (const std::size_t side : {0u, 1u}) {
      float unused = 1;
      std::vector<int> passed;
      const Value* const from = without_scale(graph_.input(add, side), unused, passed);
      if (mask != nullptr || before(from, ":MatMul") < 0) continue;
      scores = graph_.input(add, side);
      mask = graph_.input(add, 1 - side);
    }
    if (mask == nullptr) return false;
  }
  scores = without_scale(scores, layout.scale, nodes);
  const int product = before(scores, ":MatMul");
  if (product < 0) return false;
  nodes.push_back(product);
  const std::vector<int64_t> heads_first = {0, 2, 1, 3}, keys_last = {0, 1, 3, 2}, both = {0, 2, 3, 1};
  const Value* query = without_scale(graph_.input(product, 0), layout.scale, nodes);
  const Value* query_before = without_transposition(query, heads_first, nodes);
  const Value* key = without_scale(graph_.input(product, 1), layout.scale, nodes);
  const Value* key_before = without_transposition(key, both, nodes);
  if (key_before == nullptr) {
    key = without_transposition(key, keys_last, nodes);
    if (key == nullptr) return false;
    key = without_scale(key, layout.scale, nodes);
    key_before = without_transposition(key, heads_first, nodes);
  }
  const int mix = next(graph_.output(node), ":MatMul");
  if (mix < 0 || graph_.input(mix, 0) != graph_.output(node)) return false;
  nodes.push_back(mix);
  const Value* value = graph_.input(mix, 1);
  const Value* const value_before = without_transposition(value, heads_first, nodes);
  // All have four axes where the queries, which have passed a transposition of four, are multiplied by transposed keys of
  // four.
  if (query_before == nullptr || key_before == nullptr || value_before == nullptr) return false;
  layout.query_tokens_first = layout.key_tokens_first = layout.value_tokens_first = true;
  const Value* output = graph_.output(mix);
  if (const int transposed = next(output, ":Transpose");
      transposed >= 0 && graph_.nodes()[std::size_t(transposed)].integers("perm") == heads_first) {
    nodes.push_back(transposed);
    output = graph_.output(transposed);
    layout.output_tokens_first = true;
  }
  if (!std::isfinite(layout.scale)) return false;
  fused.steps.push_back({make_chain_attention(layout), {query_before, key_before, value_before, mask}, {output}});
  return true;
}

}  // namespace attend_adapter::onnx
