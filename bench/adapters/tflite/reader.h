// What the nodes of a graph do, as far as chains are made of them, and how the operands of a product lie.
#pragma once

#include "builtins.h"
#include "graph.h"
#include "nodes.h"
#include "views.h"

namespace attend_tflite {

// An operand of a product, as it lies in a tensor: axes that both products share, then rows and columns of a matrix.
struct Operand {
  int tensor = -1;
  Axes shared, rows, columns;
};

class Reader {
 protected:
  Reader(const Graph& graph, bool int8) : graph_(graph), int8_(int8) {}

  const TfLiteTensor* tensor(int index) const { return attend_tflite::tensor(graph_.context(), index); }
  Dims dims(int index) const {
    const TfLiteTensor& it = *tensor(index);
    return Dims(it.dims->data, it.dims->data + it.dims->size);
  }
  std::int32_t code(int node) const { return node < 0 ? -1 : graph_.node(node).registration->builtin_code; }
  template <class Options>
  const Options* options_of(int node) const {
    return static_cast<const Options*>(graph_.node(node).node->builtin_data);
  }
  bool is_number(int index) const {  // of a type that chains have, with extents that are known
    const TfLiteTensor* const it = tensor(index);
    if (it == nullptr || it->dims == nullptr || it->allocation_type == kTfLiteDynamic || it->sparsity != nullptr) return false;
    if (it->type != kTfLiteFloat32 && !(it->type == kTfLiteInt8 && int8_)) return false;
    std::ptrdiff_t numbers = 1;
    for (const std::ptrdiff_t extent : dims(index)) {
      if (extent < 1 || numbers > PTRDIFF_MAX / 8 / extent) return false;
      numbers *= extent;
    }
    return true;
  }
  static std::ptrdiff_t product(const Dims& dims, std::size_t count) {
    std::ptrdiff_t numbers = 1;
    for (std::size_t i = 0; i < count; ++i) numbers *= dims[i];
    return numbers;
  }

  bool same_bytes(int a, int b) const {  // one is the other but for its shape
    if (!is_number(a) || !is_number(b) || tensor(a)->type != tensor(b)->type) return false;
    return tensor(a)->type == kTfLiteFloat32 || same_scale(*tensor(a), *tensor(b));
  }
  bool is_reshape(int node) const {
    const std::int32_t which = code(node);
    if (which != builtin::reshape && which != builtin::squeeze && which != builtin::expand_dims) return false;
    const TfLiteNode& it = *graph_.node(node).node;
    if (inputs(it) < 1 || outputs(it) != 1 || !same_bytes(it.inputs->data[0], it.outputs->data[0])) return false;
    const Dims from = dims(it.inputs->data[0]), to = dims(it.outputs->data[0]);
    return product(from, from.size()) == product(to, to.size());
  }
  // Output axis j of a transposition is input axis permutation[j].
  bool is_transposition(int node, Dims* permutation) const {
    if (code(node) != builtin::transpose) return false;
    const TfLiteNode& it = *graph_.node(node).node;
    if (inputs(it) != 2 || outputs(it) != 1 || !same_bytes(it.inputs->data[0], it.outputs->data[0])) return false;
    const TfLiteTensor* const order = tensor(it.inputs->data[1]);
    const Dims from = dims(it.inputs->data[0]), to = dims(it.outputs->data[0]);
    if (order == nullptr || order->type != kTfLiteInt32 || order->allocation_type != kTfLiteMmapRo || rank(*order) != 1)
      return false;
    if (dim(*order, 0) != int(from.size()) || order->bytes != from.size() * sizeof(std::int32_t) || order->data.raw == nullptr)
      return false;
    std::vector<bool> seen(from.size(), false);
    permutation->clear();
    for (std::size_t j = 0; j < from.size(); ++j) {
      std::int32_t axis;
      std::memcpy(&axis, order->data.raw + j * sizeof axis, sizeof axis);
      if (axis < 0) axis += std::int32_t(from.size());
      if (axis < 0 || std::size_t(axis) >= from.size() || seen[std::size_t(axis)] || to.size() != from.size()) return false;
      if (to[j] != from[std::size_t(axis)]) return false;
      seen[std::size_t(axis)] = true;
      permutation->push_back(axis);
    }
    return true;
  }
  // A constant with one number.
  bool constant(int index, float* number) const {
    const TfLiteTensor* const it = tensor(index);
    if (it == nullptr || !is_number(index) || it->allocation_type != kTfLiteMmapRo || it->data.raw == nullptr) return false;
    const Dims extents = dims(index);
    if (product(extents, extents.size()) != 1) return false;
    if (it->type == kTfLiteFloat32) {
      std::memcpy(number, it->data.raw, sizeof *number);
      return true;
    }
    Scale scale;
    if (!scale_of(*it, &scale)) return false;
    *number = float(scale.scale * (it->data.int8[0] - scale.zero));
    return true;
  }
  // Whether a node multiplies a tensor by a constant, or divides it: the tensor, and the factor.
  bool is_scaling(int node, int* from, float* by) const {
    if (code(node) != builtin::mul && code(node) != builtin::div) return false;
    const TfLiteNode& it = *graph_.node(node).node;
    const auto* const options = options_of<builtin::Activation>(node);
    if (inputs(it) != 2 || outputs(it) != 1 || options == nullptr || options->activation != 0) return false;
    for (int i = 0; i < (code(node) == builtin::mul ? 2 : 1); ++i) {
      *from = it.inputs->data[i];
      if (!constant(it.inputs->data[1 - i], by) || !is_number(*from) || dims(*from) != dims(it.outputs->data[0])) continue;
      if (tensor(*from)->type != tensor(it.outputs->data[0])->type) continue;
      if (code(node) == builtin::div) *by = 1.0f / *by;
      return true;
    }
    return false;
  }

  // x [..., rows, inner] times y, which is [..., outer, inner] where transposed and [..., inner, outer] otherwise.
  struct Product {
    int x, y;
    bool transposed;
  };
  bool is_product(int node, Product* result) const {
    const TfLiteNode& it = *graph_.node(node).node;
    if (outputs(it) != 1 || inputs(it) < 2) return false;
    result->x = it.inputs->data[0], result->y = it.inputs->data[1];
    if (!is_number(result->x) || !is_number(result->y) || !is_number(it.outputs->data[0])) return false;
    if (code(node) == builtin::batch_matmul) {
      const auto* const options = options_of<builtin::BatchMatmul>(node);
      if (options == nullptr || options->adj_x || inputs(it) != 2) return false;
      result->transposed = options->adj_y;
    } else if (code(node) == builtin::fully_connected) {
      const auto* const options = options_of<builtin::FullyConnected>(node);
      if (options == nullptr || options->activation != 0 || options->weights_format != 0) return false;
      if (inputs(it) > 2 && it.inputs->data[2] >= 0) return false;
      if (rank(*tensor(result->y)) != 2 || rank(*tensor(result->x)) < 2) return false;
      if (dims(result->x).back() != dims(result->y)[1]) return false;
      result->transposed = true;
    } else {
      return false;
    }
    return rank(*tensor(result->x)) >= 2 && rank(*tensor(result->y)) >= 2;
  }
  // An operand of a product whose shared axes are those of x: [shared][rows][columns], as the tensor lies.
  Operand operand(int index, const Dims& shared, bool swapped) const {
    Operand result;
    result.tensor = index;
    const Dims own = dims(index), strides = dense_strides(own);
    const std::size_t axes = own.size() - 2;
    for (std::size_t i = 0; i < shared.size(); ++i) {
      const std::ptrdiff_t j = std::ptrdiff_t(i) - std::ptrdiff_t(shared.size()) + std::ptrdiff_t(axes);
      const bool spread = j < 0 || own[std::size_t(j)] == 1;
      result.shared.push_back({shared[i], spread ? 0 : strides[std::size_t(j)]});
    }
    result.rows = {{own[axes + (swapped ? 1 : 0)], strides[axes + (swapped ? 1 : 0)]}};
    result.columns = {{own[axes + (swapped ? 0 : 1)], strides[axes + (swapped ? 0 : 1)]}};
    return result;
  }
  // Whether y's shared axes spread over x's, which are then those of the result.
  bool spreads(int x, int y) const {
    const Dims of_x = dims(x), of_y = dims(y);
    if (of_y.size() > of_x.size()) return false;
    for (std::size_t j = 0; j + 2 < of_y.size(); ++j) {
      const std::ptrdiff_t extent = of_x[of_x.size() - of_y.size() + j];
      if (of_y[j] != 1 && of_y[j] != extent) return false;
    }
    return true;
  }
  static Dims without_matrix(Dims all) {
    all.resize(all.size() - 2);
    return all;
  }

  const Graph& graph_;
  const bool int8_;
};

}  // namespace attend_tflite
