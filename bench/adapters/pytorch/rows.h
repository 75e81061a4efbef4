// Projections, normalisations, activations and softmax over tensors of PyTorch.
#pragma once

#include <attend/c/layers.h>

#include <algorithm>
#include <limits>

#include "../common/linear.h"
#include "../common/softmax.h"
#include "tensors.h"

namespace attend_pytorch {

// Rows that a call of the library takes at once.
constexpr int64_t rows_at_once = 1 << 20;

// work(first, count) for rows, a share of them on each thread.
template <class Work>
void for_rows(int64_t rows, int64_t width, const Work& work) {
  const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, width));
  at::parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row += rows_at_once) work(row, std::min(rows_at_once, end - row));
  });
}

// Of input[..., inputs]: [..., outputs].
inline std::vector<int64_t> projected_shape(const Tensor& input, int64_t outputs) {
  std::vector<int64_t> shape = input.sizes().vec();
  shape.back() = outputs;
  return shape;
}

template <attend::core::Format format>
void project(const char* name, const Tensor& input, const Tensor& weight, bool panels, const Tensor& bias,
             const Tensor& output) {
  attend::core::Linear linear{};
  linear.weights = weight.data_ptr();
  linear.bias = bias.defined() ? bias.data_ptr<float>() : nullptr;
  linear.inputs = int(input.size(-1));
  linear.outputs = int(output.size(-1));
  linear.input_stride = linear.inputs;
  linear.output_stride = linear.outputs;
  linear.weight_stride = panels ? 0 : weight.stride(0);
  linear.panels = panels;
  const int64_t rows = output.numel() / output.size(-1);
  for (int64_t row = 0; row < rows; row += rows_at_once) {
    linear.tokens = int(std::min(rows_at_once, rows - row));
    linear.input = input.data_ptr<float>() + row * linear.inputs;
    linear.output = output.data_ptr<float>() + row * linear.outputs;
    const attend_adapter::Parallel parallel = threads(double(linear.tokens) * linear.inputs * linear.outputs);
    TORCH_CHECK(attend_adapter::run_projection<format>(linear, parallel, work_memory()), "attend::", name,
                ": there is not enough memory");
  }
}

inline void require_extents(const char* name, int64_t outputs, int64_t inputs) {
  TORCH_CHECK(outputs >= 1 && inputs >= 1 && outputs <= ATTEND_MAX_TOKENS && inputs <= ATTEND_MAX_TOKENS, "attend::", name,
              ": weights of ", outputs, " outputs and ", inputs, " inputs; expected 1 to ", ATTEND_MAX_TOKENS, " of each");
}

// input[..., inputs] times the weights, of rows [outputs, inputs] or of panels, plus bias. Computed in float32; a result of the
// input's type.
inline Tensor projection(const char* name, const Tensor& input, const Tensor& weight, int64_t outputs, bool panels,
                         const OptionalTensor& bias) {
  require_extents(name, outputs, input.size(-1));
  TORCH_CHECK(!is_there(bias) || bias->dim() == 1, "attend::", name, ": bias has ", is_there(bias) ? bias->dim() : 0,
              " axes; expected 1");
  const Tensor added = is_there(bias) ? parameters(name, "bias", *bias, outputs, input) : Tensor();
  const Tensor output = at::empty(projected_shape(input, outputs), input.options().dtype(at::kFloat));
  if (output.numel() > 0 && !input.is_meta()) {
    const Tensor numbers = floats_of(input);
    if (weight.scalar_type() == at::kFloat)
      project<attend::core::Format::float32>(name, numbers, weight, panels, added, output);
    if (weight.scalar_type() == at::kHalf) project<attend::core::Format::float16>(name, numbers, weight, panels, added, output);
    if (weight.scalar_type() == at::kBFloat16)
      project<attend::core::Format::bfloat16>(name, numbers, weight, panels, added, output);
  }
  return output.to(input.scalar_type());
}

inline Tensor linear(const Tensor& input, const Tensor& weight, const OptionalTensor& bias) {
  require_numbers("linear", "input", input);
  require_beside("linear", "weight", weight, input);
  TORCH_CHECK(weight.dim() == 2 && input.dim() >= 1 && input.size(-1) == weight.size(1), "attend::linear: input ",
              input.sizes(), " and weight ", weight.sizes(),
              " do not go together; expected [..., inputs] and [outputs, inputs]");
  const bool rows = weight.size(1) == 1 || weight.stride(1) == 1;
  return projection("linear", input, rows ? weight : weight.contiguous(), weight.size(0), false, bias);
}

inline int64_t packed_numbers(int64_t outputs, int64_t inputs) {
  return int64_t(attend::core::packed_weight_numbers(int(outputs), int(inputs)));
}

inline Tensor pack_weight(const Tensor& weight) {
  require_numbers("pack_weight", "weight", weight);
  TORCH_CHECK(weight.dim() == 2, "attend::pack_weight: weight has the shape ", weight.sizes(), "; expected [outputs, inputs]");
  require_extents("pack_weight", weight.size(0), weight.size(1));
  const Tensor packed = at::empty({packed_numbers(weight.size(0), weight.size(1))}, weight.options());
  if (weight.is_meta()) return packed;
  const Tensor rows = weight.contiguous();
  const int outputs = int(weight.size(0)), inputs = int(weight.size(1));
  using attend::core::Format;
  if (format_of(rows) == ATTEND_FLOAT32)
    attend::core::pack_weights<Format::float32>(rows.data_ptr(), inputs, outputs, inputs, packed.data_ptr());
  if (format_of(rows) == ATTEND_FLOAT16)
    attend::core::pack_weights<Format::float16>(rows.data_ptr(), inputs, outputs, inputs, packed.data_ptr());
  if (format_of(rows) == ATTEND_BFLOAT16)
    attend::core::pack_weights<Format::bfloat16>(rows.data_ptr(), inputs, outputs, inputs, packed.data_ptr());
  return packed;
}

inline Tensor packed_linear(const Tensor& input, const Tensor& packed, int64_t outputs, const OptionalTensor& bias) {
  require_numbers("packed_linear", "input", input);
  require_beside("packed_linear", "packed", packed, input);
  TORCH_CHECK(input.dim() >= 1, "attend::packed_linear: input has no axis; expected [..., inputs]");
  require_extents("packed_linear", outputs, input.size(-1));
  TORCH_CHECK(packed.dim() == 1 && packed.is_contiguous() && packed.numel() == packed_numbers(outputs, input.size(-1)),
              "attend::packed_linear: packed has the shape ", packed.sizes(), "; expected what attend::pack_weight gives of ",
              outputs, " outputs and ", input.size(-1), " inputs");
  TORCH_CHECK(packed.is_meta() || reinterpret_cast<uintptr_t>(packed.data_ptr()) % ATTEND_ALIGNMENT == 0,
              "attend::packed_linear: packed does not begin at a multiple of ", ATTEND_ALIGNMENT,
              " bytes; expected what attend::pack_weight gives");
  return projection("packed_linear", input, packed, outputs, true, bias);
}

// Each row over the last axes, of the shape given.
template <class Normalise>
Tensor normalised(const char* name, const Tensor& input, at::IntArrayRef shape, const OptionalTensor& weight,
                  const OptionalTensor& bias, double eps, const Normalise& normalise) {
  require_numbers(name, "input", input);
  bool fits = !shape.empty() && int64_t(shape.size()) <= input.dim();
  for (size_t axis = 1; fits && axis <= shape.size(); ++axis) fits = shape[shape.size() - axis] == input.size(-int64_t(axis));
  TORCH_CHECK(fits, "attend::", name, ": input has the shape ", input.sizes(), ", whose last axes are not normalized_shape, ",
              shape);
  int64_t width = 1;
  for (const int64_t size : shape) width *= size;
  const Tensor factors = is_there(weight) ? parameters(name, "weight", *weight, width, input) : Tensor();
  const Tensor added = is_there(bias) ? parameters(name, "bias", *bias, width, input) : Tensor();
  const Tensor output = at::empty(input.sizes(), input.options().dtype(at::kFloat));
  if (output.numel() > 0 && !input.is_meta()) {
    const attend_norm norm = {factors.defined() ? factors.data_ptr<float>() : nullptr,
                              added.defined() ? added.data_ptr<float>() : nullptr, ptrdiff_t(width), float(eps)};
    const Tensor numbers = floats_of(input);
    const float* const from = numbers.data_ptr<float>();
    float* const to = output.data_ptr<float>();
    require(normalise(&norm, from, 0, to), name);
    for_rows(input.numel() / width, width,
             [&](int64_t first, int64_t rows) { normalise(&norm, from + first * width, rows, to + first * width); });
  }
  return output.to(input.scalar_type());
}

inline Tensor layer_norm(const Tensor& input, at::IntArrayRef shape, const OptionalTensor& weight, const OptionalTensor& bias,
                         double eps) {
  return normalised("layer_norm", input, shape, weight, bias, eps, attend_layer_norm);
}

inline Tensor rms_norm(const Tensor& input, at::IntArrayRef shape, const OptionalTensor& weight, c10::optional<double> eps) {
  const bool half = input.defined() && input.scalar_type() == at::kHalf,
             bfloat16 = input.defined() && input.scalar_type() == at::kBFloat16;
  const double smallest = half ? 0.0009765625 : bfloat16 ? 0.0078125 : 1.1920928955078125e-07;  // torch.finfo(input.dtype).eps
  return normalised("rms_norm", input, shape, weight, c10::nullopt, eps.value_or(smallest), attend_rms_norm);
}

inline Tensor activated(const char* name, const Tensor& input, int activation) {
  require_numbers(name, "input", input);
  const Tensor output = at::empty(input.sizes(), input.options().dtype(at::kFloat));
  if (output.numel() > 0 && !input.is_meta()) {
    const Tensor numbers = floats_of(input);
    const float* const from = numbers.data_ptr<float>();
    float* const to = output.data_ptr<float>();
    for_rows(input.numel(), 1,
             [&](int64_t first, int64_t count) { attend_activate(activation, from + first, nullptr, count, to + first); });
  }
  return output.to(input.scalar_type());
}

inline Tensor gelu(const Tensor& input, c10::string_view approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh", "attend::gelu: approximate is '", approximate,
              "'; expected 'none' or 'tanh'");
  return activated("gelu", input, approximate == "none" ? ATTEND_GELU : ATTEND_GELU_TANH);
}

inline Tensor silu(const Tensor& input) { return activated("silu", input, ATTEND_SILU); }

inline Tensor softmax(const Tensor& input, int64_t dim, c10::optional<at::ScalarType> dtype) {
  require_numbers("softmax", "input", input);
  const at::ScalarType type = dtype.value_or(input.scalar_type());
  TORCH_CHECK(is_taken(type), "attend::softmax: dtype is ", type, "; expected Float, Half or BFloat16");
  TORCH_CHECK(input.dim() >= 1 && dim >= -input.dim() && dim < input.dim(), "attend::softmax: dim is ", dim, " of ",
              input.dim(), " axes");
  const Tensor moved = floats_of(input.transpose(dim, -1));
  const Tensor output = at::empty(moved.sizes(), moved.options());
  const int64_t width = moved.size(-1), rows = width == 0 || input.is_meta() ? 0 : moved.numel() / width;
  TORCH_CHECK(width <= ATTEND_MAX_TOKENS, "attend::softmax: ", width, " numbers; expected at most ", ATTEND_MAX_TOKENS);
  for_rows(rows, width, [&](int64_t first, int64_t count) {
    for (int64_t row = first; row < first + count; ++row) {
      const float* const from = moved.data_ptr<float>() + row * width;
      float* const to = output.data_ptr<float>() + row * width;
      if (attend_adapter::largest_of(from, int(width)) == -std::numeric_limits<float>::infinity()) {
        std::fill(to, to + width, 0.0f);  // nothing but masked keys
      } else {
        attend_adapter::softmax_row(from, int(width), to);
      }
    }
  });
  return output.transpose(dim, -1).to(type);
}

}  // namespace attend_pytorch
