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
  int32_t sink_groups;
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
                  int(core::Scores::raw) == ATTEND_SCORES_RAW - 1 && int(core::Scores::capped) == ATTEND_SCORES_CAPPED - 1 &&
                  int(core::Scores::biased) == ATTEND_SCORES_BIASED - 1 &&
                  int(core::Scores::weights) == ATTEND_SCORES_WEIGHTS - 1,
              "the numbers of the C header are the core's");
static_assert(sizeof(attend_cache) == 48 && alignof(attend_cache) <= config::alignment, "a cache's head has no padding");

// Of a head, with its magic number: changes whenever one field does, since each step can be undone.
inline uint32_t check_sum(uint32_t sum, const int32_t* fields, int count) {
  for (int i = 0; i < count; ++i) {
    sum = (sum ^ uint32_t(fields[i])) * 0x9e3779b1u;
    sum ^= sum >> 15;
  }
  return sum;
}

// Bytes begin … end - 1 of the address space.
struct Range {
  uintptr_t begin;
  uintptr_t end;
};

constexpr bool overlap(Range a, Range b) { return a.begin < b.end && b.begin < a.end; }
// alignment: a power of two
inline bool aligned(const void* address, size_t alignment) {
  return (reinterpret_cast<uintptr_t>(address) & (alignment - 1)) == 0;
}

// A tensor with `width` numbers side by side. Of axes along which there is nowhere to step, the stride is 0.
struct Extent {
  struct Counts {
    ptrdiff_t batch, tokens, heads, width;
  } counts;
  struct Strides {
    ptrdiff_t batch, token, head;
  } strides;
  ptrdiff_t dense = 0;  // all numbers, where all strides are ATTEND_DENSE; PTRDIFF_MAX if they cannot be counted
  bool clear = true;    // whether those that were given and those of a dense array can be of one array
};

// Where a tensor lies, and its step from one batch row to the next in bytes, or in numbers if these are bits.
struct Place {
  Range range;
  ptrdiff_t batch_step = 0;
};

constexpr int float_bits = 8 * int(sizeof(float));
// A format of a problem, which may be ATTEND_DEFAULT_FORMAT.
constexpr core::Format core_format(int format) { return core::Format(format < 0 ? ATTEND_FLOAT32 : format); }
constexpr int format_bits(int format) { return 8 * int(core::format_bytes(core_format(format))); }
constexpr size_t largest_struct = 4096;  // no header will have such a one

// What is wrong with a call: the first thing that was found.
class Check {
 public:
  bool failed() const { return status_ != ATTEND_OK; }
  attend_status status() const { return status_; }

  void require(bool right, attend_error error, attend_argument argument) {
    if (!right && !failed()) status_ = int(error) | int(argument) << 8;
  }
  void within(ptrdiff_t number, ptrdiff_t low, ptrdiff_t high, attend_argument argument) {
    require(number >= low && number <= high, ATTEND_OUT_OF_RANGE, argument);
  }
  void format(int format, int first, int last, attend_argument argument) {
    require(format >= first && format <= last, ATTEND_UNKNOWN, argument);
  }
  // One of a pair of a problem's formats. What lies behind one pointer does not say what lies behind the other, so one that was
  // not set is float32 only where the other is not smaller.
  void format_of_pair(int format, int other, int last, attend_argument argument) {
    this->format(format, ATTEND_DEFAULT_FORMAT, last, argument);
    const bool is_smaller = other > ATTEND_FLOAT32 && other <= last;
    require(format != ATTEND_DEFAULT_FORMAT || !is_smaller, ATTEND_AMBIGUOUS, argument);
  }

  // A struct that begins with its size: `known` is the size of this version. Fields past those that are known, of a struct from
  // a newer header, are all zero.
  void whole_struct(const void* address, size_t alignment, size_t known, attend_argument argument);

  // Memory for a struct of `size` bytes, which are made zeros.
  void new_struct(void* address, size_t alignment, size_t known, size_t size, attend_argument argument);

  // A tensor of numbers of so many bits. One without elements lies nowhere.
  Place place(const void* data, const Extent& extent, int bits, attend_argument argument);
  // One that is written: no two of its elements are one, visibly.
  Place place_apart(const void* data, const Extent& extent, int bits, attend_argument argument);
  // Numbers side by side.
  Range array(const void* data, ptrdiff_t count, int bits, attend_argument argument) {
    return place(data, {{1, 1, 1, count}, {0, 0, 0}}, bits, argument).range;
  }

 private:
  attend_status status_ = ATTEND_OK;
};

// Where everything lies that a call reads or writes: what it writes overlaps nothing else.
class Memory {
 public:
  void read(Check& check, Range range) {
    if (range.begin == range.end) return;
    for (int i = 0; i < written_; ++i) check.require(!overlap(written_ranges_[i], range), ATTEND_OVERLAP, arguments_[i]);
    ranges_[read_++] = range;
  }
  void write(Check& check, Range range, attend_argument argument) {
    if (range.begin == range.end) return;
    for (int i = 0; i < read_; ++i) check.require(!overlap(ranges_[i], range), ATTEND_OVERLAP, argument);
    for (int i = 0; i < written_; ++i) check.require(!overlap(written_ranges_[i], range), ATTEND_OVERLAP, argument);
    arguments_[written_] = argument;
    written_ranges_[written_++] = range;
  }

 private:
  static constexpr int most_read = 16, most_written = 4;
  Range ranges_[most_read];  // the struct, lengths, three inputs, a page table, two kinds of scales, five other options
  Range written_ranges_[most_written];  // output, lse and scores, or states and scores; work memory
  attend_argument arguments_[most_written];
  int read_ = 0, written_ = 0;
};

// The order of axes after the batch: those of tensors, and [head][query] of what has a row of numbers for each.
enum class Axes { token_head, head_token, matrix };
inline Axes axes_of(const attend_problem& problem) {
  return problem.layout == ATTEND_BATCH_HEAD_TOKEN_DIM ? Axes::head_token : Axes::token_head;
}

// Strides that are ATTEND_DENSE are those of a dense array without the axes whose stride is 0, and are clear where those that
// were set agree with them.
Extent extent_of(const Extent::Counts& counts, const Extent::Strides& given, Axes axes);

// A tensor of the core; its data may be of another format.
template <class Float, class Data>
core::Tensor<Float> core_tensor(Data* data, const Extent& extent) {
  return {static_cast<Float*>(data), extent.strides.token, extent.strides.head};
}

// A call that was checked, but for options.
struct Call {
  core::Problem first = {};  // batch row 0, with all keys and without key lengths; no scratch
  Memory memory;
  ptrdiff_t batch;
  ptrdiff_t stored;  // key tokens that lie in arrays or in the pool of pages
  ptrdiff_t query_step = 0, key_step = 0, value_step = 0, output_step = 0;  // from one batch row to the next, in bytes
  const ptrdiff_t* key_lengths = nullptr;
  size_t workspace_bytes;
  bool plain;  // nothing is asked for that core::run does not have without options
  bool queries_last;

  __attribute__((always_inline)) Call() {}  // otherwise a function of its own at -Os, whose stack nobody states

  // Keys that a batch row has.
  ptrdiff_t keys_of_row(ptrdiff_t row) const {
    return key_lengths != nullptr && key_lengths[row] < first.keys ? key_lengths[row] : first.keys;
  }
  Extent rows(const attend_output& tensor, ptrdiff_t width, Axes axes) const {
    return extent_of({batch, first.queries, first.query_heads, width},
                     {tensor.batch_stride, tensor.token_stride, tensor.head_stride}, axes);
  }
};

// Its options.
struct CallOptions {
  Call& call;
  core::Options first = {};  // of batch row 0
  // From one batch row to the next, in bytes; of masks and biases in elements.
  ptrdiff_t key_scale_step = 0, value_scale_step = 0, page_step = 0, lse_step = 0, score_step = 0, state_step = 0;
  ptrdiff_t mask_step = 0, bias_step = 0;
};

inline ptrdiff_t origin_of(const attend_problem& problem) {
  return problem.origin == ATTEND_DEFAULT_ORIGIN ? 0 : problem.origin;
}

// The struct, and the extents that states have: a part of all checks.
void check_rows(Check& check, const attend_problem* problem, Call& call);
// Everything that attend_run needs, but options, parts, work memory and where states stand; then options.
void check_call(Check& check, const attend_problem* problem, Call& call);
// How many keys there are, over a cache that was checked.
ptrdiff_t check_key_count(Check& check, const attend_problem& problem);
void check_options(Check& check, const attend_problem& problem, CallOptions& options);
void check_options(Check& check, const attend_problem& problem, Call& call);

// Parts of these: where keys lie that are no plain arrays of floats, before the tensors are placed and after; and what
// attend_finish looks at too.
void check_pages(Check& check, const attend_problem& problem, Call& call);
void check_key_options(Check& check, const attend_problem& problem, CallOptions& options);
void check_output(Check& check, const attend_problem& problem, Call& call);
void check_end(Check& check, const attend_problem& problem, CallOptions& options, bool writes);

// Whether a problem asks for nothing that core::run does not have without options.
bool is_plain(const attend_problem& problem);

// The states in the memory of states; and that memory, the problem's or another of the same extents.
core::Tensor<float> states_of(void* states, const Call& call);
void set_states(void* states, CallOptions& options);
Range check_states(Check& check, const void* states, const Call& call, attend_argument argument);
// Checks options and runs a part; refuses it if the states do not stand where it begins.
attend_status run_options(const attend_problem& problem, Call& call, int part, int parts);

// A batch row, with the keys that it has.
core::Problem problem_of_row(const Call& call, ptrdiff_t row);

// Calls with each batch row of a part, and which part of the row: whole rows as long as they are alike and every part gets one;
// the others are cut.
template <class Row>
void each_row(const Call& call, int part, int parts, Row run) {
  if (call.first.queries == 0) return;
  const ptrdiff_t whole = call.key_lengths == nullptr ? call.batch - call.batch % parts : 0;
  for (ptrdiff_t row = part; row < whole; row += parts) run(row, 0, 1);
  for (ptrdiff_t row = whole; row < call.batch; ++row) run(row, part, parts);
}

// Goes on by so many bytes.
template <class Data>
void move(Data*& data, ptrdiff_t bytes) {
  data = reinterpret_cast<Data*>(reinterpret_cast<uintptr_t>(data) + uintptr_t(bytes));
}

void check_cache(Check& check, const attend_cache* cache);
Range cache_range(const attend_cache& cache);

// Whether it is as core::Cache has it; then where it lies, and else that.
bool is_plain(const attend_cache& cache);
core::Cache cache_memory(const attend_cache& cache);
core::TypedCache typed_memory(const attend_cache& cache);

// 1 / sqrt(head_dim), the same as default_scale, which is meant for constants.
float usual_scale(int head_dim);

}  // namespace c_surface
}  // namespace attend
