// The internal interface of the C surface (attend_c.h). Functions between objects are C++, so that the C names are
// the public ones only.
#pragma once

#include "checks.h"

// In memory: a head, then keys and values as core::Cache or core::FormatCache has them, and scales. No pointers, so that it can
// be moved.
struct attend_cache {
  uint32_t magic;  // depends on how keys and values lie, too
  int32_t kv_heads;
  int32_t head_dim;
  int32_t value_dim;
  int32_t max_tokens;
  int32_t key_format;
  int32_t value_format;
  int32_t ring_panels;  // 0: none
  int32_t sink_panels;
  int32_t tokens;       // held
  int32_t peak_tokens;  // that were held since it was empty
  uint32_t check;       // of the fields above
};

namespace attend::c_surface {

static_assert(ATTEND_ALIGNMENT % config::alignment == 0, "what the C header asks for must be enough");
static_assert(ATTEND_SEGMENT_KEYS == segment_keys, "the C header has where states can begin");
static_assert(int(core::Format::float32) == ATTEND_FLOAT32 && int(core::Format::float16) == ATTEND_FLOAT16 &&
                  int(core::Format::bfloat16) == ATTEND_BFLOAT16 && int(core::Format::int8) == ATTEND_INT8 &&
                  int(core::Scores::raw) == ATTEND_SCORES_RAW - 1 && int(core::Scores::capped) == ATTEND_SCORES_CAPPED - 1 &&
                  int(core::Scores::biased) == ATTEND_SCORES_BIASED - 1 &&
                  int(core::Scores::weights) == ATTEND_SCORES_WEIGHTS - 1,
              "the numbers of the C header are the core's");
static_assert(sizeof(attend_cache) == 48 && alignof(attend_cache) <= config::alignment, "a cache's head has no padding");

// The check sum of a head, with its magic number. It changes whenever one field does, since each step can be undone.
inline uint32_t check_sum(uint32_t sum, const int32_t* fields, int count) {
  for (int i = 0; i < count; ++i) {
    sum = (sum ^ uint32_t(fields[i])) * 0x9e3779b1u;
    sum ^= sum >> 15;
  }
  return sum;
}

// A call that was checked, but for options.
struct Call : CheckedCall<core::Problem> {
  bool runs_later = false;    // work memory is asked for: the cache may still be empty
  bool one_sequence = false;  // batch is 1, and need not be set
  bool of_layer = false;      // a layer places query, key, value and output itself, and runs some tokens at a time
  bool appends = false;       // and appends to the cache before it attends

  __attribute__((always_inline)) Call() {}  // as that of CheckedCall
};

// Its options.
struct CallOptions {
  core::Options first = {};  // of batch row 0
  // From one batch row to the next, in bytes; of masks and biases in elements.
  ptrdiff_t key_scale_step = 0, value_scale_step = 0, page_step = 0, lse_step = 0, score_step = 0, state_step = 0;
  ptrdiff_t mask_step = 0, bias_step = 0;
};

// Whether a tensor is as it was initialised.
template <class Tensor>
bool is_default(const Tensor& tensor) {
  return tensor.data == nullptr && tensor.batch_stride == ATTEND_DENSE && tensor.token_stride == ATTEND_DENSE &&
         tensor.head_stride == ATTEND_DENSE;
}

inline ptrdiff_t origin_of(const attend_problem& problem) {
  return problem.origin == ATTEND_DEFAULT_ORIGIN ? 0 : problem.origin;
}

// The struct, and the extents that states have: a part of all checks.
void check_rows(Call& call, const attend_problem* problem);
// Everything that attend_run needs, but options, parts, work memory and the states' next key; then options.
void check_call(Call& call, const attend_problem* problem);
// Parts of it: whether anything depends on the positions of queries; blocks and the size of work memory, for as
// many keys as there can be; work memory itself; a cache.
bool is_positioned(const attend_problem& problem);
void plan(Call& call, int most_keys);
bool is_of_shape(const attend_cache& cache, const attend_problem& problem);
// The number of keys, over a cache that was checked.
ptrdiff_t check_key_count(Check& check, const attend_problem& problem);
void check_options(Call& call, const attend_problem& problem, CallOptions& options);
void check_options(Call& call, const attend_problem& problem);

// Parts of these: where keys lie that are no plain arrays of floats, before the tensors are placed; and what attend_finish
// looks at too.
void check_pages(Call& call, const attend_problem& problem);
void check_output(Call& call, const attend_problem& problem);
void check_end(Call& call, const attend_problem& problem, CallOptions& options, bool writes);

// Whether a problem asks for nothing that core::run does not have without options.
bool is_plain(const attend_problem& problem);

// The states in the memory of states; and that memory, the problem's or another of the same extents.
core::Tensor<float> states_of(void* states, const Call& call);
void set_states(void* states, const Call& call, CallOptions& options);
Range check_states(Call& call, const void* states, attend_argument argument);
// Checks options and runs a part; refuses it if it does not begin at the states' next key.
attend_status run_options(const attend_problem& problem, Call& call, int part, int parts);

void check_cache(Check& check, const attend_cache* cache);
Range cache_range(const attend_cache& cache);

// Whether it is as core::Cache has it; then where it lies, and else that.
bool is_plain(const attend_cache& cache);
core::Cache cache_memory(const attend_cache& cache);
core::FormatCache format_memory(const attend_cache& cache);
// Says how many tokens a cache holds; stores some for which there is room.
void set_tokens(attend_cache& cache, ptrdiff_t tokens);
void append(attend_cache& cache, int tokens, core::Tensor<const float> key, core::Tensor<const float> value);

// A problem's scale, for calls that compute: checks do not need it.
float scale_of(const attend_problem& problem);

}  // namespace attend::c_surface
