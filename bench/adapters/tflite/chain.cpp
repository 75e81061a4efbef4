// Finding attention in a graph: from a softmax backwards to the product of queries and keys and to what these are made of, and
// forwards to the product with the values. Whatever is not as expected means that the nodes stay where they are.
#include "chain.h"

#include "chain_problem.h"
#include "reader.h"

namespace attend_tflite {
namespace {

bool is_one_run(const Axes& columns) {
  const Axes all = merged(columns);
  return all.empty() || (all.size() == 1 && all[0].stride == 1);
}
bool usable(const Operand& operand) { return merged(operand.rows).size() <= 1 && is_one_run(operand.columns); }

class Matcher : private Reader {
 public:
  Matcher(const Graph& graph, const Limits& limits, Chain* chain)
      : Reader(graph, limits.int8), limits_(limits), chain_(chain) {}

  bool match(int softmax) {
    const TfLiteNode& node = *graph_.node(softmax).node;
    const auto* const options = options_of<builtin::Softmax>(softmax);
    if (options == nullptr || inputs(node) != 1 || outputs(node) != 1) return false;
    found_.factor = options->beta;
    take(softmax);
    return scores(node.inputs->data[0], true) && values(node.outputs->data[0]) &&
           ChainProblem(graph_, limits_.int8, found_, chain_).make();
  }

 private:
  void take(int node) { chain_->nodes.push_back(node); }
  // Whether a tensor may vanish: one node reads it, and nobody said that it is needed.
  bool may_vanish(int index) const { return graph_.reader(index) >= 0 && limits_.kept.count(index) == 0; }

  // From the softmax back to the product of queries and keys.
  bool scores(int index, bool mask_allowed) {
    if (!is_number(index) || !may_vanish(index)) return false;
    const int node = graph_.maker(index);
    if (node < 0) return false;
    chain_->between.push_back(index);
    const TfLiteNode& it = *graph_.node(node).node;
    int from;
    float by;
    if (is_reshape(node)) {
      const Dims before = dims(it.inputs->data[0]), after = dims(index);
      if (before.empty() || after.empty() || before.back() != after.back()) return false;
      take(node);
      return scores(it.inputs->data[0], mask_allowed);
    }
    if (is_scaling(node, &from, &by)) {
      found_.factor *= by;
      take(node);
      return scores(from, mask_allowed);
    }
    if (code(node) == builtin::tanh && found_.cap == 0.0f && found_.factor > 0.0f && inputs(it) == 1 &&
        tensor(index)->type == kTfLiteFloat32) {
      found_.cap = found_.factor;
      take(node);
      return scores(it.inputs->data[0], false);
    }
    if (code(node) == builtin::add && mask_allowed && found_.factor == 1.0f) return masked(node, index);
    return product_of_queries_and_keys(node);
  }

  // A sum of scores and a mask.
  bool masked(int node, int index) {
    const TfLiteNode& it = *graph_.node(node).node;
    const auto* const options = options_of<builtin::Activation>(node);
    if (inputs(it) != 2 || options == nullptr || options->activation != 0) return false;
    take(node);
    for (int i = 0; i < 2; ++i) {
      const int from = it.inputs->data[i], mask = it.inputs->data[1 - i];
      if (!is_number(from) || !is_number(mask) || from == mask || dims(from) != dims(index) || graph_.maker(from) < 0) continue;
      const Chain before = *chain_;
      const float factor = found_.factor;
      if (!mask_axes(mask, dims(index))) continue;
      chain_->mask = mask;
      if (scores(from, false)) return true;
      *chain_ = before, found_.factor = factor, found_.cap = 0.0f;
    }
    return false;
  }
  // How a mask spreads over scores: [shared][rows][columns], columns side by side.
  bool mask_axes(int mask, const Dims& scores) {
    const Dims own = dims(mask);
    if (own.empty() || own.size() > scores.size() || own.back() != scores.back()) return false;
    const Dims strides = dense_strides(own);
    found_.mask.clear();
    found_.heads = scores.size() == 4 ? scores[1] : scores.size() == 3 ? 1 : 0;  // three axes: the first is the batch
    for (std::size_t i = 0; i + 1 < scores.size(); ++i) {
      const std::ptrdiff_t j = std::ptrdiff_t(i) - std::ptrdiff_t(scores.size() - own.size());
      const std::ptrdiff_t extent = j < 0 ? 1 : own[std::size_t(j)];
      if (extent != 1 && extent != scores[i]) return false;
      found_.mask.push_back({scores[i], extent == 1 ? 0 : strides[std::size_t(j)]});
    }
    return true;
  }

  bool product_of_queries_and_keys(int node) {
    Product of;
    if (!is_product(node, &of) || !spreads(of.x, of.y)) return false;
    take(node);
    const Dims shared = without_matrix(dims(of.x));
    found_.query = operand(of.x, shared, false);
    found_.key = operand(of.y, shared, !of.transposed);
    const TfLiteNode& it = *graph_.node(node).node;
    const Dims result = dims(it.outputs->data[0]);
    found_.queries = extent_of(found_.query.rows), found_.keys = extent_of(found_.key.rows);
    found_.shared = product(shared, shared.size());
    if (result.back() != found_.keys || product(result, result.size()) != found_.shared * found_.queries * found_.keys)
      return false;
    if (extent_of(found_.query.columns) != extent_of(found_.key.columns)) return false;
    return behind(&found_.query, true) && behind(&found_.key, true);
  }

  // Follows an operand back through transpositions, reshapes and, of queries and keys, factors, as long as nobody else needs
  // what lies between, and stops where it is best read.
  bool behind(Operand* operand, bool scalings) {
    Operand now = *operand;
    std::vector<int> nodes, between;
    float factor = 1.0f;
    bool found = usable(now);
    while (!(limits_.no_views && found) && may_vanish(now.tensor)) {
      const int node = graph_.maker(now.tensor);
      if (node < 0) break;
      int from;
      float by = 1.0f;
      Dims permutation;
      if (scalings && is_scaling(node, &from, &by)) {
        factor *= by;
      } else if (is_reshape(node)) {
        from = graph_.node(node).node->inputs->data[0];
      } else if (is_transposition(node, &permutation)) {
        from = graph_.node(node).node->inputs->data[0];
        const Dims extents = dims(now.tensor), dense = dense_strides(dims(from));
        Dims strides;
        for (const std::ptrdiff_t axis : permutation) strides.push_back(dense[std::size_t(axis)]);
        Operand next = now;
        if (!moved(now.shared, extents, strides, &next.shared) || !moved(now.rows, extents, strides, &next.rows) ||
            !moved(now.columns, extents, strides, &next.columns)) {
          break;
        }
        now = next;
      } else {
        break;
      }
      nodes.push_back(node), between.push_back(now.tensor);
      now.tensor = from;
      if (!usable(now)) continue;
      found = true;
      *operand = now;
      found_.factor *= factor, factor = 1.0f;
      chain_->nodes.insert(chain_->nodes.end(), nodes.begin(), nodes.end());
      chain_->between.insert(chain_->between.end(), between.begin(), between.end());
      nodes.clear(), between.clear();
    }
    return found;
  }

  // From the softmax on to the product with the values, and to where its result goes.
  bool values(int index) {
    for (;;) {
      if (!is_number(index) || !may_vanish(index)) return false;
      chain_->between.push_back(index);
      const int node = graph_.reader(index);
      Product of;
      if (is_reshape(node)) {
        const int next = graph_.node(node).node->outputs->data[0];
        const Dims before = dims(index), after = dims(next);
        if (before.empty() || after.empty() || before.back() != after.back()) return false;
        take(node);
        index = next;
        continue;
      }
      if (!is_product(node, &of) || of.x != index || of.y == index || !spreads(of.x, of.y)) return false;
      take(node);
      return product_with_values(node, of);
    }
  }
  bool product_with_values(int node, const Product& of) {
    const Dims x = dims(of.x);
    Dims shared = without_matrix(x);
    const int result = graph_.node(node).node->outputs->data[0];
    found_.value = operand(of.y, shared, of.transposed);
    const std::ptrdiff_t width = extent_of(found_.value.columns);
    if (extent_of(found_.value.rows) != found_.keys || x.back() != found_.keys ||
        product(shared, shared.size()) != found_.shared || x[x.size() - 2] != found_.queries)
      return false;
    const Dims to = dims(result);
    if (to.back() != width || product(to, to.size()) != found_.shared * found_.queries * width) return false;
    found_.output.tensor = result;
    found_.output.shared = {{found_.shared, found_.queries * width}};
    found_.output.rows = {{found_.queries, width}};
    found_.output.columns = {{width, 1}};
    return behind(&found_.value, false) && ahead(&found_.output);
  }
  // Follows the result through transpositions and reshapes that alone read it.
  bool ahead(Operand* operand) {
    Operand now = *operand;
    std::vector<int> nodes, between;
    while (may_vanish(now.tensor)) {
      const int node = graph_.reader(now.tensor);
      Dims permutation;
      if (is_transposition(node, &permutation)) {
        const Dims extents = dims(now.tensor), dense = dense_strides(dims(graph_.node(node).node->outputs->data[0]));
        Dims strides(extents.size(), 0);
        for (std::size_t j = 0; j < permutation.size(); ++j) strides[std::size_t(permutation[j])] = dense[j];
        Operand next = now;
        if (!moved(now.shared, extents, strides, &next.shared) || !moved(now.rows, extents, strides, &next.rows) ||
            !moved(now.columns, extents, strides, &next.columns)) {
          break;
        }
        now = next;
      } else if (!is_reshape(node)) {
        break;
      }
      nodes.push_back(node), between.push_back(now.tensor);
      now.tensor = graph_.node(node).node->outputs->data[0];
      if (!usable(now)) continue;
      *operand = now;
      chain_->nodes.insert(chain_->nodes.end(), nodes.begin(), nodes.end());
      chain_->between.insert(chain_->between.end(), between.begin(), between.end());
      nodes.clear(), between.clear();
    }
    return true;
  }

  const Limits& limits_;
  Chain* chain_;
  Found found_;
};

}  // namespace

bool match(const Graph& graph, int softmax, const Limits& limits, Chain* chain) {
  if (graph.node(softmax).registration->builtin_code != builtin::softmax) return false;
  chain->mask = -1;
  chain->nodes.clear(), chain->between.clear();
  return Matcher(graph, limits, chain).match(softmax);
}

}  // namespace attend_tflite
