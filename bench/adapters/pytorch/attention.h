// Scaled dot-product attention over tensors of PyTorch, read where they lie.
#pragma once

#include <limits>

#include "../common/masked.h"
#include "leading_axes.h"
#include "tensors.h"

namespace attend_pytorch {

// What a call of attention may be asked for, as attend_problem has it.
struct AttentionOptions {
  const char* name;  // of the operator, for its errors
  bool is_causal = false;
  bool grouped = false;  // several query heads share a head of keys and values
  c10::optional<double> scale;
  c10::optional<int64_t> offset;
  double softcap = 0;
  c10::optional<int64_t> window_left, window_right;
  OptionalTensor sinks;
};

// A call on tensors with the same leading axes.
class AttentionCall {
 public:
  AttentionCall(const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& mask,
                const AttentionOptions& options)
      : options_(options), axes_(axes_of(query, key, value, options)) {
    query_ = axes_.expanded(query, axes_.query_heads);
    key_ = axes_.expanded(key, axes_.kv_heads);
    value_ = axes_.expanded(value, axes_.kv_heads);
    if (is_there(mask)) set_mask(*mask);
  }

  // A new tensor for the output, [..., heads, L, Ev]. Its tokens lie before its heads where those of the query do, so that a
  // model that joins heads again copies nothing.
  Tensor new_output(const Tensor& query) const {
    std::vector<int64_t> shape = axes_.shape_of(axes_.query_heads, query.size(-2), value_.size(-1));
    const size_t axes = shape.size();
    const bool tokens_first =
        query.dim() >= 3 && query.size(-3) > 1 && query.size(-2) > 1 && query.stride(-3) < query.stride(-2);
    if (!tokens_first) return at::empty(shape, query.options());
    std::swap(shape[axes - 3], shape[axes - 2]);
    return at::empty(shape, query.options()).transpose(-3, -2);
  }

  // Float32 [..., heads, L, S].
  Tensor new_weights() const { return at::zeros(scores_shape(), query_.options().dtype(at::kFloat)); }

  // weights: of new_weights, or undefined.
  void run(const Tensor& output, const Tensor& weights) const {
    attend_problem problem;
    require(attend_problem_init(&problem, sizeof problem), options_.name);
    set_extents(problem);
    set_options(problem);
    if (output.numel() == 0) return;
    const Tensor sinks =
        is_there(options_.sinks) ? parameters(options_.name, "sinks", *options_.sinks, axes_.query_heads, query_) : Tensor();
    if (sinks.defined()) problem.sink_logits = sinks.data_ptr<float>();
    const double work =
        double(query_.numel()) / double(query_.size(-1)) * double(key_.size(-2)) * double(key_.size(-1) + value_.size(-1));
    const attend_adapter::Parallel parallel = threads(work);
    std::vector<int64_t> index(axes_.outer.size(), 0);
    do {
      place(problem.query, query_, index);
      place(problem.key, key_, index);
      place(problem.value, value_, index);
      place(problem.output, output, index);
      if (mask_.defined()) place_mask(problem, index);
      if (weights.defined()) place_weights(problem, weights, index);
      require(attend_adapter::run_masked_attention(problem, parallel, work_memory()), options_.name);
    } while (next(index));
  }

 private:
  static LeadingAxes axes_of(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& options) {
    require_tensor(options.name, "query", query, query);
    require_tensor(options.name, "key", key, query);
    require_tensor(options.name, "value", value, query);
    TORCH_CHECK(query.size(-1) == key.size(-1) && key.size(-2) == value.size(-2), "attend::", options.name,
                ": shapes do not go together: query ", query.sizes(), ", key ", key.sizes(), ", value ", value.sizes(),
                "; expected [..., L, E], [..., S, E] and [..., S, Ev]");
    return LeadingAxes(options.name, options.grouped, query, key, value);
  }

  static void require_tensor(const char* name, const char* argument, const Tensor& tensor, const Tensor& query) {
    require_beside(name, argument, tensor, query);
    TORCH_CHECK(tensor.dim() >= 2, "attend::", name, ": ", argument, " has the shape ", tensor.sizes(),
                "; expected [..., tokens, width]");
  }

  std::vector<int64_t> scores_shape() const { return axes_.shape_of(axes_.query_heads, query_.size(-2), key_.size(-2)); }

  void set_mask(const Tensor& mask) {
    TORCH_CHECK(!options_.is_causal, "attend::", options_.name,
                ": attn_mask and is_causal are both given; expected one of them");
    const bool is_bool = mask.scalar_type() == at::kBool;
    TORCH_CHECK(is_bool || is_taken(mask.scalar_type()), "attend::", options_.name, ": attn_mask is of ", mask.scalar_type(),
                "; expected Bool, Float, Half or BFloat16");
    if (!is_bool) require_numbers(options_.name, "attn_mask", mask);
    TORCH_CHECK(mask.device() == query_.device() && mask.layout() == at::kStrided, "attend::", options_.name,
                ": attn_mask is elsewhere than query");
    const std::vector<int64_t> shape = scores_shape();
    bool fits = mask.dim() <= int64_t(shape.size());
    for (int64_t axis = 1; fits && axis <= mask.dim(); ++axis)
      fits = mask.size(-axis) == 1 || mask.size(-axis) == shape[shape.size() - size_t(axis)];
    TORCH_CHECK(fits, "attend::", options_.name, ": attn_mask has the shape ", mask.sizes(), ", which does not expand to ",
                at::IntArrayRef(shape));
    Tensor own = is_bool ? mask : mask.to(at::kFloat);
    const int64_t keys = key_.size(-2);
    if (keys > 1 && (own.dim() == 0 || own.size(-1) != keys || own.stride(-1) != 1)) {  // rows of keys side by side
      std::vector<int64_t> rows = own.sizes().vec();
      if (rows.empty()) rows.push_back(1);
      rows.back() = keys;
      own = own.expand(rows).contiguous();
    }
    mask_ = own.expand(shape);
  }

  void set_extents(attend_problem& problem) const {
    problem.batch = axes_.batch;
    problem.query_heads = axes_.query_heads;
    problem.kv_heads = axes_.kv_heads;
    problem.head_dim = query_.size(-1);
    problem.value_dim = value_.size(-1);
    problem.queries = query_.size(-2);
    problem.keys = key_.size(-2);
    problem.query_format = problem.output_format = format_of(query_);
    problem.key_format = format_of(key_);
    problem.value_format = format_of(value_);
  }

  void set_options(attend_problem& problem) const {
    const auto window = [&](const c10::optional<int64_t>& keys) {
      return keys.has_value() ? ptrdiff_t(*keys) : ptrdiff_t(ATTEND_NO_LIMIT);
    };
    if (options_.is_causal) problem.options |= ATTEND_CAUSAL;
    if (options_.scale.has_value()) problem.scale = float(*options_.scale);
    problem.soft_cap = float(options_.softcap);
    problem.window_left = window(options_.window_left);
    problem.window_right = window(options_.window_right);
    const bool positions = options_.is_causal || options_.window_left.has_value() || options_.window_right.has_value();
    if (positions) problem.offset = ptrdiff_t(options_.offset.value_or(0));
  }

  // Strides of the batch, of heads and of tokens, counted from the end of a tensor's axes.
  template <class To>
  void place(To& to, const Tensor& tensor, const std::vector<int64_t>& index) const {
    to.data =
        const_cast<char*>(static_cast<const char*>(tensor.data_ptr())) + start(tensor, index) * int64_t(tensor.element_size());
    to.token_stride = tensor.stride(-2);
    to.head_stride = axes_.has_heads ? tensor.stride(-3) : 0;
    to.batch_stride = axes_.has_batch ? tensor.stride(axes_.has_heads ? -4 : -3) : 0;
  }
  template <class To>
  void place_rows(To& to, const Tensor& tensor) const {
    to.query_stride = tensor.stride(-2);
    to.head_stride = axes_.has_heads ? tensor.stride(-3) : 0;
    to.batch_stride = axes_.has_batch ? tensor.stride(axes_.has_heads ? -4 : -3) : 0;
    to.keys = key_.size(-2);
  }
  void place_mask(attend_problem& problem, const std::vector<int64_t>& index) const {
    if (mask_.scalar_type() == at::kBool) {
      problem.mask.data = mask_.data_ptr<bool>() + start(mask_, index);
      problem.mask.kind = ATTEND_MASK_BYTES;
      place_rows(problem.mask, mask_);
    } else {
      problem.bias.data = mask_.data_ptr<float>() + start(mask_, index);
      place_rows(problem.bias, mask_);
    }
  }
  void place_weights(attend_problem& problem, const Tensor& weights, const std::vector<int64_t>& index) const {
    problem.scores.data = weights.data_ptr<float>() + start(weights, index);
    problem.scores.stage = ATTEND_SCORES_WEIGHTS;
    place_rows(problem.scores, weights);
  }

  // Where the batch rows of an index of the axes before them begin, in numbers.
  static int64_t start(const Tensor& tensor, const std::vector<int64_t>& index) {
    int64_t numbers = 0;
    for (size_t axis = 0; axis < index.size(); ++axis) numbers += index[axis] * tensor.stride(int64_t(axis));
    return numbers;
  }
  bool next(std::vector<int64_t>& index) const {
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < axes_.outer[axis]) return true;
      index[axis] = 0;
    }
    return false;
  }

  const AttentionOptions& options_;
  LeadingAxes axes_;
  Tensor query_, key_, value_, mask_;
};

// The output, and where they are asked for the weights: undefined otherwise. On the device "meta" only their shapes.
inline std::tuple<Tensor, Tensor> attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                            const OptionalTensor& mask, const AttentionOptions& options, bool with_weights) {
  const AttentionCall call(query, key, value, mask, options);
  const Tensor output = call.new_output(query), weights = with_weights ? call.new_weights() : Tensor();
  if (!query.is_meta()) call.run(output, weights);
  return std::make_tuple(output, weights);
}

}  // namespace attend_pytorch
