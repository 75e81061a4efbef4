// Copies: of rows by their numbers (GET_ROWS, SET_ROWS, by which a cache is written), and of tensors in another order or
// format.
#include <atomic>

#include "operations.h"
#include "widen.h"

namespace attend_ggml {
namespace {

bool is_read_type(int type) { return is_narrow_type(type) || type == type_q4_0; }

// Rows whose numbers lie side by side, of a format with blocks too.
bool has_rows(const Tensor* tensor) {
  if (!has_extents(tensor) || !is_read_type(tensor->type)) return false;
  if (bytes_of_type(tensor->type) != 0) return has_rows_of(tensor, tensor->type);
  return row_bytes(tensor->type, tensor->extents[0]) != 0 && tensor->strides[0] == row_bytes(tensor->type, 32) &&
         tensor->strides[1] % 2 == 0 && tensor->strides[2] % 2 == 0 && tensor->strides[3] % 2 == 0;
}

bool is_index(const Tensor* tensor, bool wide) {
  if (!has_extents(tensor)) return false;
  return tensor->type == type_int32 || (wide && tensor->type == type_int64);
}
std::int64_t index_at(const Tensor& tensor, std::int64_t i, std::int64_t j, std::int64_t k) {
  const char* const from = static_cast<const char*>(tensor.data) + std::size_t(i) * tensor.strides[0] +
                           std::size_t(j) * tensor.strides[1] + std::size_t(k) * tensor.strides[2];
  if (tensor.type == type_int64) {
    std::int64_t index;
    std::memcpy(&index, from, sizeof index);
    return index;
  }
  std::int32_t index;
  std::memcpy(&index, from, sizeof index);
  return index;
}

// node[k][j][i] = rows[k][j][indices[k][j][i]]
bool takes_get_rows(const Tensor& node) {
  const Tensor *const rows = node.sources[0], *const indices = node.sources[1];
  if (!has_rows(rows) || !is_index(indices, false) || !has_float_rows(&node)) return false;
  return node.extents[0] == rows->extents[0] && node.extents[1] == indices->extents[0] &&
         node.extents[2] == indices->extents[1] && node.extents[3] == indices->extents[2] && indices->extents[3] == 1 &&
         rows->extents[2] == indices->extents[1] && rows->extents[3] == indices->extents[2];
}

bool compute_get_rows(const Tensor& node, Work& work) {
  const Tensor &rows = *node.sources[0], &indices = *node.sources[1];
  std::atomic<bool> found{true};
  each_row(node, work.parallel, [&](const Place& place, int) {
    const std::int64_t index = index_at(indices, place[0], place[1], place[2]);
    if (index < 0 || index >= rows.extents[1]) {
      found = false;
    } else {
      widen_row(rows.type, at(rows, {index, place[1], place[2]}), node.extents[0], floats_at(node, place));
    }
  });
  return found;
}

// node[k][j][indices[k][j][i]] = rows[k][j][i], where indices are repeated along j and k. The node is a view of what is
// written.
bool takes_set_rows(const Tensor& node) {
  const Tensor *const rows = node.sources[0], *const indices = node.sources[1];
  if (!has_float_rows(rows) || !is_index(indices, true) || !has_rows(&node) || !is_narrow_type(node.type)) return false;
  return node.extents[0] == rows->extents[0] && node.extents[2] == rows->extents[2] && node.extents[3] == rows->extents[3] &&
         indices->extents[0] == rows->extents[1] && rows->extents[2] % indices->extents[1] == 0 &&
         rows->extents[3] % indices->extents[2] == 0;
}

bool compute_set_rows(const Tensor& node, Work& work) {
  const Tensor &rows = *node.sources[0], &indices = *node.sources[1];
  std::atomic<bool> found{true};
  each_row(rows, work.parallel, [&](const Place& place, int) {
    const std::int64_t index = index_at(indices, place[0], place[1] % indices.extents[1], place[2] % indices.extents[2]);
    if (index < 0 || index >= node.extents[1]) {
      found = false;
    } else {
      narrow_row(node.type, floats_at(rows, place), node.extents[0], at(node, {index, place[1], place[2]}));
    }
  });
  return found;
}

// ---- Copies of tensors ----

bool is_number_type(int type) { return type == type_float32 || type == type_float16 || type == type_bfloat16; }

bool is_number_tensor(const Tensor* tensor) {
  if (!has_extents(tensor) || !is_number_type(tensor->type)) return false;
  for (const std::size_t stride : tensor->strides) {
    if (stride % bytes_of_type(tensor->type) != 0 || stride > std::size_t(1) << 46) return false;
  }
  return true;
}

bool takes_copy(const Tensor& node) {
  const Tensor* const from = node.sources[0];
  return is_number_tensor(from) && is_number_tensor(&node) && count_numbers(node) == count_numbers(*from);
}

float read(int type, const char* from) {
  if (type == type_float32) {
    float number;
    std::memcpy(&number, from, sizeof number);
    return number;
  }
  std::uint16_t half;
  std::memcpy(&half, from, sizeof half);
  return type == type_float16 ? widened_half(half) : widened_bfloat(half);
}

// Number by number, counted in the order of either tensor.
void copy_number(const Tensor& node, const Tensor& from, std::int64_t number) {
  const auto place = [&](const Tensor& tensor) {
    const std::int64_t row = number / tensor.extents[0];
    return at(tensor, place_of(tensor, row)) + std::size_t(number % tensor.extents[0]) * tensor.strides[0];
  };
  const char* const source = place(from);
  char* const to = place(node);
  if (from.type == node.type) {
    std::memcpy(to, source, bytes_of_type(node.type));
    return;
  }
  const float value = read(from.type, source);
  narrow_row(node.type, &value, 1, to);
}

// Rows of the same extents, of which one at most is not dense.
void copy_row(const Tensor& node, const Tensor& from, const Place& place) {
  const std::int64_t count = node.extents[0];
  const char* source = at(from, place);
  char* const to = at(node, place);
  if (from.type == node.type && from.strides[0] == bytes_of_type(from.type)) {
    std::memcpy(to, source, std::size_t(count) * bytes_of_type(from.type));
    return;
  }
  constexpr std::int64_t block = 256;
  float floats[block];
  for (std::int64_t first = 0; first < count; first += block) {
    const std::int64_t some = count - first < block ? count - first : block;
    if (from.strides[0] == bytes_of_type(from.type)) {
      widen_row(from.type, source, some, floats);
    } else {
      for (std::int64_t i = 0; i < some; ++i) floats[i] = read(from.type, source + std::size_t(i) * from.strides[0]);
    }
    narrow_row(node.type, floats, some, to + std::size_t(first) * bytes_of_type(node.type));
    source += std::size_t(some) * from.strides[0];
  }
}

bool compute_copy(const Tensor& node, Work& work) {
  const Tensor& from = *node.sources[0];
  if (same_extents(node, from) && node.strides[0] == bytes_of_type(node.type)) {
    each_row(node, work.parallel, [&](const Place& place, int) { copy_row(node, from, place); });
    return true;
  }
  const std::int64_t numbers = count_numbers(node);
  const int parts = work.parallel.threads;
  work.parallel.each(parts, [&](int part) {
    for (std::int64_t i = numbers * part / parts, end = numbers * (part + 1) / parts; i < end; ++i) copy_number(node, from, i);
  });
  return true;
}

}  // namespace

const NamedOperation copy_operations[] = {
    {"GET_ROWS", {takes_get_rows, compute_get_rows}},
    {"SET_ROWS", {takes_set_rows, compute_set_rows}},
    {"CPY", {takes_copy, compute_copy}},
    {"CONT", {takes_copy, compute_copy}},
    {"DUP", {takes_copy, compute_copy}},
    {nullptr, {}},
};

}  // namespace attend_ggml
