#include "fusion.h"

#include <cmath>

namespace attend_adapter::onnx {
namespace {

// Looks for patterns from one node on. A pattern that does not fit throws nothing: it returns false, and the nodes that it has
// taken so far are forgotten.
class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph), taken_(graph.nodes().size(), false) {}

  std::vector<Fused> all() {
    for (const auto pattern : {&Finder::attention, &Finder::dynamic_products, &Finder::projection, &Finder::sum_norm}) {
      for (int node = 0; node < int(taken_.size()); ++node) {
        Fused fused;
        if (taken_[std::size_t(node)] || !(this->*pattern)(node, fused)) continue;
        bool free = true;
        for (const int each : fused.nodes) free = free && !taken_[std::size_t(each)];
        if (!free) continue;
        for (const int each : fused.nodes) taken_[std::size_t(each)] = true;
        found_.push_back(std::move(fused));
      }
    }
    return std::move(found_);
  }

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
  // The node that makes a value which is used once, if it is of a type.
  int before(const Value* value, const char* type) const {
    return value != nullptr && !value->output && value->users.size() == 1 && graph_.is(value->maker, type) ? value->maker : -1;
  }

  // MatMul by constant weights, Add of a constant row, and Gelu as x * (1 + erf(x / sqrt(2))) * 0.5.
  bool projection(int node, Fused& fused) {
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

  bool gelu_of(const Value*& x, std::vector<int>& nodes) {
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
  bool sum_norm(int node, Fused& fused) {
    if (!graph_.is(node, ":LayerNormalization")) return false;
    const Node& norm = graph_.nodes()[std::size_t(node)];
    const Value *const sum = graph_.input(node, 0), *const weight = graph_.input(node, 1), *const bias = graph_.input(node, 2);
    if (norm.integer("axis", -1) != -1 || norm.has_output(1) || norm.has_output(2) || sum == nullptr ||
        !graph_.is(sum->maker, ":Add"))
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
    fused.steps.push_back(
        {make_sum_norm(epsilon), {a, b, weight, bias}, {graph_.output(node), used_elsewhere ? sum : nullptr}});
    return true;
  }

  // Factors by which a value is multiplied or divided on its way.
  const Value* without_scale(const Value* value, float& scale, std::vector<int>& nodes) const {
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
  const Value* without_transposition(const Value* value, const std::vector<int64_t>& order, std::vector<int>& nodes) const {
    const int node = before(value, ":Transpose");
    if (node < 0 || graph_.nodes()[std::size_t(node)].integers("perm") != order) return nullptr;
    nodes.push_back(node);
    return graph_.input(node, 0);
  }

  // MatMul of queries and transposed keys, Mul or Div, Add of a mask, Softmax, MatMul of values, and the transpositions around.
  bool attention(int node, Fused& fused) {
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

  // DynamicQuantizeLinear, and for each use of it MatMulInteger, Cast, Mul by both scales, Add of a constant row, and Gelu.
  bool dynamic_products(int node, Fused& fused) {
    if (!graph_.is(node, ":DynamicQuantizeLinear")) return false;
    const Value *const numbers = graph_.output(node, 0), *const scale = graph_.output(node, 1),
                       *const zero = graph_.output(node, 2);
    if (numbers == nullptr || scale == nullptr || zero == nullptr || numbers->output || scale->output || zero->output)
      return false;
    fused.nodes.push_back(node);
    Step step{nullptr, {graph_.input(node, 0)}, {}};
    std::vector<bool> gelu;
    for (const int product : numbers->users) {
      if (!dynamic_product(product, numbers, scale, zero, fused.nodes, step)) return false;
      gelu.push_back(gelu_of(step.outputs.back(), fused.nodes));
    }
    step.op = make_dynamic_products(std::move(gelu));
    fused.steps.push_back(std::move(step));
    return !numbers->users.empty() && scale->users.size() == numbers->users.size() &&
           zero->users.size() == numbers->users.size();
  }

  bool dynamic_product(int product, const Value* numbers, const Value* scale, const Value* zero, std::vector<int>& nodes,
                       Step& step) {
    if (!graph_.is(product, ":MatMulInteger") || graph_.input(product, 0) != numbers || graph_.input(product, 2) != zero)
      return false;
    const Value *const weights = graph_.input(product, 1), *const weight_zero = graph_.input(product, 3);
    if (weights == nullptr || !weights->constant || weights->tensor.shape.rank() != 2 || weights->tensor.shape.count() == 0 ||
        weights->tensor.shape[0] > 65536)
      return false;
    if (weight_zero != nullptr && !weight_zero->constant) return false;
    const int cast = next(graph_.output(product), ":Cast");
    if (cast < 0 || graph_.nodes()[std::size_t(cast)].integer("to", 0) != float32) return false;
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

  const Graph& graph_;
  std::vector<bool> taken_;
  std::vector<Fused> found_;
};

}  // namespace

std::vector<Fused> find_fused(const Graph& graph) { return Finder(graph).all(); }

}  // namespace attend_adapter::onnx
