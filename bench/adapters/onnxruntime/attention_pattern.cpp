// Attention that is spelled out.
#include "patterns.h"

namespace attend_adapter::onnx {

// Factors by which a value is multiplied or divided on its way.
const Value* Pattern::without_scale(const Value* value, float& scale, std::vector<int>& nodes, const Value* shared) const {
  for (;;) {
    float factor;
    int node = before(value, ":Mul", shared);
    const Value *constant, *other;
    if (node >= 0 && with_constant(node, constant, other) && is_scalar(constant, factor)) {
      scale *= factor;
    } else if (node = before(value, ":Div", shared);
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
struct Pattern::Chain {
  ChainLayout layout{{}, {}, {}, {}, 1, {false, false}, 0, false};
  const Value *query = nullptr, *key = nullptr, *mask = nullptr, *conditions[2] = {};
  const Value* shared = nullptr;  // scores that are used twice, both times within the chain
  float factor = 1;               // of masked scores
  std::vector<int> nodes;
};

// Where the axes of a transposition come from; empty where the node is none.
std::vector<int64_t> Pattern::order_of(int node) const {
  return graph_.is(node, ":Transpose") ? graph_.nodes()[std::size_t(node)].integers("perm") : std::vector<int64_t>{};
}

// The value before a transposition that leaves the width the last axis. axes: those of the value that are batch, heads, tokens
// and width, which become those of what is found. Null where nothing is found and the value's axes are not known to be as many.
const Value* Pattern::without_transposition(const Value* value, std::vector<int64_t>& axes, std::vector<int>& nodes) const {
  const int node = before(value, ":Transpose");
  const std::vector<int64_t> order = order_of(node);
  if (order.size() != axes.size() || order.back() + 1 != int64_t(order.size()))
    return value != nullptr && value->rank == int(axes.size()) ? value : nullptr;
  nodes.push_back(node);
  for (int64_t& axis : axes) axis = order[std::size_t(axis)];
  return graph_.input(node, 0);
}

// MatMul of queries and transposed keys, and factors.
bool Pattern::product_of_keys(const Value* scores, Chain& chain) const {
  ChainLayout& layout = chain.layout;
  const int product = before(without_scale(scores, layout.scale, chain.nodes, chain.shared), ":MatMul", chain.shared);
  if (product < 0) return false;
  const Value* const keys = without_scale(graph_.input(product, 1), layout.scale, chain.nodes);
  const int transposition = before(keys, ":Transpose");
  layout.key = order_of(transposition);
  const std::size_t rank = layout.key.size();
  if (rank != 3 && rank != 4) return false;
  std::swap(layout.key[rank - 1], layout.key[rank - 2]);
  if (layout.key.back() + 1 != int64_t(rank)) return false;
  for (const int node : {product, transposition}) chain.nodes.push_back(node);
  for (std::size_t axis = 0; axis < rank; ++axis) layout.query.push_back(int64_t(axis));
  layout.value = layout.output = layout.query;
  const Value* const key = without_scale(graph_.input(transposition, 0), layout.scale, chain.nodes);
  const Value* const query = without_scale(graph_.input(product, 0), layout.scale, chain.nodes);
  chain.key = without_transposition(key, layout.key, chain.nodes);
  chain.query = without_transposition(query, layout.query, chain.nodes);
  if (chain.key == nullptr) chain.key = key;  // it has as many axes as it is transposed by
  return chain.query != nullptr;
}

// The same behind an Add of a mask, at most once, and a Where that puts a filling into scores, at most twice, in any order, and
// behind factors of what was filled in.
bool Pattern::scores_of(const Value* scores, Chain& chain) const {
  const bool unmasked = chain.mask == nullptr && chain.conditions[0] == nullptr;
  const int add = chain.mask == nullptr ? before(scores, ":Add", chain.shared) : -1;
  const int where = chain.conditions[1] == nullptr ? before(scores, ":Where", chain.shared) : -1;
  if (add < 0 && where < 0) {
    Chain longer = chain;
    if (product_of_keys(scores, longer)) return chain = std::move(longer), true;
    const Value* const unscaled = without_scale(scores, chain.factor, chain.nodes);
    chain.layout.scale = chain.factor;
    return unmasked && unscaled != scores && chain.factor > 0 && scores_of(unscaled, chain);
  }
  for (const std::size_t side : {0u, 1u}) {
    Chain longer = chain;
    const Value* from = add < 0 ? graph_.input(where, 1 + side) : graph_.input(add, side);
    longer.nodes.push_back(add < 0 ? where : add);
    if (add >= 0) {
      longer.mask = graph_.input(add, 1 - side);
      if (chain.factor != 1) continue;
    } else if (!condition_of(where, side, from, longer)) {
      continue;
    }
    if (scores_of(from, longer)) return chain = std::move(longer), true;
  }
  return false;
}

// What a Where fills into scores by a condition. With two conditions it has to be the same, so that their order does not
// matter.
bool Pattern::condition_of(int where, std::size_t side, const Value* scores, Chain& chain) const {
  ChainLayout& layout = chain.layout;
  const int index = chain.conditions[0] == nullptr ? 0 : 1;
  float filling = 0;
  if (!is_scalar(graph_.input(where, 2 - side), filling)) return false;
  filling *= chain.factor;
  if (!(filling <= -1e4f) || (index == 1 && filling != layout.filling)) return false;
  layout.filling = filling;
  layout.shows[index] = side == 0;
  layout.mask_last = chain.mask != nullptr;
  const Value* condition = graph_.input(where, 0);
  // A condition that was expanded to the shape of these scores.
  if (const int expansion = before(condition, ":Expand"); expansion >= 0 && scores->users.size() == 2 && !scores->output) {
    const int shape = before(graph_.input(expansion, 1), ":Shape");
    if (shape >= 0 && graph_.input(shape, 0) == scores && graph_.nodes()[std::size_t(shape)].integer("start", 0) == 0) {
      for (const int node : {expansion, shape}) chain.nodes.push_back(node);
      condition = graph_.input(expansion, 0);
      chain.shared = scores;
    }
  }
  chain.conditions[index] = condition;
  return true;
}

// The weights that a softmax makes, or behind it a Where that puts 0 in the place of those that are not numbers.
const Value* Pattern::weights_of(int softmax, std::vector<int>& nodes) const {
  const Value* const weights = graph_.output(softmax);
  nodes.push_back(softmax);
  if (weights->output || weights->users.size() != 2) return weights;
  for (const std::size_t first : {0u, 1u}) {
    const int is_nan = weights->users[first], where = weights->users[1 - first];
    float filling = 1;
    if (!graph_.is(is_nan, ":IsNaN") || where < 0 || next(graph_.output(is_nan), ":Where") != where) continue;
    if (!is_scalar(graph_.input(where, 1), filling) || filling != 0) continue;
    for (const int node : {is_nan, where}) nodes.push_back(node);
    return graph_.output(where);
  }
  return weights;
}

// Scores, a softmax, MatMul of values, and the transpositions around.
bool Pattern::attention(int node, Fused& fused) const {
  if (!graph_.is(node, ":Softmax") || graph_.nodes()[std::size_t(node)].input(0) != float32) return false;
  Chain chain;
  ChainLayout& layout = chain.layout;
  const Value* const weights = weights_of(node, chain.nodes);
  const int mix = next(weights, ":MatMul");
  if (mix < 0 || graph_.input(mix, 0) != weights || !scores_of(graph_.input(node, 0), chain)) return false;
  chain.nodes.push_back(mix);
  const int rank = int(layout.key.size());
  // Before version 13 the axis was the first one of several.
  const Node& softmax = graph_.nodes()[std::size_t(node)];
  const int64_t axis = softmax.integer("axis", softmax.version() < 13 ? 1 : -1);
  if ((axis != -1 && axis != rank - 1) || !std::isfinite(layout.scale)) return false;
  // Two conditions and a mask are of any order where the filling is.
  if (chain.conditions[1] != nullptr && chain.mask != nullptr && std::isfinite(layout.filling)) return false;
  const Value* const value = without_transposition(graph_.input(mix, 1), layout.value, chain.nodes);
  if (value == nullptr) return false;
  const Value* output = graph_.output(mix);
  const int transposition = next(output, ":Transpose");
  const std::vector<int64_t> order = order_of(transposition);
  // Masks have at most as many axes, or the output would have more.
  const bool known = rank == 4 || output->rank == rank || order.size() == layout.output.size();
  for (const Value* const each : {chain.mask, chain.conditions[0], chain.conditions[1]}) {
    if (each != nullptr && (each->rank > rank || (each->rank == 0 && !known))) return false;
  }
  if (order.size() == layout.output.size() && order.back() + 1 == rank) {
    chain.nodes.push_back(transposition);
    output = graph_.output(transposition);
    for (int to = 0; to < rank; ++to) layout.output[std::size_t(order[std::size_t(to)])] = to;
  }
  fused.nodes = std::move(chain.nodes);
  fused.steps.push_back({make_chain_attention(layout),
                         {chain.query, chain.key, value, chain.mask, chain.conditions[0], chain.conditions[1]},
                         {output}});
  return true;
}

}  // namespace attend_adapter::onnx
