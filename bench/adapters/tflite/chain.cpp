// Finding attention in a graph: from a softmax backwards to the product of queries and keys and to what these are made of, and
// forwards to the product with the values. Whatever is not as expected means that the nodes stay where they are.
#include "chain.h"

#include <algorithm>

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
    factor_ = options->beta;
    take(softmax);
    return scores(node.inputs->data[0], true) && values(node.outputs->data[0]) && problem();
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
      factor_ *= by;
      take(node);
      return scores(from, mask_allowed);
    }
    if (code(node) == builtin::tanh && cap_ == 0.0f && factor_ > 0.0f && inputs(it) == 1 &&
        tensor(index)->type == kTfLiteFloat32) {
      cap_ = factor_;
      take(node);
      return scores(it.inputs->data[0], false);
    }
    if (code(node) == builtin::add && mask_allowed && factor_ == 1.0f) return masked(node, index);
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
      const float factor = factor_;
      if (!mask_axes(mask, dims(index))) continue;
      chain_->mask = mask;
      if (scores(from, false)) return true;
      *chain_ = before, factor_ = factor, cap_ = 0.0f;
    }
    return false;
  }
  // How a mask spreads over scores: [shared][rows][columns], columns side by side.
  bool mask_axes(int mask, const Dims& scores) {
    const Dims own = dims(mask);
    if (own.empty() || own.size() > scores.size() || own.back() != scores.back()) return false;
    const Dims strides = dense_strides(own);
    mask_.clear();
    for (std::size_t i = 0; i + 1 < scores.size(); ++i) {
      const std::ptrdiff_t j = std::ptrdiff_t(i) - std::ptrdiff_t(scores.size() - own.size());
      const std::ptrdiff_t extent = j < 0 ? 1 : own[std::size_t(j)];
      if (extent != 1 && extent != scores[i]) return false;
      mask_.push_back({scores[i], extent == 1 ? 0 : strides[std::size_t(j)]});
    }
    return true;
  }

  bool product_of_queries_and_keys(int node) {
    Product of;
    if (!is_product(node, &of) || !spreads(of.x, of.y)) return false;
    take(node);
    const Dims shared = without_matrix(dims(of.x));
    query_ = operand(of.x, shared, false);
    key_ = operand(of.y, shared, !of.transposed);
    const TfLiteNode& it = *graph_.node(node).node;
    const Dims result = dims(it.outputs->data[0]);
    queries_ = extent_of(query_.rows), keys_ = extent_of(key_.rows);
    shared_ = product(shared, shared.size());
    if (result.back() != keys_ || product(result, result.size()) != shared_ * queries_ * keys_) return false;
    if (extent_of(query_.columns) != extent_of(key_.columns)) return false;
    return behind(&query_, true) && behind(&key_, true);
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
      factor_ *= factor, factor = 1.0f;
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
    value_ = operand(of.y, shared, of.transposed);
    const std::ptrdiff_t width = extent_of(value_.columns);
    if (extent_of(value_.rows) != keys_ || x.back() != keys_ || product(shared, shared.size()) != shared_ ||
        x[x.size() - 2] != queries_)
      return false;
    const Dims to = dims(result);
    if (to.back() != width || product(to, to.size()) != shared_ * queries_ * width) return false;
    output_.tensor = result;
    output_.shared = {{shared_, queries_ * width}};
    output_.rows = {{queries_, width}};
    output_.columns = {{width, 1}};
    return behind(&value_, false) && ahead(&output_);
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

  // All of it as a problem.
  bool problem() {
    const TfLiteTensor &query = *tensor(query_.tensor), &key = *tensor(key_.tensor), &value = *tensor(value_.tensor),
                       &output = *tensor(output_.tensor);
    const std::ptrdiff_t head_dim = extent_of(query_.columns), value_dim = extent_of(value_.columns);
    if (head_dim > ATTEND_MAX_WIDTH || value_dim > ATTEND_MAX_WIDTH || !(factor_ > 0.0f && factor_ <= 1e30f)) return false;
    AttentionAttributes attributes;
    attributes.scale = factor_, attributes.logit_cap = cap_;
    Attention& attention = chain_->attention;
    if (start(attention, attributes, query, key, value, output, int(head_dim), int(value_dim))) return false;
    Axes mask_shared, mask_rows;
    if (chain_->mask >= 0 && !cut(mask_, queries_, &mask_shared, &mask_rows)) return false;
    mask_rows = merged(mask_rows);
    if (mask_rows.size() > 1) return false;
    std::vector<Axes*> lists = {&query_.shared, &key_.shared, &value_.shared, &output_.shared};
    if (chain_->mask >= 0) lists.push_back(&mask_shared);
    if (!aligned(lists)) return false;
    // The innermost axis is a group of query heads where neither keys nor values have it.
    const bool grouped = !key_.shared.empty() && key_.shared.back().stride == 0 && value_.shared.back().stride == 0;
    if (key_.shared.size() > (grouped ? 3u : 2u)) return false;
    Heads query_heads(query_.shared, grouped), key_heads(key_.shared, grouped), value_heads(value_.shared, grouped),
        output_heads(output_.shared, grouped);
    if (!query_heads.are_one() || !output_heads.are_one()) return false;
    attend_problem& problem = attention.problem;
    problem.batch = query_heads.batch.extent;
    problem.kv_heads = query_heads.kv.extent;
    problem.query_heads = query_heads.kv.extent * query_heads.group.extent;
    problem.queries = queries_, problem.keys = keys_;
    set_strides(problem.query, query_heads.batch.stride, query_heads.stride(), query_.rows);
    set_strides(problem.output, output_heads.batch.stride, output_heads.stride(), output_.rows);
    set_strides(problem.key, key_heads.batch.stride, key_heads.kv.stride, key_.rows);
    set_strides(problem.value, value_heads.batch.stride, value_heads.kv.stride, value_.rows);
    if (chain_->mask >= 0) {
      const Heads mask_heads(mask_shared, grouped);
      if (!mask_heads.are_one() ||
          !mask_of_chain({mask_heads.batch.stride, mask_heads.stride(), mask_rows.empty() ? 0 : mask_rows[0].stride}))
        return false;
    }
    chain_->query = query_.tensor, chain_->key = key_.tensor, chain_->value = value_.tensor, chain_->output = output_.tensor;
    std::size_t bytes = 0;
    const std::size_t of_mask = chain_->mask < 0 ? 0 : tensor(chain_->mask)->bytes;
    return !check(attention, std::max({query.bytes, key.bytes, value.bytes, of_mask}), &bytes);
  }

  // Shared axes as batch rows, key/value heads, and the query heads of each.
  struct Heads {
    Axis batch{1, 0}, kv{1, 0}, group{1, 0};
    Heads(Axes axes, bool grouped) {
      if (grouped) group = axes.back(), axes.pop_back();
      if (!axes.empty() && !(grouped && axes.size() == 1)) kv = axes.back(), axes.pop_back();
      if (!axes.empty()) batch = axes.back();
    }
    bool are_one() const { return kv.extent == 1 || group.extent == 1 || kv.stride == group.stride * group.extent; }
    std::ptrdiff_t stride() const { return group.extent == 1 ? kv.stride : group.stride; }
  };
  template <class Tensor>
  static void set_strides(Tensor& tensor, std::ptrdiff_t batch, std::ptrdiff_t head, const Axes& rows) {
    const Axes one = merged(rows);
    tensor.batch_stride = batch;
    tensor.head_stride = head;
    tensor.token_stride = one.empty() ? 0 : one[0].stride;
  }
  bool mask_of_chain(const MaskStrides& strides) {
    const TfLiteTensor& mask = *tensor(chain_->mask);
    Attention& attention = chain_->attention;
    const bool integers = attention.problem.constants != nullptr;
    const Dims extents = dims(chain_->mask);
    if (mask.type != (integers ? kTfLiteInt8 : kTfLiteFloat32)) return false;
    if (set_mask(attention, mask, integers, strides, product(extents, extents.size()))) return false;
    if (!integers) return true;
    // Whether a mask of integers shows and hides is known beforehand only where it is a constant.
    if (mask.allocation_type != kTfLiteMmapRo || mask.data.raw == nullptr) return false;
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(attention.mask_numbers));
    return convert_mask(attention, mask.data.raw, bytes.data());
  }

  const Limits& limits_;
  Chain* chain_;
  Operand query_, key_, value_, output_;
  Axes mask_;  // [shared and rows], without columns
  std::ptrdiff_t shared_ = 0, queries_ = 0, keys_ = 0;
  float factor_ = 1.0f, cap_ = 0.0f;
};

}  // namespace

bool match(const Graph& graph, int softmax, const Limits& limits, Chain* chain) {
  if (graph.node(softmax).registration->builtin_code != builtin::softmax) return false;
  chain->mask = -1;
  chain->nodes.clear(), chain->between.clear();
  return Matcher(graph, limits, chain).match(softmax);
}

}  // namespace attend_tflite
