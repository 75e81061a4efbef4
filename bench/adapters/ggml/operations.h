// The operations of ggml that the adapter computes: each in a file with others of its kind, all of them in one table by ggml's
// names.
#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "../common/memory.h"
#include "../common/parallel.h"
#include "ggml.h"
#include "visible.h"

namespace attend_ggml {

using attend_adapter::Memory;
using attend_adapter::Parallel;

// What computing a graph needs: threads, memory that is kept from operation to operation, and what is known of masks already.
struct Work {
  Parallel parallel;
  Memory shared;                // of an operation
  Memory keys, values, biases;  // of attention
  std::vector<Memory> threads;  // one for each thread
  VisibleCells visible;
};

// Whether a node is one that `compute` takes, whatever its tensors hold. They have no data yet.
using Takes = bool (*)(const Tensor& node);
// False where there is no memory, or an index is none.
using Compute = bool (*)(const Tensor& node, Work& work);

struct Operation {
  Takes takes;
  Compute compute;
};

// By kind. Names as ggml writes them; the tables end with a null.
struct NamedOperation {
  const char* name;
  Operation operation;
};
extern const NamedOperation product_operations[], attention_operations[], row_operations[], function_operations[],
    rotary_operations[], copy_operations[];

// The operation of a node; null where it is not one of the adapter's, or not in a form that it takes.
const Operation* operation_of(const Tensor& node);
// Nodes of which there is nothing to compute: views, and what has no elements.
bool is_view(const Tensor& node);
inline bool is_empty(const Tensor& node) {
  for (const std::int64_t extent : node.extents) {
    if (extent == 0) return true;
  }
  return false;
}

// ---- What operations share ----

inline float parameter(const Tensor& node, int index) {
  float number;
  std::memcpy(&number, &node.parameters[index], sizeof number);
  return number;
}

// How many there are of what is one after another: true of tensors whose extents are within what a call counts.
inline bool has_extents(const Tensor* tensor) {
  if (tensor == nullptr) return false;
  std::int64_t numbers = 1;
  for (const std::int64_t extent : tensor->extents) {
    if (extent < 1 || extent > 0x20000000 || numbers > (std::int64_t(1) << 46) / extent) return false;
    numbers *= extent;
  }
  return true;
}

inline std::int64_t count_rows(const Tensor& tensor) { return tensor.extents[1] * tensor.extents[2] * tensor.extents[3]; }
inline std::int64_t count_numbers(const Tensor& tensor) { return tensor.extents[0] * count_rows(tensor); }

// Of numbers that are not in blocks: bytes of one; of others 0.
inline std::size_t bytes_of_type(int type) {
  switch (type) {
    case type_float32:
    case type_int32:
      return 4;
    case type_float16:
    case type_bfloat16:
      return 2;
    case type_int64:
      return 8;
    default:
      return 0;
  }
}

// Tensors of a type whose rows lie side by side, at addresses that are multiples of a number's size.
inline bool has_rows_of(const Tensor* tensor, int type) {
  const std::size_t bytes = bytes_of_type(type);
  if (!has_extents(tensor) || tensor->type != type || bytes == 0 || tensor->strides[0] != bytes) return false;
  for (const std::size_t stride : tensor->strides) {
    if (stride % bytes != 0 || stride > std::size_t(1) << 46) return false;
  }
  return true;
}
inline bool has_float_rows(const Tensor* tensor) { return has_rows_of(tensor, type_float32); }

inline bool same_extents(const Tensor& a, const Tensor& b) { return std::memcmp(a.extents, b.extents, sizeof a.extents) == 0; }

inline bool is_dense(const Tensor& tensor) {
  std::size_t stride = bytes_of_type(tensor.type);
  for (int axis = 0; axis < 4; ++axis) {
    if (tensor.strides[axis] != stride) return false;
    stride *= std::size_t(tensor.extents[axis]);
  }
  return true;
}

// Where a row is, by its number on each axis.
using Place = std::array<std::int64_t, 3>;
inline char* at(const Tensor& tensor, const Place& place) {
  return static_cast<char*>(tensor.data) + std::size_t(place[0]) * tensor.strides[1] +
         std::size_t(place[1]) * tensor.strides[2] + std::size_t(place[2]) * tensor.strides[3];
}
inline float* floats_at(const Tensor& tensor, const Place& place) {
  return static_cast<float*>(static_cast<void*>(at(tensor, place)));
}

// The same place of a tensor that is repeated along axes.
inline Place repeated(const Tensor& tensor, const Place& place) {
  return {place[0] % tensor.extents[1], place[1] % tensor.extents[2], place[2] % tensor.extents[3]};
}

inline Place place_of(const Tensor& tensor, std::int64_t row) {
  const std::int64_t second = row / tensor.extents[1];
  return {row % tensor.extents[1], second % tensor.extents[2], second / tensor.extents[2]};
}

// work(row's place, thread) for each row of a tensor, on all threads.
template <class Function>
void each_row(const Tensor& tensor, const Parallel& parallel, const Function& function) {
  const std::int64_t rows = count_rows(tensor);
  const std::int64_t numbers = count_numbers(tensor);
  const int parts = numbers < 4096 || rows == 1 ? 1 : int(rows < parallel.threads ? rows : parallel.threads);
  parallel.each(parts, [&](int part) {
    for (std::int64_t row = rows * part / parts, end = rows * (part + 1) / parts; row < end; ++row)
      function(place_of(tensor, row), part);
  });
}

}  // namespace attend_ggml
