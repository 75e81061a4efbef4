// Checks that calls of attend_problem and of attend_integer_problem have in common. Fields have the same names in both.
#pragma once

#include "check.h"

namespace attend {
namespace c_surface {

// 1 / sqrt(head_dim), the same as default_scale, which is meant for constants.
float usual_scale(int head_dim);

// Work memory of `size` bytes, of which a call uses `needed`.
Range check_workspace(Check& check, const void* workspace, size_t size, size_t needed);

struct Parts {
  ptrdiff_t part, parts;
};
void check_parts(Check& check, const Parts& parts, ptrdiff_t queries, ptrdiff_t keys);

void check_key_lengths(Check& check, Memory& memory, const ptrdiff_t* lengths, ptrdiff_t batch, ptrdiff_t longest);

// Heads, of which query_heads was checked.
template <class Problem>
void check_heads(Check& check, const Problem& problem, ptrdiff_t widest_head) {
  check.within(problem.kv_heads, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_KV_HEADS);
  check.within(problem.head_dim, 1, widest_head, ATTEND_ARG_HEAD_DIM);
  if (check.failed()) return;
  const unsigned query_heads = unsigned(problem.query_heads),
                 kv_heads = unsigned(problem.kv_heads);  // short division is faster
  const unsigned group = query_heads / kv_heads;
  check.require(group * kv_heads == query_heads, ATTEND_MISMATCH, ATTEND_ARG_KV_HEADS);
  const bool fits = uint64_t(problem.queries) * group <= ATTEND_MAX_ROWS;
  check.require(fits, ATTEND_TOO_LARGE, ATTEND_ARG_QUERIES);
}

// The position of the queries: set in one way where it matters or clear without, and not set where it does not.
template <class Problem>
void check_offset(Check& check, const Problem& problem, bool matters, bool clear) {
  const bool given = problem.offset != ATTEND_DEFAULT_OFFSET, last = (problem.options & ATTEND_QUERIES_LAST) != 0;
  check.require(matters || !given, ATTEND_NO_EFFECT, ATTEND_ARG_OFFSET);
  check.require(matters || !last, ATTEND_NO_EFFECT, ATTEND_ARG_OPTIONS);
  check.require(!given || !last, ATTEND_CONFLICT, ATTEND_ARG_OFFSET);
  if (given) check.within(problem.offset, -ATTEND_MAX_TOKENS, ATTEND_MAX_TOKENS, ATTEND_ARG_OFFSET);
  check.require(!matters || given || last || clear, ATTEND_AMBIGUOUS, ATTEND_ARG_OFFSET);
}

template <class Problem, class Options>
void check_windows(Check& check, const Problem& problem, Options& options) {
  check.within(problem.window_left, ATTEND_NO_LIMIT, PTRDIFF_MAX, ATTEND_ARG_WINDOW_LEFT);
  check.within(problem.window_right, ATTEND_NO_LIMIT, PTRDIFF_MAX, ATTEND_ARG_WINDOW_RIGHT);
  check.within(problem.sink_tokens, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_SINK_TOKENS);
  const bool windowed = problem.window_left != ATTEND_NO_LIMIT;
  check.require(windowed || problem.sink_tokens == 0, ATTEND_NO_EFFECT, ATTEND_ARG_SINK_TOKENS);
  // No position is so large that a wider window would show more.
  constexpr ptrdiff_t widest = 2 * ptrdiff_t(ATTEND_MAX_TOKENS);
  options.left = int(problem.window_left < widest ? problem.window_left : widest);
  options.right = int(problem.window_right < widest ? problem.window_right : widest);
  options.sink_tokens = int(problem.sink_tokens);
}

// An attend_mask, attend_bias or attend_scores of a problem of so many rows, query heads and queries. Columns that are not
// given are the problem's keys, the width, which with states are not known: it is negative then.
template <class Matrix>
bool is_default_matrix(const Matrix& matrix) {
  return matrix.batch_stride == ATTEND_DENSE && matrix.head_stride == ATTEND_DENSE && matrix.query_stride == ATTEND_DENSE &&
         matrix.keys == ATTEND_ALL_KEYS;
}
template <class Matrix>
Extent matrix_extent(Check& check, const Matrix& matrix, Extent::Counts counts, ptrdiff_t least, attend_argument keys) {
  const bool all = matrix.keys == ATTEND_ALL_KEYS;
  check.require(!all || counts.width >= 0, ATTEND_AMBIGUOUS, keys);
  if (!all) counts.width = matrix.keys;
  check.within(counts.width, least, ATTEND_MAX_TOKENS, keys);
  return extent_of(counts, {matrix.batch_stride, matrix.query_stride, matrix.head_stride}, Axes::matrix);
}

inline core::Mask core_mask(const void* data, const Extent& extent) {
  return {data, 0, extent.strides.token, extent.strides.head, int(extent.counts.width)};
}

// For a problem of such counts; returns the step from one batch row to the next, in elements.
template <class Options>
ptrdiff_t check_mask(Check& check, Memory& memory, const attend_mask& mask, const Extent::Counts& counts, Options& options) {
  const bool bits = mask.kind == ATTEND_MASK_BITS, none = mask.kind == ATTEND_MASK_NONE;
  if (mask.data == nullptr) {
    check.require(none, ATTEND_MISSING, ATTEND_ARG_MASK);
    check.require(is_default_matrix(mask), ATTEND_NO_EFFECT, ATTEND_ARG_MASK);
    return 0;
  }
  check.require(!none, ATTEND_AMBIGUOUS, ATTEND_ARG_MASK_KIND);
  check.require(bits || none || mask.kind == ATTEND_MASK_BYTES, ATTEND_UNKNOWN, ATTEND_ARG_MASK_KIND);
  const Extent extent = matrix_extent(check, mask, counts, 0, ATTEND_ARG_MASK_KEYS);
  const auto& [batch, token, head] = extent.strides;
  check.require(!bits || (batch >= 0 && token >= 0 && head >= 0), ATTEND_OUT_OF_RANGE, ATTEND_ARG_MASK);
  memory.read(check, check.place(mask.data, extent, bits ? 1 : 8, ATTEND_ARG_MASK).range);
  options.visible = core_mask(mask.data, extent);
  options.visible_bits = bits;
  return batch;
}

// Calls with each batch row of a part, and which part of the row: whole rows as long as they are alike and every part gets one;
// the others are cut.
template <class Call, class Row>
void each_row(const Call& call, const Parts& cut, Row run) {
  if (call.first.queries == 0) return;
  const int part = int(cut.part), parts = int(cut.parts);
  const ptrdiff_t whole = call.key_lengths == nullptr ? call.batch - call.batch % parts : 0;
  for (ptrdiff_t row = part; row < whole; row += parts) run(row, 0, 1);
  for (ptrdiff_t row = whole; row < call.batch; ++row) run(row, part, parts);
}

// Goes on by so many bytes.
template <class Data>
void move(Data*& data, ptrdiff_t bytes) {
  data = reinterpret_cast<Data*>(reinterpret_cast<uintptr_t>(data) + uintptr_t(bytes));
}

}  // namespace c_surface
}  // namespace attend
