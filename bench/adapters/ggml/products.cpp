// Products of matrices: MUL_MAT, and MUL_MAT_ID, whose rows choose their matrix.
//
//   node[token][output] = sum over i of weights[output][i] * input[token][i]       for each matrix; weights are repeated along
//   outer axes
//
// The weights are packed (weights.h), or rows in the CPU's memory: the bits are the same. Those of Q8_0 are widened, some
// panels at a time, for several tokens, and multiplied by as they are for one.
#include <attend/layers/core_linear.h>

#include "operations.h"
#include "q8.h"
#include "weights.h"

namespace attend_ggml {
namespace {

using namespace attend::core;
using attend::panel_keys;

// One matrix of weights, by some tokens.
struct Product {
  const char* weights;
  int type;
  bool packed;
  std::size_t row_stride;  // bytes, of rows
  int inputs, outputs, tokens;
  const float* input;
  std::ptrdiff_t input_stride;
  float* output;
  std::ptrdiff_t output_stride;
};

// Floats of a thread's work memory: the library's, and a chunk of widened panels.
constexpr std::size_t library_floats = (linear_work_floats + 15) / 16 * 16;
constexpr int chunk_floats = 1 << 21;  // 8 MiB: what is gathered of the tokens serves many outputs

// Outputs that are widened at a time: a panel for a few tokens, which stays in the first cache.
int chunk_outputs(const Product& product) {
  const int all = (product.outputs + panel_keys - 1) / panel_keys,
            panels = product.tokens < 16 ? 1 : chunk_floats / product.inputs / panel_keys;
  return (panels < 1 ? 1 : panels < all ? panels : all) * panel_keys;
}

std::size_t work_floats(const Product& product) {
  if (product.type != type_q8_0) return library_floats;
  const std::size_t groups = std::size_t(product.inputs) / q8_numbers;
  return library_floats + std::size_t(chunk_outputs(product)) * std::size_t(product.inputs) +
         groups * sizeof(Q8Panel) / sizeof(float);
}

Linear linear_of(const Product& product, float* work) {
  Linear linear{};
  linear.input = product.input;
  linear.output = product.output;
  linear.weights = product.weights;
  linear.input_stride = product.input_stride;
  linear.output_stride = product.output_stride;
  linear.inputs = product.inputs;
  linear.outputs = product.outputs;
  linear.tokens = product.tokens;
  linear.panels = product.packed;
  linear.work = work;
  return linear;
}

template <Format format>
void multiply(const Product& product, int part, int parts, float* work) {
  Linear linear = linear_of(product, work);
  if (!product.packed) linear.weight_stride = std::ptrdiff_t(product.row_stride / row_bytes(product.type, 32) * 32);
  run_linear_part<format>(linear, part, parts);
}

// A panel of Q8_0: where it lies, or gathered from rows.
const Q8Panel* q8_panel(const Product& product, int output, Q8Panel* gathered) {
  const int groups = product.inputs / q8_numbers;
  if (product.packed) {
    return reinterpret_cast<const Q8Panel*>(product.weights) + std::ptrdiff_t(output / panel_keys) * groups;
  }
  pack_q8(reinterpret_cast<const Q8Block*>(product.weights + std::size_t(output) * product.row_stride),
          std::int64_t(product.row_stride / sizeof(Q8Block)),
          product.outputs - output < panel_keys ? product.outputs - output : panel_keys, groups, gathered);
  return gathered;
}

void multiply_q8(const Product& product, int part, int parts, float* work) {
  const int panels = (product.outputs + panel_keys - 1) / panel_keys, groups = product.inputs / q8_numbers;
  const int first = int(std::int64_t(panels) * part / parts) * panel_keys;
  const int end = int(std::int64_t(panels) * (part + 1) / parts) * panel_keys;
  float* const floats = work + library_floats;
  const int chunk = chunk_outputs(product);
  Q8Panel* const gathered = static_cast<Q8Panel*>(static_cast<void*>(floats + std::ptrdiff_t(chunk) * product.inputs));
  const bool as_it_is = product.tokens == 1 && can_multiply_q8();
  for (int from = first; from < end; from += chunk) {
    const int to = from + chunk < end ? from + chunk : end, outputs = (to < product.outputs ? to : product.outputs) - from;
    if (as_it_is) {  // the chunk is a panel
      float sums[panel_keys];
      multiply_q8_panel(q8_panel(product, from, gathered), groups, product.input, sums);
      std::memcpy(product.output + from, sums, std::size_t(outputs) * sizeof(float));
      continue;
    }
    for (int o = from; o < to; o += panel_keys)
      widen_q8(q8_panel(product, o, gathered), groups, floats + std::ptrdiff_t(o - from) * product.inputs);
    Linear linear = linear_of(product, work);
    linear.weights = floats;
    linear.panels = true;
    linear.output += from;
    linear.outputs = outputs;
    run_linear<Format::float32>(linear);
  }
}

void multiply(const Product& product, int part, int parts, float* work) {
  switch (product.type) {
    case type_float16:
      return multiply<Format::float16>(product, part, parts, work);
    case type_bfloat16:
      return multiply<Format::bfloat16>(product, part, parts, work);
    case type_q4_0:
      return multiply<Format::int4>(product, part, parts, work);
    case type_q8_0:
      return multiply_q8(product, part, parts, work);
    default:
      return multiply<Format::float32>(product, part, parts, work);
  }
}

// product_of(index) of so many, on all threads: each matrix by one of them, where there are several matrices for each.
template <class ProductOf>
bool multiply_all(std::int64_t count, const Work& work, std::vector<Memory>& memory, const ProductOf& product_of) {
  const int threads = work.parallel.threads;
  std::size_t floats = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t needed = work_floats(product_of(i));
    if (needed > floats) floats = needed;
    if (i > 0 && product_of(i).tokens == product_of(i - 1).tokens && i > 64) break;
  }
  for (int t = 0; t < threads; ++t) {
    if (memory[std::size_t(t)].numbers<float>(floats) == nullptr) return false;
  }
  const std::int64_t parts = count >= 2 * threads ? 1 : threads, pieces = count * parts;
  work.parallel.each(threads, [&](int thread) {
    float* const own = memory[std::size_t(thread)].numbers<float>(floats);
    for (std::int64_t piece = thread; piece < pieces; piece += threads) {
      const Product product = product_of(piece / parts);
      if (product.tokens > 0) multiply(product, int(piece % parts), int(parts), own);
    }
  });
  return true;
}

// Rows of weights where they lie in the CPU's memory, or packed whole.
bool has_weights(const Tensor* weights) {
  if (!has_extents(weights) || !is_weight_type(weights->type)) return false;
  const std::size_t row = row_bytes(weights->type, weights->extents[0]);
  if (row == 0) return false;
  if (is_packed(*weights)) return weights->view_of == nullptr;
  const std::size_t number = row_bytes(weights->type, weights->type == type_q8_0 || weights->type == type_q4_0 ? 32 : 1);
  for (int axis = 0; axis < 4; ++axis) {
    if (weights->strides[axis] % (weights->type == type_q8_0 || weights->type == type_q4_0 ? 2 : number) != 0) return false;
  }
  return weights->strides[0] == number && weights->strides[1] % number == 0 &&
         (weights->extents[1] == 1 || weights->strides[1] >= row);
}

bool takes_product(const Tensor& node) {
  const Tensor *const weights = node.sources[0], *const input = node.sources[1];
  if (!has_weights(weights) || !has_float_rows(input) || !has_float_rows(&node)) return false;
  return input->extents[0] == weights->extents[0] && node.extents[0] == weights->extents[1] &&
         node.extents[1] == input->extents[1] && node.extents[2] == input->extents[2] && node.extents[3] == input->extents[3] &&
         input->extents[2] % weights->extents[2] == 0 && input->extents[3] % weights->extents[3] == 0;
}

// What does not depend on the matrix.
Product product_of_node(const Tensor& node) {
  const Tensor &weights = *node.sources[0], &input = *node.sources[1];
  Product product{};
  product.type = weights.type;
  product.packed = is_packed(weights);
  product.row_stride = weights.strides[1];
  product.inputs = int(weights.extents[0]);
  product.outputs = int(weights.extents[1]);
  product.input_stride = std::ptrdiff_t(input.strides[1] / sizeof(float));
  product.output_stride = std::ptrdiff_t(node.strides[1] / sizeof(float));
  return product;
}

const char* matrix_of(const Tensor& weights, std::int64_t third, std::int64_t fourth) {
  if (is_packed(weights)) {
    return static_cast<const char*>(weights.data) +
           packed_matrix_bytes(weights) * std::size_t(fourth * weights.extents[2] + third);
  }
  return at(weights, {0, third, fourth});
}

bool compute_product(const Tensor& node, Work& work) {
  const Tensor &weights = *node.sources[0], &input = *node.sources[1];
  const std::int64_t third_repeats = input.extents[2] / weights.extents[2],
                     fourth_repeats = input.extents[3] / weights.extents[3];
  return multiply_all(node.extents[2] * node.extents[3], work, work.threads, [&](std::int64_t i) {
    const std::int64_t third = i % node.extents[2], fourth = i / node.extents[2];
    Product product = product_of_node(node);
    product.weights = matrix_of(weights, third / third_repeats, fourth / fourth_repeats);
    product.tokens = int(input.extents[1]);
    product.input = floats_at(input, {0, third, fourth});
    product.output = floats_at(node, {0, third, fourth});
    return product;
  });
}

}  // namespace

const NamedOperation product_operations[] = {{"MUL_MAT", {takes_product, compute_product}}, {nullptr, {}}};

}  // namespace attend_ggml
