// A call of an attend_problem, and what is checked of it in floats and in integers.
#pragma once

#include "../../include/attend/core/integer.h"
#include "../../include/attend/core/rules.h"
#include "check.h"

namespace attend::c_surface {

// Goes on by so many bytes.
template <class Data>
void move(Data*& data, ptrdiff_t bytes) {
  data = reinterpret_cast<Data*>(reinterpret_cast<uintptr_t>(data) + uintptr_t(bytes));
}

// A call that was checked, but for options.
struct Call : Memory {
  const attend_arithmetic* arithmetic = nullptr;
  core::Problem first = {};  // batch row 0, with all keys and without key lengths; no scratch. Its tensors point to any numbers
  ptrdiff_t batch;
  ptrdiff_t stored;  // key tokens that lie in arrays or in the pool of pages
  int query_bits = float_bits, key_bits = float_bits, value_bits = float_bits, output_bits = float_bits;
  ptrdiff_t query_step = 0, key_step = 0, value_step = 0, output_step = 0;  // from one batch row to the next, in bytes
  const ptrdiff_t* key_lengths = nullptr;
  core::Format output_format = core::Format::float32;
  // Of a call in integers: options that its constants have, which are in work memory from scale_bytes on.
  int query_zero = 0;
  float float_scale = 1;
  size_t scale_bytes = 0;

  int state_nodes;  // that each row of states has room for
  size_t workspace_bytes;
  bool plain;  // nothing is asked for that core::Floats::run does not have without options
  bool queries_last;
  bool runs_later = false;    // work memory is asked for: the cache may still be empty
  bool one_sequence = false;  // batch is 1, and need not be set
  bool in_layer = false;      // a layer places query, key, value and output itself, and runs some tokens at a time
  bool appends = false;       // and appends to the cache before it attends, so many tokens
  int appended = 0;

  [[gnu::always_inline]] Call() {}  // otherwise a function of its own at -Os, whose stack nobody states

  // Keys that a batch row has.
  ptrdiff_t keys_of_row(ptrdiff_t row) const {
    return key_lengths != nullptr && key_lengths[row] < first.keys ? key_lengths[row] : first.keys;
  }
  // A batch row, with the keys that it has; then one of a call with options, whose queries may be the last.
  core::Problem problem_of_row(ptrdiff_t row) const {
    core::Problem row_problem = first;
    move(row_problem.query.data, row * query_step);
    move(row_problem.output.data, row * output_step);
    move(row_problem.key.data, row * key_step);
    move(row_problem.value.data, row * value_step);
    row_problem.keys = int(keys_of_row(row));
    return row_problem;
  }
  core::Problem option_problem_of_row(ptrdiff_t row) const {
    core::Problem row_problem = problem_of_row(row);
    if (queries_last) row_problem.offset = row_problem.keys - row_problem.queries;
    return row_problem;
  }
};

// Its options.
struct CallOptions {
  core::Options first = {};  // of batch row 0
  core::Ranges ranges = {};
  // From one batch row to the next, in bytes; of masks and biases in elements.
  ptrdiff_t key_scale_step = 0, value_scale_step = 0, page_step = 0, lse_step = 0, score_step = 0, state_step = 0;
  ptrdiff_t range_step = 0;
  ptrdiff_t mask_step = 0, bias_step = 0;
};

using core::usual_scale;

struct Parts {
  ptrdiff_t part, parts;
};

// The most keys that a call can come to have, in a cache or without.
struct MostKeys {
  int keys;
  const attend_cache* cache;
  bool into_states;
};
void check_parts(Check& check, const Parts& parts, ptrdiff_t queries, ptrdiff_t keys);

// Work memory of `size` bytes, of which a call uses `needed`.
inline void check_workspace(Memory& check, const void* workspace, size_t size, size_t needed) {
  check.write(check.memory(workspace, size, needed, ATTEND_ARG_WORKSPACE), ATTEND_ARG_WORKSPACE);
}

void check_key_lengths(Memory& check, const ptrdiff_t* lengths, ptrdiff_t batch, ptrdiff_t longest);

// Whether anything is set that speaks of batch rows.
inline bool has_rows(const attend_problem& problem) {
  return problem.key_lengths != nullptr || steps_by_rows(problem.query) || steps_by_rows(problem.key) ||
         steps_by_rows(problem.value) || steps_by_rows(problem.output) || is_given_by_rows(problem.mask) ||
         is_given_by_rows(problem.key_scales) || is_given_by_rows(problem.value_scales);
}

// The number of batch rows, which must be set where the rest of the problem speaks of them.
inline ptrdiff_t check_batch(Check& check, ptrdiff_t given, bool has_rows) {
  const bool is_set = given != ATTEND_DEFAULT_BATCH;
  const ptrdiff_t batch = is_set ? given : 1;
  check.within(batch, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_BATCH);
  check.require(is_set || !has_rows, ATTEND_AMBIGUOUS, ATTEND_ARG_BATCH);
  return batch;
}

// The extents of outputs, of which queries were checked; then all heads.
inline void check_widths(Check& check, const attend_problem& problem, core::Problem& first) {
  check.within(problem.query_heads, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_QUERY_HEADS);
  check.within(problem.value_dim, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_VALUE_DIM);
  first.queries = int(problem.queries);
  first.query_heads = int(problem.query_heads);
  first.value_dim = int(problem.value_dim);
}
inline void check_heads(Check& check, const attend_problem& problem, ptrdiff_t widest_head, core::Problem& first) {
  check.within(problem.kv_heads, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_KV_HEADS);
  check.within(problem.head_dim, 1, widest_head, ATTEND_ARG_HEAD_DIM);
  if (check.failed()) return;
  first.kv_heads = int(problem.kv_heads);
  first.head_dim = int(problem.head_dim);
  const unsigned query_heads = unsigned(problem.query_heads), kv_heads = unsigned(problem.kv_heads);  // shorter to divide
  const unsigned group = query_heads / kv_heads;
  check.require(group * kv_heads == query_heads, ATTEND_MISMATCH, ATTEND_ARG_KV_HEADS);
  const bool fits = uint64_t(problem.queries) * group <= ATTEND_MAX_ROWS;
  check.require(fits, ATTEND_TOO_LARGE, ATTEND_ARG_QUERIES);
}

// Tensors of a problem; returns the step from one batch row to the next, in bytes.
struct Tensors {
  ptrdiff_t read(const attend_input& input, const Extent::Counts& counts, int bits, attend_argument argument,
                 core::Tensor<const void>& tensor) const {
    const Extent extent = extent_of(counts, input, axes);
    tensor = core_tensor<const void>(input.data, extent);
    return check.read(input.data, extent, bits, argument);
  }
  template <class Number>
  ptrdiff_t write(const attend_output& output, const Extent::Counts& counts, int bits, attend_argument argument,
                  core::Tensor<Number>& tensor) const {
    const Extent extent = extent_of(counts, output, axes);
    tensor = core_tensor<Number>(output.data, extent);
    return check.write(output.data, extent, bits, argument);
  }
  // Of single tokens of keys or values.
  ptrdiff_t read_scales(const attend_scales& scales, const Extent::Counts& counts, int bits, attend_argument argument,
                        const void*& data, ptrdiff_t& head_stride) const {
    const Extent extent = extent_of(counts, {scales.batch_stride, 0, scales.head_stride}, Axes::matrix);
    data = scales.data;
    head_stride = extent.strides.head;
    return check.read(scales.data, extent, bits, argument);
  }
  Memory& check;
  Axes axes;
};

// The position of the queries: set in one way where it matters or clear without, and not set where it does not.
inline void check_offset(Check& check, const attend_problem& problem, bool matters, bool clear) {
  const bool given = problem.offset != ATTEND_DEFAULT_OFFSET, last = (problem.options & ATTEND_QUERIES_LAST) != 0;
  check.require(matters || !given, ATTEND_NO_EFFECT, ATTEND_ARG_OFFSET);
  check.require(matters || !last, ATTEND_NO_EFFECT, ATTEND_ARG_OPTIONS);
  check.require(!given || !last, ATTEND_CONFLICT, ATTEND_ARG_OFFSET);
  if (given) check.within(problem.offset, -ATTEND_MAX_TOKENS, ATTEND_MAX_TOKENS, ATTEND_ARG_OFFSET);
  check.require(!matters || given || last || clear, ATTEND_AMBIGUOUS, ATTEND_ARG_OFFSET);
}

inline void check_windows(Check& check, const attend_problem& problem, core::Options& options) {
  check.within(problem.window_left, ATTEND_NO_LIMIT, PTRDIFF_MAX, ATTEND_ARG_WINDOW_LEFT);
  check.within(problem.window_right, ATTEND_NO_LIMIT, PTRDIFF_MAX, ATTEND_ARG_WINDOW_RIGHT);
  check.within(problem.sink_tokens, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_SINK_TOKENS);
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
Extent matrix_extent(Check& check, const Matrix& matrix, Extent::Counts counts, ptrdiff_t least, attend_argument argument) {
  const bool all = matrix.keys == ATTEND_ALL_KEYS;
  check.require(!all || counts.width >= 0, ATTEND_AMBIGUOUS, argument);
  if (!all) counts.width = matrix.keys;
  check.within(counts.width, least, ATTEND_MAX_TOKENS, argument);
  return extent_of(counts, {matrix.batch_stride, matrix.query_stride, matrix.head_stride}, Axes::matrix);
}

inline core::Mask core_mask(const void* data, const Extent& extent) {
  return {data, 0, extent.strides.token, extent.strides.head, int(extent.counts.width)};
}

// For a problem of such counts; returns the step from one batch row to the next, in elements.
inline ptrdiff_t check_mask(Memory& check, const attend_mask& mask, const Extent::Counts& counts, core::Options& options) {
  const bool bits = mask.kind == ATTEND_MASK_BITS, none = mask.kind == ATTEND_MASK_NONE;
  if (mask.data == nullptr) {
    check.require(none, ATTEND_MISSING, ATTEND_ARG_MASK);
    check.require(is_default_matrix(mask), ATTEND_NO_EFFECT, ATTEND_ARG_MASK);
    return 0;
  }
  check.require(bits || mask.kind == ATTEND_MASK_BYTES, ATTEND_UNKNOWN, ATTEND_ARG_MASK);
  const Extent extent = matrix_extent(check, mask, counts, 0, ATTEND_ARG_MASK);
  const auto& [batch, token, head] = extent.strides;
  check.require(!bits || (batch >= 0 && token >= 0 && head >= 0), ATTEND_OUT_OF_RANGE, ATTEND_ARG_MASK);
  check.read(mask.data, extent, bits ? 1 : 8, ATTEND_ARG_MASK);
  options.mask = core_mask(mask.data, extent);
  options.mask_bits = bits;
  return batch;
}

inline bool has_lists(const core::RangedOptions& options) {
  const core::Ranges& ranges = options.ranges;
  return ranges.first != nullptr || ranges.end != nullptr || ranges.boundaries != nullptr;
}

// Calls with each batch row of a part, and which part of the row: whole rows as long as they are alike and every part gets one;
// the others are cut.
template <class Row>
void each_row(const Call& call, const Parts& cut, Row run) {
  if (call.first.queries == 0) return;
  const int part = int(cut.part), parts = int(cut.parts);
  const ptrdiff_t whole = call.key_lengths == nullptr ? call.batch - call.batch % parts : 0;
  for (ptrdiff_t row = part; row < whole; row += parts) run(row, 0, 1);
  for (ptrdiff_t row = whole; row < call.batch; ++row) run(row, part, parts);
}

// Runs a part of one row, without options or with them; and of all rows without.
template <class Arithmetic, class... ProblemAndOptions>
void run_row(const Parts& cut, const ProblemAndOptions&... row) {
  cut.parts == 1 ? Arithmetic::run(row...) : Arithmetic::run_part(row..., int(cut.part), int(cut.parts));
}
template <class Arithmetic>
void run_options_row(const Parts& cut, const core::Problem& row, const core::RangedOptions& options) {
  if (has_lists(options)) return run_row<Arithmetic>(cut, row, options);
  run_row<Arithmetic>(cut, row, static_cast<const core::Options&>(options));
}
template <class Arithmetic>
void run_rows(const Call& call, const Parts& cut) {
  each_row(call, cut, [&](ptrdiff_t row, int part, int parts) {
    run_row<Arithmetic>({part, parts}, call.problem_of_row(row));
  });
}
template <class Arithmetic>
void run_whole_rows(const Call& call, const Parts&) {
  each_row(call, {0, 1}, [&](ptrdiff_t row, int, int) { Arithmetic::run(call.problem_of_row(row)); });
}

}  // namespace attend::c_surface
