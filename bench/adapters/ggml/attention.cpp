// Attention: FLASH_ATTN_EXT.
//
//   sources: queries [batch][head][token][dim], keys and values [batch][kv head][cell][dim], mask [batch][head][token][cell] or
//   none, a logit for each head that joins the denominator or none; the node is [batch][token][head][dim]
//
// Each group of queries (visible.h) is a problem of the library over the cells that they see: where these lie side by side they
// are read in place, otherwise they are gathered. Caches of Q8_0 and Q4_0 are widened.
#include <attend/attend_c.h>

#include "../common/attention.h"
#include "alibi.h"
#include "operations.h"
#include "widen.h"

namespace attend_ggml {
namespace {

// Parameters of the node.
enum { scale_index = 0, largest_bias_index = 1, soft_cap_index = 2, known_parameters = 4 };

bool is_cache_type(int type) {
  return type == type_float32 || type == type_float16 || type == type_bfloat16 || type == type_q8_0 || type == type_q4_0;
}

bool has_cache(const Tensor* tensor) {
  if (!has_extents(tensor) || !is_cache_type(tensor->type)) return false;
  const std::size_t number = bytes_of_type(tensor->type);
  if (number != 0) return has_rows_of(tensor, tensor->type);
  return row_bytes(tensor->type, tensor->extents[0]) != 0 && tensor->strides[0] == row_bytes(tensor->type, 32) &&
         tensor->strides[1] % 2 == 0 && tensor->strides[2] % 2 == 0 && tensor->strides[3] % 2 == 0;
}

attend_problem problem_of(const Tensor& node);

bool takes_attention(const Tensor& node) {
  const Tensor *const q = node.sources[0], *const k = node.sources[1], *const v = node.sources[2],
                      *const mask = node.sources[3];
  const Tensor* const sinks = node.sources[4];
  if (!has_float_rows(q) || !has_cache(k) || !has_cache(v) || !has_float_rows(&node) || !is_dense(node)) return false;
  for (int i = known_parameters; i < 16; ++i) {
    if (node.parameters[i] != 0) return false;
  }
  if (q->extents[0] != k->extents[0] || k->extents[1] != v->extents[1] || k->extents[2] != v->extents[2] ||
      k->extents[3] != v->extents[3] || q->extents[2] % k->extents[2] != 0 || q->extents[3] % k->extents[3] != 0) {
    return false;
  }
  if (node.extents[0] != v->extents[0] || node.extents[1] != q->extents[2] || node.extents[2] != q->extents[1] ||
      node.extents[3] != q->extents[3]) {
    return false;
  }
  if (mask != nullptr &&
      (!has_rows_of(mask, type_float16) || mask->extents[0] < k->extents[1] || mask->extents[1] < q->extents[1] ||
       q->extents[2] % mask->extents[2] != 0 || q->extents[3] % mask->extents[3] != 0)) {
    return false;
  }
  if (sinks != nullptr &&
      (!has_float_rows(sinks) || count_numbers(*sinks) != q->extents[2] || sinks->extents[0] != q->extents[2]))
    return false;
  const float bias = parameter(node, largest_bias_index);
  if (!(bias >= 0 && bias <= 1024) || (bias > 0 && mask == nullptr)) return false;
  attend_problem problem = problem_of(node);
  problem.queries = q->extents[1];
  problem.keys = k->extents[1];
  return attend_check(&problem) == ATTEND_OK;
}

int format_of(int type) {
  return type == type_float16 ? ATTEND_FLOAT16 : type == type_bfloat16 ? ATTEND_BFLOAT16 : ATTEND_FLOAT32;
}

std::ptrdiff_t in_numbers(std::size_t bytes, int type) { return std::ptrdiff_t(bytes / bytes_of_type(type)); }

// Addresses of tensors that are in no memory yet, far from each other: a check of a problem reads none of them.
void* address(int tensor) { return reinterpret_cast<void*>(std::uintptr_t(tensor + 1) << 44); }

// All that the problems of a node have in common. Tensors have no memory yet.
attend_problem problem_of(const Tensor& node) {
  const Tensor &q = *node.sources[0], &k = *node.sources[1], &v = *node.sources[2];
  attend_problem problem;
  attend_problem_init(&problem, sizeof problem);
  problem.query_heads = q.extents[2];
  problem.kv_heads = k.extents[2];
  problem.head_dim = q.extents[0];
  problem.value_dim = v.extents[0];
  problem.scale = parameter(node, scale_index);
  const float cap = parameter(node, soft_cap_index);
  if (cap != 0) problem.soft_cap = cap;
  if (format_of(k.type) != ATTEND_FLOAT32 || format_of(v.type) != ATTEND_FLOAT32) {
    problem.key_format = format_of(k.type);
    problem.value_format = format_of(v.type);
  }
  problem.query = {address(0), 0, in_numbers(q.strides[1], q.type), in_numbers(q.strides[2], q.type)};
  problem.output = {address(3), 0, in_numbers(node.strides[2], node.type), in_numbers(node.strides[1], node.type)};
  // Strides of caches in blocks are those of the widened ones.
  problem.key = {address(1), 0, k.extents[2] * k.extents[0], k.extents[0]};
  problem.value = {address(2), 0, v.extents[2] * v.extents[0], v.extents[0]};
  if (node.sources[4] != nullptr) problem.sink_logits = static_cast<const float*>(node.sources[4]->data);
  return problem;
}

// Where the keys or values of a group lie.
struct Cells {
  const void* data;
  std::ptrdiff_t token_stride, head_stride;  // in numbers
};

// The cells of a group's list, for all heads: in place, or gathered and widened.
bool cells_of(const Tensor& cache, std::int64_t batch, const QueryGroup& group, const Work& work, Memory& memory,
              Cells& cells) {
  const bool widens = bytes_of_type(cache.type) == 0;
  if (group.runs.size() <= 1 && !widens) {
    const std::int64_t first = group.runs.empty() ? 0 : group.runs[0].first;
    cells = {at(cache, {first, 0, batch}), in_numbers(cache.strides[1], cache.type), in_numbers(cache.strides[2], cache.type)};
    return true;
  }
  const std::int64_t heads = cache.extents[2], width = cache.extents[0];
  const std::size_t row = widens ? std::size_t(width) * sizeof(float) : row_bytes(cache.type, width);
  char* const to = static_cast<char*>(memory.bytes(std::size_t(group.cells() * heads) * row));
  if (to == nullptr) return false;
  const int parts = work.parallel.threads;
  work.parallel.each(parts, [&](int part) {
    std::int64_t index = 0;
    for (const Run& run : group.runs) {
      for (std::int64_t cell = run.first; cell < run.end; ++cell, ++index) {
        if (index / 16 % parts != part) continue;
        for (std::int64_t h = 0; h < heads; ++h) {
          const void* const from = at(cache, {cell, h, batch});
          char* const place = to + std::size_t(index * heads + h) * row;
          if (widens) {
            widen_row(cache.type, from, width, static_cast<float*>(static_cast<void*>(place)));
          } else {
            std::memcpy(place, from, row);
          }
        }
      }
    }
  });
  cells = {to, std::ptrdiff_t(heads * width), std::ptrdiff_t(width)};
  return true;
}

// Rows of a group, from `first` on.
struct Rows {
  std::int64_t batch, first_head;
  std::size_t first, count;
};

// The numbers of the mask as biases, [head or 1][row][cell of the list].
bool biases_of(const Tensor& node, const QueryGroup& group, const Rows& rows, std::int64_t cells, Work& work,
               attend_problem& problem) {
  const Tensor& mask = *node.sources[3];
  const float largest = parameter(node, largest_bias_index);
  const std::int64_t heads = largest == 0 ? 1 : problem.query_heads, all_heads = node.sources[0]->extents[2];
  float* const biases = work.biases.numbers<float>(std::size_t(heads * cells) * rows.count);
  if (biases == nullptr) return false;
  work.parallel.each(int(rows.count), [&](int row) {
    float* const first = biases + std::ptrdiff_t(row) * cells;
    float* to = first;
    const char* const from =
        at(mask, repeated(mask, {group.row + std::int64_t(rows.first) + row, rows.first_head, rows.batch}));
    for (const Run& run : group.runs) {
      widen_row(type_float16, from + run.first * 2, run.end - run.first, to);
      to += run.end - run.first;
    }
    for (std::int64_t h = heads - 1; h >= 0; --h) {  // the first is scaled in place, last
      const float slope = slope_of(largest, all_heads, rows.first_head + h);
      float* const scaled = first + h * std::int64_t(rows.count) * cells;
      for (std::int64_t i = 0; i < cells; ++i) scaled[i] = first[i] * slope;
    }
  });
  problem.bias = {biases, 0, heads == 1 ? 0 : std::ptrdiff_t(rows.count) * cells, std::ptrdiff_t(cells), std::ptrdiff_t(cells)};
  return true;
}

// How many cells each row sees, said in the shortest way.
void set_counts(const QueryGroup& group, const Rows& rows, std::vector<std::int32_t>& ends, attend_problem& problem) {
  const std::int32_t* const counts = group.counts.data() + rows.first;
  bool same = true, ascends = true;
  std::int32_t most = 0;
  for (std::size_t i = 0; i < rows.count; ++i) {
    same &= counts[i] == counts[0];
    ascends &= std::int64_t(counts[i]) == std::int64_t(counts[0]) + std::int64_t(i);
    if (counts[i] > most) most = counts[i];
  }
  problem.keys = most;
  if (same) return;
  if (ascends) {
    problem.options = ATTEND_CAUSAL;
    problem.offset = counts[0] - 1;
    return;
  }
  ends.assign(counts, counts + rows.count);
  problem.ranges.end = ends.data();
}

bool compute_rows(const Tensor& node, const QueryGroup& group, const Rows& rows, Work& work, attend_problem problem) {
  const Tensor& q = *node.sources[0];
  const std::int64_t row = group.row + std::int64_t(rows.first);
  problem.queries = std::ptrdiff_t(rows.count);
  problem.query.data = at(q, {row, rows.first_head, rows.batch});
  problem.output.data = at(node, {rows.first_head, row, rows.batch});
  std::vector<std::int32_t> ends;
  set_counts(group, rows, ends, problem);
  const std::int64_t cells = group.cells();
  if (group.adds && cells > 0 && !biases_of(node, group, rows, cells, work, problem)) return false;
  return attend_adapter::run_attention(problem, work.parallel, work.shared) == ATTEND_OK;
}

// Rows whose biases are made at a time.
constexpr std::size_t bias_rows = 64;

bool compute_group(const Tensor& node, const QueryGroup& group, std::int64_t batch, std::int64_t first_head, std::int64_t heads,
                   Work& work) {
  const Tensor &q = *node.sources[0], &k = *node.sources[1], &v = *node.sources[2];
  const std::int64_t kv_batch = batch / (q.extents[3] / k.extents[3]), shared = q.extents[2] / k.extents[2];
  attend_problem problem = problem_of(node);
  Cells keys, values;
  if (!cells_of(k, kv_batch, group, work, work.keys, keys) || !cells_of(v, kv_batch, group, work, work.values, values))
    return false;
  const auto from_head = [&](const Cells& cells, int format) {
    const std::size_t number = format == ATTEND_FLOAT32 ? 4 : 2;
    return static_cast<const char*>(cells.data) + std::size_t(first_head / shared * cells.head_stride) * number;
  };
  problem.key = {from_head(keys, format_of(k.type)), 0, keys.token_stride, keys.head_stride};
  problem.value = {from_head(values, format_of(v.type)), 0, values.token_stride, values.head_stride};
  problem.query_heads = heads;
  problem.kv_heads = heads == q.extents[2] ? k.extents[2] : 1;
  if (problem.sink_logits != nullptr) problem.sink_logits += first_head;
  const std::size_t all = group.counts.size(), at_once = group.adds ? bias_rows : all;
  for (std::size_t first = 0; first < all; first += at_once) {
    const std::size_t count = all - first < at_once ? all - first : at_once;
    if (!compute_rows(node, group, {batch, first_head, first, count}, work, problem)) return false;
  }
  return true;
}

bool compute_attention(const Tensor& node, Work& work) {
  const Tensor &q = *node.sources[0], &k = *node.sources[1];
  const Tensor* const mask = node.sources[3];
  const bool by_head = mask != nullptr && mask->extents[2] > 1;  // heads that see other cells
  const std::int64_t heads = q.extents[2], problems = by_head ? heads : 1;
  for (std::int64_t batch = 0; batch < q.extents[3]; ++batch) {
    for (std::int64_t head = 0; head < problems; ++head) {
      const std::vector<QueryGroup>& groups = work.visible.of(mask, head, batch, q.extents[1], k.extents[1]);
      for (const QueryGroup& group : groups) {
        if (!compute_group(node, group, batch, head, heads / problems, work)) return false;
      }
    }
  }
  return true;
}

}  // namespace

const NamedOperation attention_operations[] = {{"FLASH_ATTN_EXT", {takes_attention, compute_attention}}, {nullptr, {}}};

}  // namespace attend_ggml
