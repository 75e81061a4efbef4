// What the parts of the C surface (attend_c.h) know of each other. Functions between objects are C++, so that the C names are
// the public ones only.
#pragma once

#include "../../include/attend/core_options.h"  // first: it refuses compilers that will not do

#include <stdint.h>

#include "../../include/attend/attend_c.h"

// In memory: a head, then keys and values as core::Cache or core::TypedCache has them, and scales. No pointers, so that it can
// be moved.
struct attend_cache {
  uint32_t magic;  // says how keys and values lie, too
  int32_t kv_heads;
  int32_t head_dim;
  int32_t value_dim;
  int32_t max_tokens;
  int32_t key_format;
  int32_t value_format;
  int32_t ring_groups;  // 0: none
  int32_t pinned_groups;
  int32_t tokens;  // held
  int32_t most;    // that were held since it was empty
  uint32_t check;  // of the fields above
};

namespace attend {
namespace c_surface {

static_assert(ATTEND_ALIGNMENT % config::alignment == 0, "what the C header asks for must be enough");
static_assert(ATTEND_SEGMENT_KEYS == segment_keys, "the C header says where states can begin");
static_assert(int(core::Format::float32) == ATTEND_FLOAT32 && int(core::Format::float16) == ATTEND_FLOAT16 &&
                  int(core::Format::bfloat16) == ATTEND_BFLOAT16 && int(core::Format::int8) == ATTEND_INT8 &&
                  int(core::Scores::raw) == ATTEND_SCORES_RAW && int(core::Scores::capped) == ATTEND_SCORES_CAPPED &&
                  int(core::Scores::biased) == ATTEND_SCORES_BIASED && int(core::Scores::weights) == ATTEND_SCORES_WEIGHTS,
              "the numbers of the C header are the core's");
static_assert(sizeof(attend_cache) == 48 && alignof(attend_cache) <= config::alignment, "a cache's head has no padding");

// Bytes begin … end - 1 of the address space.
struct Range {
  uintptr_t begin;
  uintptr_t end;
};

constexpr bool overlap(Range a, Range b) { return a.begin < b.end && b.begin < a.end; }

template <size_t count>
bool overlap_any(Range a, const Range (&others)[count]) {
  for (const Range& other : others) {
    if (overlap(a, other)) return true;
  }
  return false;
}

struct Axis {
  ptrdiff_t count;
  ptrdiff_t stride;
};

// A tensor with `width` numbers side by side.
struct Extent {
  Axis batch;
  Axis token;
  Axis head;
  ptrdiff_t width;
};

// The extent of an attend_input or attend_output.
template <class Tensor>
Extent extent_of(const Tensor& tensor, ptrdiff_t batch, ptrdiff_t tokens, ptrdiff_t heads, ptrdiff_t width) {
  return {{batch, tensor.batch_stride}, {tokens, tensor.token_stride}, {heads, tensor.head_stride}, width};
}

// The stride of an axis, 0 where there is nowhere to step.
constexpr ptrdiff_t step(const Axis& axis) { return axis.count > 1 ? axis.stride : 0; }

// A tensor of the core; its data may be of another format.
template <class Float, class Data>
core::Tensor<Float> core_tensor(Data* data, const Extent& extent) {
  return {static_cast<Float*>(data), step(extent.token), step(extent.head)};
}

// Goes on by so many bytes.
template <class Data>
void move(Data*& data, ptrdiff_t bytes) {
  data = reinterpret_cast<Data*>(reinterpret_cast<uintptr_t>(data) + uintptr_t(bytes));
}

constexpr int float_bits = 8 * int(sizeof(float));
constexpr int format_bits(int format) { return 8 * int(core::format_bytes(core::Format(format))); }

// From the first to the last byte of a tensor of numbers of so many bits, if it can exist: else the status `none`, that after
// it (not aligned) or the next (huge). Numbers of 1 bit have no negative strides.
attend_status check_span(const void* data, const Extent& extent, int bits, attend_status none, Range& range);

// The same for something that may be absent; `unaligned` is the status of one that is not aligned.
inline attend_status check_option(const void* data, const Extent& extent, int bits, attend_status unaligned, Range& range) {
  return data == nullptr ? ATTEND_OK : check_span(data, extent, bits, attend_status(unaligned - 1), range);
}

// The range of an array of whole objects, aligned to their size; false where it cannot exist.
bool array_range(const void* data, size_t count, size_t size, Range& range);

// Whether no two elements of a tensor that fits are one, visibly.
bool apart(const Extent& extent);

// Whether a struct is as long as one that was ever declared, of which `first` is the shortest, and fields past those that are
// known, of a struct from a newer header, are all zero.
attend_status check_size(const void* whole, size_t size, size_t first, size_t known);
constexpr size_t largest_struct = 4096;  // no header will have such a one

constexpr bool within(ptrdiff_t number, ptrdiff_t low, ptrdiff_t high) { return number >= low && number <= high; }
inline bool aligned(const void* address, size_t alignment) { return reinterpret_cast<uintptr_t>(address) % alignment == 0; }

// The problem's fields that version 1 did not have, zero where the caller's struct ends before them.
const attend_problem& more_of(const attend_problem& problem);

// What a problem is needed for: to run it, to finish its states, or to merge others to them.
enum class Use { run, finish, merge };

// A problem that was checked, and where its memory lies.
struct Checked {
  core::Problem first;  // batch row 0, with all keys and without key lengths; no scratch
  ptrdiff_t batch;
  ptrdiff_t query_step, output_step, key_step, value_step;  // from one batch row to the next, in bytes; 0 if not read
  const ptrdiff_t* key_lengths;                             // null if there are none, or they are not read
  Range output;
  Range inputs[6];  // of which some may be empty
  size_t workspace_bytes;
  bool plain;  // nothing is asked for that core::run does not have without options
};

// Checks everything but options, parts and work memory. Fills in `checked` if that is ATTEND_OK.
attend_status check_problem(const attend_problem* problem, Use use, Checked& checked);

// Key tokens that lie in arrays or in the pool of pages.
ptrdiff_t array_keys(const attend_problem& problem, ptrdiff_t keys);

// The options of a problem that is not plain, and where their memory lies.
struct CheckedOptions {
  core::Options first;                                                // of batch row 0
  ptrdiff_t mask_step = 0, bias_step = 0;                             // from one batch row to the next, in elements
  ptrdiff_t key_scale_step = 0, value_scale_step = 0, page_step = 0;  // in bytes
  ptrdiff_t lse_step = 0, score_step = 0, state_step = 0;
  Range lse = {}, scores = {}, states = {};  // empty where there are none, or they are not written
  Range inputs[8] = {};
};

// Checks what check_problem has left, but for work memory; overlaps of what is merged are left to attend_merge.
attend_status check_options(const attend_problem& problem, Use use, const Checked& checked, CheckedOptions& options);

// Where keys and values lie; a part of check_options.
attend_status check_key_options(const attend_problem& problem, const Checked& checked, CheckedOptions& options);

// `none` is the status of states that are null.
attend_status check_state_memory(const void* states, attend_status none, const Checked& checked, Range& range);

// Checks the options and runs a part.
attend_status run_options(const attend_problem& problem, const Checked& checked, int part, int parts);

// A batch row, with the keys that it has.
core::Problem problem_of_row(const Checked& checked, ptrdiff_t row);

// Calls with each batch row of a part, and which part of the row: whole rows as long as they are alike and every part gets one;
// the others are cut.
template <class Row>
void each_row(const attend_problem& problem, const Checked& checked, int part, int parts, Row run) {
  const ptrdiff_t whole = problem.key_lengths == nullptr ? checked.batch - checked.batch % parts : 0;
  for (ptrdiff_t row = part; row < whole; row += parts) run(row, 0, 1);
  for (ptrdiff_t row = whole; row < checked.batch; ++row) run(row, part, parts);
}

// Of a cache that is null, unaligned or corrupt; else ATTEND_OK.
attend_status check_cache(const attend_cache* cache);
Range cache_range(const attend_cache& cache);

// Whether it is as core::Cache has it; then where it lies, and else that.
bool is_plain(const attend_cache& cache);
core::Cache cache_memory(const attend_cache& cache);
core::TypedCache typed_memory(const attend_cache& cache);

// 1 / sqrt(head_dim), the same as default_scale, which is meant for constants.
float usual_scale(int head_dim);

}  // namespace c_surface
}  // namespace attend
