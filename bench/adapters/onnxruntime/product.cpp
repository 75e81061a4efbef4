#include "product.h"

#include <attend/layers/core_layer.h>

#include <cmath>
#include <cstring>

namespace attend_adapter::onnx {
namespace {

using attend::core::Linear;

constexpr std::size_t work_floats = (attend::core::linear_work_floats + 15) / 16 * 16;

// One matrix times another.
struct Item {
  const Product& product;
  const float* left;
  std::ptrdiff_t left_stride;
  const float* right;  // null: packed
  float* output;
  int rows;
};

// The left matrix with its rows side by side; a copy where they are not. Room: rows * inner floats.
const float* rows_of(const Matrices& left, const float* data, int rows, int inner, float* room) {
  if (!left.transposed) return data;
  for (int k = 0; k < inner; ++k) {
    for (int m = 0; m < rows; ++m) room[std::ptrdiff_t(m) * inner + k] = data[k * left.stride + m];
  }
  return room;
}

// The first number of a row that is not 0; `inner` where all are.
int first_of(const float* row, int inner) {
  int k = 0;
  while (k < inner && row[k] == 0) ++k;
  return k;
}

bool is_finite(const float* numbers, int count) {
  for (int i = 0; i < count; ++i) {
    if (!std::isfinite(numbers[i])) return false;
  }
  return true;
}

// Whether the first rows of the right matrix are finite: 0 times others would be NaN, and they must not be left out.
bool is_finite_before(const Product& product, const float* right, int inner) {
  for (int line = 0; line < (product.right.transposed ? product.columns : inner); ++line) {
    if (!is_finite(right + line * product.right.stride, product.right.transposed ? inner : product.columns)) return false;
  }
  return true;
}

void pack(const Product& product, const float* right, int first, float* panels) {
  const int inner = product.inner - first;
  if (product.right.transposed) {
    attend::core::pack_weights<attend::core::Format::float32>(right + first, product.right.stride, product.columns, inner,
                                                              panels);
  } else {
    pack_transposed(right + first * product.right.stride, product.right.stride, product.columns, inner, panels);
  }
}

Linear linear_of(const Item& item, const float* panels, float* work) {
  Linear linear{};
  linear.input = item.left;
  linear.output = item.output;
  linear.weights = panels;
  linear.bias = item.product.bias;
  linear.input_stride = item.left_stride;
  linear.output_stride = item.product.columns;
  linear.inputs = item.product.inner;
  linear.outputs = item.product.columns;
  linear.tokens = item.rows;
  linear.panels = true;
  linear.work = work;
  return linear;
}

// A matrix on one thread. Memory: panels, of the whole right matrix, and work_floats.
void run_item(const Item& item, float* panels, float* work) {
  const Product& product = item.product;
  int packed_from = -1;
  for (int m = 0, end; m < item.rows; m = end) {
    int first = product.align ? first_of(item.left + m * item.left_stride, product.inner) : 0;
    end = product.align ? m + 1 : item.rows;
    while (end < item.rows && first_of(item.left + end * item.left_stride, product.inner) == first) ++end;
    if (first > 0 && !is_finite_before(product, item.right, first)) first = 0;
    float* const output = item.output + std::ptrdiff_t(m) * product.columns;
    if (first == product.inner) {
      std::memset(output, 0, sizeof(float) * std::size_t(end - m) * std::size_t(product.columns));
      continue;
    }
    if (first != packed_from) pack(product, item.right, packed_from = first, panels);
    Linear linear = linear_of(item, panels, work);
    linear.input += m * item.left_stride + first;
    linear.output = output;
    linear.inputs = product.inner - first;
    linear.tokens = end - m;
    attend::core::run_linear<attend::core::Format::float32>(linear);
  }
}

// One matrix on all threads.
void run_on_threads(const Item& item, const float* panels, const Parallel& parallel, float* work) {
  parallel.each(parallel.threads, [&](int part) {
    attend::core::run_linear_part<attend::core::Format::float32>(
        linear_of(item, panels, work + work_floats * std::size_t(part)), part, parallel.threads);
  });
  if (item.product.activation == nullptr) return;
  const std::ptrdiff_t count = std::ptrdiff_t(item.rows) * item.product.columns;
  parallel.each(parallel.threads, [&](int part) {
    const std::ptrdiff_t first = count * part / parallel.threads, end = count * (part + 1) / parallel.threads;
    item.product.activation(item.output + first, nullptr, int(end - first), item.output + first);
  });
}

}  // namespace

void multiply(const Product& product, const Call& call) {
  const auto count = std::ptrdiff_t(product.left_offsets.size());
  const std::ptrdiff_t numbers = std::ptrdiff_t(product.rows) * product.columns;
  if (count == 0 || numbers == 0) return;
  if (product.inner == 0) {
    for (std::ptrdiff_t i = 0; i < count * numbers; ++i)
      product.output[i] = product.bias == nullptr ? 0 : product.bias[i % product.columns];
    return;
  }
  const Parallel parallel = call.parallel(double(count) * double(numbers) * product.inner);
  const auto threads = std::size_t(parallel.threads);
  const std::size_t left_floats =
      product.left.transposed ? (std::size_t(product.rows) * std::size_t(product.inner) + 15) / 16 * 16 : 0;
  const std::size_t panel_floats =
      product.packed != nullptr ? 0 : attend::core::packed_weight_numbers(product.columns, product.inner);  // a multiple of 16
  const std::size_t room = work_floats + left_floats + panel_floats;
  WorkMemory memory;
  float* const work = memory.numbers<float>(int64_t(threads * room));
  const auto item_of = [&](std::ptrdiff_t i, float* left_room) {
    const float* const left =
        rows_of(product.left, product.left.data + product.left_offsets[std::size_t(i)], product.rows, product.inner, left_room);
    return Item{product,
                left,
                product.left.transposed ? product.inner : product.left.stride,
                product.packed != nullptr ? nullptr : product.right.data + product.right_offsets[std::size_t(i)],
                product.output + i * numbers,
                product.rows};
  };
  const bool dense = !product.left.transposed && product.left.stride == product.inner;
  bool together = dense && product.packed != nullptr;  // rows of all matrices are rows of one
  for (std::ptrdiff_t i = 0; i < count && together; ++i)
    together = product.left_offsets[std::size_t(i)] == i * product.rows * product.inner;
  if (together) {
    Item item = item_of(0, nullptr);
    item.rows = narrow(times(product.rows, count));
    run_on_threads(item, product.packed->panels(), parallel, work);
  } else if (product.packed != nullptr) {
    for (std::ptrdiff_t i = 0; i < count; ++i)
      run_on_threads(item_of(i, work + threads * work_floats), product.packed->panels(), parallel, work);
  } else {
    // Matrices are divided among the threads, and a single one by its rows, each thread with panels of its own.
    const std::ptrdiff_t pieces = count >= parallel.threads ? 1 : (parallel.threads + count - 1) / count;
    parallel.each(int(threads), [&](int part) {
      float* const own = work + room * std::size_t(part);
      const std::ptrdiff_t total = count * pieces;
      for (std::ptrdiff_t piece = total * part / parallel.threads; piece < total * (part + 1) / parallel.threads; ++piece) {
        Item item = item_of(piece / pieces, own + work_floats + panel_floats);
        const std::ptrdiff_t first = item.rows * (piece % pieces) / pieces;
        item.rows = int(item.rows * (piece % pieces + 1) / pieces - first);
        item.left += first * item.left_stride;
        item.output += first * product.columns;
        if (item.rows > 0) run_item(item, own + work_floats, own);
      }
    });
  }
  if (product.alpha != 1) attend::core::scale(product.alpha, narrow(count * numbers), product.output);
}

}  // namespace attend_adapter::onnx
