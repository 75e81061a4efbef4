// The internal interface of the C surface (attend_c.h). Functions between objects are C++: C names are public ones.
#pragma once

#include "checks.h"

#include "../../include/attend/core/integer.h"
#include "../../include/attend/core/ranges.h"
#include "../../include/attend/core/saved.h"

// In memory: a head, then keys and values as core::Cache, core::FormatCache or core::IntegerCache has them, and scales. No
// pointers, so that it can be moved.
struct attend_cache {
  uint32_t magic;  // depends on how keys and values lie, too
  int32_t kv_heads;
  int32_t head_dim;
  int32_t value_dim;
  int32_t max_tokens;
  int32_t key_format;  // attend_format, or one of IntegerLayout
  int32_t value_format;
  int32_t ring_panels;  // 0: none
  int32_t sink_panels;
  int32_t tokens;       // held
  int32_t peak_tokens;  // that were held since it was empty
  int32_t layout;       // bits: 1: keys saturate, 2: values do, in_keys_bit: values are in their keys
  uint32_t check;       // of the fields above
};

// What is done in floats by one code and in integers by another. Shared code knows them by the problem alone, so that a program
// has those that it initialises problems of.
struct attend_arithmetic {
  bool integers;
  int widest_head;
  int usual_format;  // of a problem's numbers
  // Checks what no other has: formats, from which it sets how many bits numbers have, and what its outputs are made with; then
  // the rest, once extents, keys and positions are known.
  void (*check_formats)(attend::c_surface::Call& call, const attend_problem& problem);
  void (*check_rest)(attend::c_surface::Call& call, const attend_problem& problem);
  // Blocks and the size of work memory, for as many keys as there can be.
  void (*plan)(attend::c_surface::Call& call, const attend::c_surface::MostKeys& most);
  // Runs a part of a call without options; where options is null, all of it. begin() goes before all runs.
  void (*begin)(attend::c_surface::Call& call, const attend_problem& problem, void* workspace);
  void (*run)(const attend::c_surface::Call& call, const attend::c_surface::Parts& cut);
  // The state of a query token and head: state_numbers + state_widths * value_dim numbers of 32 bits, then those of nodes;
  // behind all states, of integers, value_dim numbers for finish_rows.
  int state_numbers, state_widths;
  // Null for problems of attend_plain_problem_init, so that a program with no others holds nothing of options.
  const struct attend_option_arithmetic* options;
};

// What calls with options, caches of other formats and states need beside it.
struct attend_option_arithmetic {
  // Where keys lie in pages; strides of arrays that grow from call to call; a cache as tensors; all options. Common to both.
  void (*check_pages)(attend::c_surface::Call& call, const attend_problem& problem);
  void (*check_growing)(attend::c_surface::Call& call, const attend_problem& problem);
  void (*take_cache)(const attend_cache& cache, attend::core::Problem& first);
  void (*check)(attend::c_surface::Call& call, const attend_problem& problem);
  attend_status (*run)(const attend_problem& problem, attend::c_surface::Call& call, void* workspace, size_t size,
                       const attend::c_surface::Parts& cut);
  // Floats of work memory with such blocks, of calls in floats.
  size_t (*scratch_floats)(const attend::core::Problem& problem, int row_block, int key_block,
                           const attend::c_surface::MostKeys& most);
  // A part of a batch row.
  void (*run_row)(const attend::c_surface::Parts& cut, const attend::core::Problem& row,
                  const attend::core::RangedOptions& options);
  void (*begin_state)(float* state, int value_dim);
  // Goes on without keys from one to another: a batch row that has ended.
  void (*skip_keys)(float* state, int value_dim, int from, int to);
  // As core::Floats has them; of one state.
  void (*merge)(void* states, const void* others, bool takes_open, int rows, int value_dim, int nodes);
  attend::core::SeenKeys (*seen_keys)(const attend::core::Problem& rows, const attend::core::Options& options);
  void (*leave)(float* state, int value_dim, int from, int to);
  void (*finish_rows)(const attend::c_surface::Call& call, const attend_problem& problem, const attend::core::Problem& rows,
                      const attend::core::Options& options, float* numbers);
};

namespace attend::c_surface {

extern const attend_arithmetic float_arithmetic;

// Keys of the panels of a call.
inline int panel_keys_of(const Call& call) { return call.arithmetic->integers ? integer_chunk : panel_keys; }

static_assert(ATTEND_ALIGNMENT % config::alignment == 0, "what the C header asks for must be enough");
static_assert(ATTEND_SEGMENT_KEYS == segment_keys, "the C header has where states can begin");
static_assert(int(core::Format::float32) == ATTEND_FLOAT32 && int(core::Format::float16) == ATTEND_FLOAT16 &&
                  int(core::Format::bfloat16) == ATTEND_BFLOAT16 && int(core::Format::int8) == ATTEND_INT8 &&
                  int(core::Format::int4) == ATTEND_INT4 && core::int4_group == ATTEND_INT4_INPUTS &&
                  sizeof(core::Int4Group) == ATTEND_INT4_BYTES && int(core::Scores::raw) == ATTEND_SCORES_RAW - 1 &&
                  int(core::Scores::capped) == ATTEND_SCORES_CAPPED - 1 &&
                  int(core::Scores::biased) == ATTEND_SCORES_BIASED - 1 &&
                  int(core::Scores::weights) == ATTEND_SCORES_WEIGHTS - 1,
              "the numbers of the C header are the core's");
static_assert(sizeof(attend_cache) == 52 && alignof(attend_cache) <= config::alignment, "a cache's head has no padding");

// A format of caches or weights that are computed in floats; whether rows of a width are whole groups of it.
constexpr bool is_stored_format(int format) {
  return (format >= ATTEND_FLOAT32 && format <= ATTEND_INT8) || format == ATTEND_INT4;
}
constexpr bool is_whole(ptrdiff_t width, int format) { return format != ATTEND_INT4 || width % ATTEND_INT4_INPUTS == 0; }

// The check sum of a head, with its magic number.
static inline uint32_t check_sum(uint32_t sum, const int32_t* fields, int count) {
  for (int i = 0; i < count; ++i) sum = core::hash_with(sum, uint32_t(fields[i]));
  return sum;
}

// The check sum of a cache's head: of all words but the last, where it stands.
uint32_t check_of(const attend_cache& cache);

// The key_format of a cache of integers, which depends on how they lie.
enum IntegerLayout : int32_t { integer_rows = 16, integer_quads = 17 };
constexpr bool has_integers(const attend_cache& cache) { return cache.key_format >= integer_rows; }
// Whether keys lie in rows, which begin with their values; otherwise they are panels.
constexpr int32_t in_keys_bit = 4;
constexpr bool has_values_in_keys(const attend_cache& cache) { return (cache.layout & in_keys_bit) != 0; }
// Keys of its panels.
constexpr int panel_keys_of(const attend_cache& cache) { return has_integers(cache) ? integer_chunk : panel_keys; }
// The numbers of a key, where a cache of integers keeps them.
constexpr int integer_key_dim(const attend_cache& cache) {
  return cache.key_format == integer_quads ? core::whole_quads(cache.head_dim) : cache.head_dim;
}

// Whether the scale is 1 / sqrt(head_dim), as it was initialised.
bool has_usual_scale(const attend_problem& problem);

// Whether a tensor is as it was initialised.
template <class Tensor>
bool is_default(const Tensor& tensor) {
  return tensor.data == nullptr && tensor.batch_stride == ATTEND_DENSE && tensor.token_stride == ATTEND_DENSE &&
         tensor.head_stride == ATTEND_DENSE;
}

constexpr int node_numbers = 3;  // of a state's node, beside its sums
inline bool has_ranges(const attend_problem& problem) {
  return problem.ranges.first != nullptr || problem.ranges.end != nullptr;
}
// Whether ranges and documents are as they were initialised.
inline bool has_no_lists(const attend_problem& problem) {
  return !has_ranges(problem) && problem.ranges.batch_stride == ATTEND_DENSE && problem.documents.boundaries == nullptr &&
         problem.documents.count == 0;
}

inline ptrdiff_t origin_of(const attend_problem& problem) {
  return problem.origin == ATTEND_DEFAULT_ORIGIN ? 0 : problem.origin;
}

// The struct, and the extents that states have: a part of all checks.
void check_rows(Call& call, const attend_problem* problem);
// Requires that neither a cap nor a bias changes the products of queries and keys.
void leave_out_terms(Check& check, const attend_problem& problem);
// Everything that attend_run needs, but options, parts, work memory and the states' next key; then options.
void check_call(Call& call, const attend_problem* given);
// Parts of it: whether anything depends on the positions of queries; blocks and the size of work memory, for as
// many keys as there can be; work memory itself; a cache.
bool is_positioned(const attend_problem& problem);
void plan(Call& call, const MostKeys& most);
// The most nodes that a call keeps.
inline int levels_over(const MostKeys& most) {
  if (most.into_states) return 0;
  const attend_cache* const cache = most.cache;
  const int levels = core::segment_levels(most.keys);
  if (cache == nullptr || cache->ring_panels == 0) return levels;
  const int panel = panel_keys_of(*cache),
            ring_levels = core::window_levels(cache->ring_panels * panel, cache->sink_panels * panel);
  return ring_levels < levels ? ring_levels : levels;
}
bool is_of_shape(const attend_cache& cache, const attend_problem& problem);
// Where a problem's cache begins, before its end is asked for.
void check_cache_origin(Call& call, const attend_problem& problem);
// The number of keys, over a cache that was checked; and the tokens of a cache, with those that the call appends first.
ptrdiff_t check_key_count(Call& call, const attend_problem& problem);
inline int tokens_of(const Call& call, const attend_cache& cache) { return cache.tokens + call.appended; }
// The key after the last one of a problem's cache.
inline ptrdiff_t end_of(const Call& call, const attend_problem& problem) {
  return origin_of(problem) + tokens_of(call, *problem.cache);
}
inline int peak_of(const Call& call, const attend_cache& cache) {
  return tokens_of(call, cache) > cache.peak_tokens ? tokens_of(call, cache) : cache.peak_tokens;
}
void check_options(Call& call, const attend_problem& problem, CallOptions& options);
void check_options(Call& call, const attend_problem& problem);
// Runs a part of a call with options, and returns what is wrong with these.
attend_status run_options(const attend_problem& problem, Call& call, void* workspace, size_t size, const Parts& cut);

// Parts of these: where keys lie that are no plain arrays of floats, before the tensors are placed; and what attend_finish
// looks at too, with the position of the queries among the keys, which must be clear, and matter.
void check_pages(Call& call, const attend_problem& problem);
void check_growing(Call& call, const attend_problem& problem);
void check_position(Call& call, const attend_problem& problem);
void check_output(Call& call, const attend_problem& problem);
void check_end(Call& call, const attend_problem& problem, CallOptions& options, bool writes);
// Whether options go together and are in range, once they are set (core/rules.h).
void check_together(Call& call, const core::Options& options);

// Whether a problem asks for nothing that core::Floats::run does not have without options. Numbers are of the usual format.
bool is_plain(const attend_problem& problem, int usual_format = ATTEND_FLOAT32);

// The states in the memory of states; and that memory, the problem's or another of the same extents.
core::Tensor<void> states_of(void* states, const Call& call);
void set_states(void* states, const Call& call, CallOptions& options);
Range check_states(Call& call, const void* states, attend_argument argument);
// The options of a batch row.
core::RangedOptions options_of_row(const CallOptions& options, ptrdiff_t row);

// The init functions of problems.
attend_status init_problem(attend_problem* problem, size_t size, const attend_arithmetic* arithmetic);

void check_cache(Check& check, const attend_cache* cache);
Range cache_range(const attend_cache& cache);

// Whether it is as core::Cache has it; then where it lies, and else that.
bool is_plain(const attend_cache& cache);
// A cache as tensors, of any kind.
void take_cache(const attend_cache& cache, core::Problem& first);
core::Cache cache_memory(const attend_cache& cache);
core::FormatCache format_memory(const attend_cache& cache);
core::IntegerCache integer_memory(const attend_cache& cache);
core::Paging paging_of(const attend_cache& cache);
// Says how many tokens a cache holds; stores some for which there is room.
void set_tokens(attend_cache& cache, ptrdiff_t tokens);
// False where floats are out of range of the cache's formats: nothing has changed.
bool append(attend_cache& cache, int tokens, core::Tensor<const float> key, core::Tensor<const float> value);
bool append(attend_cache& cache, int tokens, core::Tensor<const int8_t> key, core::Tensor<const int8_t> value);

// A problem's scale, for calls that compute: checks do not need it.
float scale_of(const attend_problem& problem);

}  // namespace attend::c_surface
