// What was found around a softmax, as a problem of the library.
#pragma once

#include <algorithm>
#include <vector>

#include "chain.h"
#include "reader.h"

namespace attend_tflite {

// The operands of both products, and what changes the scores between them.
struct Found {
  Operand query, key, value, output;
  Axes mask;  // [shared and rows], without columns
  std::ptrdiff_t shared = 0, queries = 0, keys = 0;
  std::ptrdiff_t heads = 0;  // of scores and mask; 0: not known
  float factor = 1.0f, cap = 0.0f;
};

class ChainProblem : private Reader {
 public:
  ChainProblem(const Graph& graph, bool int8, const Found& found, Chain* chain)
      : Reader(graph, int8), found_(found), chain_(chain) {}

  // False where the library does not compute it.
  bool make() {
    const TfLiteTensor &query = *tensor(found_.query.tensor), &key = *tensor(found_.key.tensor),
                       &value = *tensor(found_.value.tensor), &output = *tensor(found_.output.tensor);
    const std::ptrdiff_t head_dim = extent_of(found_.query.columns), value_dim = extent_of(found_.value.columns);
    if (head_dim > ATTEND_MAX_WIDTH || value_dim > ATTEND_MAX_WIDTH || !(found_.factor > 0.0f && found_.factor <= 1e30f))
      return false;
    AttentionAttributes attributes;
    attributes.scale = found_.factor, attributes.logit_cap = found_.cap;
    Attention& attention = chain_->attention;
    if (start(attention, attributes, query, key, value, output, int(head_dim), int(value_dim))) return false;
    Axes mask_shared, mask_rows;
    if (chain_->mask >= 0 && !cut(found_.mask, found_.queries, &mask_shared, &mask_rows)) return false;
    mask_rows = merged(mask_rows);
    if (mask_rows.size() > 1) return false;
    std::vector<Axes*> lists = {&found_.query.shared, &found_.key.shared, &found_.value.shared, &found_.output.shared};
    if (chain_->mask >= 0) lists.push_back(&mask_shared);
    if (!aligned(lists)) return false;
    // The heads of a query begin with the same key, but each batch row with its own. Two axes are the batch and heads as they are.
    const auto differs = [](const Axis& axis) { return axis.stride != 0; };
    const bool is_cut = found_.heads == 1 && found_.query.shared.size() == 2;
    if (found_.heads > 0 && !is_cut && std::any_of(mask_shared.begin(), mask_shared.end(), differs)) {
      for (Axes* const list : lists) {
        if (!cut_heads(list)) return false;
      }
    }
    // The innermost axis is a group of query heads where neither keys nor values have it.
    const bool grouped =
        !found_.key.shared.empty() && found_.key.shared.back().stride == 0 && found_.value.shared.back().stride == 0;
    if (found_.key.shared.size() > (grouped ? 3u : 2u)) return false;
    Heads query_heads(found_.query.shared, grouped), key_heads(found_.key.shared, grouped),
        value_heads(found_.value.shared, grouped), output_heads(found_.output.shared, grouped);
    if (!query_heads.are_one() || !output_heads.are_one()) return false;
    attend_problem& problem = attention.problem;
    problem.batch = query_heads.batch.extent;
    problem.kv_heads = query_heads.kv.extent;
    problem.query_heads = query_heads.kv.extent * query_heads.group.extent;
    problem.queries = found_.queries, problem.keys = found_.keys;
    set_strides(problem.query, query_heads.batch.stride, query_heads.stride(), found_.query.rows);
    set_strides(problem.output, output_heads.batch.stride, output_heads.stride(), found_.output.rows);
    set_strides(problem.key, key_heads.batch.stride, key_heads.kv.stride, found_.key.rows);
    set_strides(problem.value, value_heads.batch.stride, value_heads.kv.stride, found_.value.rows);
    if (chain_->mask >= 0) {
      const Heads mask_heads(mask_shared, grouped);
      if (!mask_heads.are_one() ||
          !mask_of_chain({mask_heads.batch.stride, mask_heads.stride(), mask_rows.empty() ? 0 : mask_rows[0].stride}))
        return false;
    }
    chain_->query = found_.query.tensor, chain_->key = found_.key.tensor, chain_->value = found_.value.tensor,
    chain_->output = found_.output.tensor;
    std::size_t bytes = 0;
    const std::size_t of_mask = chain_->mask < 0 ? 0 : tensor(chain_->mask)->bytes;
    return !check(attention, std::max({query.bytes, key.bytes, value.bytes, of_mask}), &bytes);
  }

 private:
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
  // Shared axes as that of the batch and those of heads, one at least.
  bool cut_heads(Axes* axes) const {
    Axes batch, heads;
    if (!cut(*axes, found_.heads, &batch, &heads) || batch.size() > 1) return false;
    if (batch.empty()) batch.push_back({1, 0});
    if (heads.empty()) heads.push_back({1, 0});
    *axes = batch;
    axes->insert(axes->end(), heads.begin(), heads.end());
    return true;
  }
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

  Found found_;
  Chain* chain_;
};

}  // namespace attend_tflite
