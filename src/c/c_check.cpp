// The defaults of a problem of the C surface, and what it must not be, which is refused before anything is written: all that
// does not depend on its arithmetic.
#include "surface.h"

#include "../call/portable.h"

namespace attend::c_surface {
namespace {

// Field by field, in their order.
constexpr attend_problem defaults = {
    sizeof(attend_problem),
    nullptr,  // arithmetic
    0,
    ATTEND_BATCH_TOKEN_HEAD_DIM,
    ATTEND_DEFAULT_BATCH,
    0,
    0,
    0,
    0,
    unset,  // queries
    ATTEND_ALL_KEYS,
    nullptr,
    ATTEND_DEFAULT_FORMAT,  // query_format
    ATTEND_DEFAULT_FORMAT,
    ATTEND_DEFAULT_FORMAT,
    ATTEND_DEFAULT_FORMAT,
    no_input,  // query
    no_input,
    no_input,
    no_output,
    nullptr,
    nullptr,
    nullptr,  // cache
    {nullptr, dense_stride, 0, 0},
    {nullptr, dense_stride, dense_stride},
    {nullptr, dense_stride, dense_stride},
    ATTEND_DEFAULT_ORIGIN,
    ATTEND_DEFAULT_OFFSET,
    ATTEND_NO_LIMIT,  // window_left
    ATTEND_NO_LIMIT,
    0,
    no_mask,
    no_ranges,
    {nullptr, 0},
    ATTEND_DEFAULT_SCALE,
    0,
    nullptr,  // alibi_slopes
    {nullptr, dense_stride, unset, unset},
    nullptr,
    {nullptr, dense_stride, dense_stride, dense_stride, ATTEND_ALL_KEYS},
    ATTEND_BIAS_AFTER_CAP,
    ATTEND_LSE_NATURAL,
    no_output,
    {nullptr, dense_stride, dense_stride, dense_stride, ATTEND_ALL_KEYS, ATTEND_SCORES_NONE},
    nullptr,  // states
    0,
    ATTEND_DEFAULT_STATE_NODES,
};

template <class Tensor>
bool follows_layout(const Tensor& tensor) {
  return tensor.data != nullptr &&
         (tensor.batch_stride == ATTEND_DENSE || tensor.token_stride == ATTEND_DENSE || tensor.head_stride == ATTEND_DENSE);
}

// A layout that decides nothing was hardly meant: strides were set, and are not those of the layout.
void check_layout_use(Check& check, const attend_problem& problem) {
  const bool used = follows_layout(problem.query) || follows_layout(problem.key) || follows_layout(problem.value) ||
                    follows_layout(problem.output) || follows_layout(problem.lse);
  check.require(problem.layout == ATTEND_BATCH_TOKEN_HEAD_DIM || used || problem.queries == 0, ATTEND_NO_EFFECT,
                ATTEND_ARG_LAYOUT);
}

}  // namespace

void check_cache_origin(Call& call, const attend_problem& problem) {
  const attend_cache& cache = *problem.cache;
  const ptrdiff_t origin = origin_of(problem);
  const bool can_begin_later = cache.ring_panels == 0 && !call.in_layer;
  call.require(can_begin_later || origin == 0, ATTEND_CONFLICT, ATTEND_ARG_ORIGIN);
  call.require(origin % segment_keys == 0, ATTEND_OUT_OF_RANGE, ATTEND_ARG_ORIGIN);
  call.within(origin, 0, ATTEND_MAX_TOKENS - tokens_of(call, cache), ATTEND_ARG_ORIGIN);
}

namespace {

// A cache in the place of keys and values.
void check_cache_use(Call& call, const attend_problem& problem) {
  check_cache(call, problem.cache);
  if (call.failed()) return;
  const attend_cache& cache = *problem.cache;
  call.require(is_default(problem.key), ATTEND_CONFLICT, ATTEND_ARG_KEY);
  call.require(is_default(problem.value), ATTEND_CONFLICT, ATTEND_ARG_VALUE);
  call.require(has_integers(cache) == call.arithmetic->integers, ATTEND_MISMATCH, ATTEND_ARG_CACHE);
  const auto agree = [&](int format, int kept) {
    return format == ATTEND_DEFAULT_FORMAT || format == kept || call.arithmetic->integers;
  };
  call.require(agree(problem.key_format, cache.key_format), ATTEND_CONFLICT, ATTEND_ARG_KEY_FORMAT);
  call.require(agree(problem.value_format, cache.value_format), ATTEND_CONFLICT, ATTEND_ARG_VALUE_FORMAT);
  check_cache_origin(call, problem);
  call.require(problem.pages.table == nullptr, ATTEND_CONFLICT, ATTEND_ARG_PAGES);
  call.require(call.batch <= 1, ATTEND_CONFLICT, ATTEND_ARG_BATCH);
  call.require(is_of_shape(cache, problem), ATTEND_MISMATCH, ATTEND_ARG_CACHE);
  if (call.failed()) return;
  call.appends ? call.write(cache_range(cache), ATTEND_ARG_CACHE) : call.read(cache_range(cache));
}

// The number of keys, and of those that lie in arrays.
void check_keys(Call& call, const attend_problem& problem) {
  if (problem.cache != nullptr) check_cache_use(call, problem);
  const ptrdiff_t keys = check_key_count(call, problem), origin = origin_of(problem);
  call.within(origin, 0, keys, ATTEND_ARG_ORIGIN);
  const bool lacks_tokens = problem.cache != nullptr && problem.keys == ATTEND_ALL_KEYS && keys == origin &&
                            problem.queries > 0 && problem.key_lengths == nullptr && problem.states == nullptr;
  call.require(call.runs_later || !lacks_tokens, ATTEND_AMBIGUOUS, ATTEND_ARG_KEYS);
  if (call.failed()) return;
  call.first.keys = int(keys);
  call.stored = problem.cache != nullptr || keys == 0 ? 0 : keys - origin;
  const ptrdiff_t* const lengths = problem.key_lengths;
  if (lengths == nullptr) return;
  check_key_lengths(call, lengths, call.batch, problem.states != nullptr ? ATTEND_MAX_TOKENS : keys);
  call.key_lengths = lengths;
}

}  // namespace

void check_position(Call& call, const attend_problem& problem) {
  const bool matters = is_positioned(problem), given = problem.offset != ATTEND_DEFAULT_OFFSET;
  call.queries_last = (problem.options & ATTEND_QUERIES_LAST) != 0;
  const attend_cache* const cache = problem.cache;
  // Of several machines' caches each has another end, and states would be taken at as many positions.
  const bool one_of_several = problem.states != nullptr && origin_of(problem) > 0;
  const bool clear =
      cache != nullptr ? problem.queries <= tokens_of(call, *cache) && !one_of_several : problem.queries == call.first.keys;
  const bool nobody = call.batch == 0 || problem.queries == 0;
  check_offset(call, problem, matters, clear || nobody);
  call.require(problem.states == nullptr || !call.queries_last, ATTEND_CONFLICT, ATTEND_ARG_OPTIONS);
  if (call.failed()) return;
  call.first.offset = int(given ? problem.offset : cache != nullptr ? end_of(call, problem) - problem.queries : 0);
}

namespace {

// A cache of floats that is no ring as tensors.
void take_floats(const attend_cache& cache, core::Problem& first) {
  const core::Cache memory = cache_memory(cache);
  first.key = {memory.keys, 0, ptrdiff_t(core::panel_count(memory.capacity)) * panel_keys * memory.head_dim};
  first.value = {memory.values, memory.value_dim, ptrdiff_t(memory.capacity) * memory.value_dim};
}

void check_inputs(Call& call, const attend_problem& problem) {
  core::Problem& first = call.first;
  const Tensors tensors = {call, axes_of(problem)};
  if (!call.in_layer) {
    call.query_step = tensors.read(problem.query, {call.batch, problem.queries, problem.query_heads, problem.head_dim},
                                   call.query_bits, ATTEND_ARG_QUERY, first.query);
  }
  first.key = first.value = {first.query.data, 0, 0};  // not read: anything but null, which must not be counted from
  if (problem.cache != nullptr) {
    const bool as_floats = call.plain && !call.arithmetic->integers;
    as_floats ? take_floats(*problem.cache, first) : call.arithmetic->options->take_cache(*problem.cache, first);
  } else if (call.stored > 0 && !call.in_layer) {
    if (!call.plain) call.arithmetic->options->check_growing(call, problem);
    const ptrdiff_t rows = problem.pages.table != nullptr && call.batch > 0 ? 1 : call.batch;  // all share the pages
    call.key_step = tensors.read(problem.key, {rows, call.stored, problem.kv_heads, problem.head_dim}, call.key_bits,
                                 ATTEND_ARG_KEY, first.key);
    call.value_step = tensors.read(problem.value, {rows, call.stored, problem.kv_heads, problem.value_dim}, call.value_bits,
                                   ATTEND_ARG_VALUE, first.value);
  }
}

// A cache has only one batch row.
bool speaks_of_rows(const attend_problem& problem) {
  return problem.cache == nullptr && (has_rows(problem) || problem.pages.table != nullptr || is_given_by_rows(problem.bias) ||
                                      is_given_by_rows(problem.lse) || is_given_by_rows(problem.scores) ||
                                      (has_ranges(problem) && steps_by_rows(problem.ranges)));
}

}  // namespace

void take_cache(const attend_cache& cache, core::Problem& first) {
  if (is_plain(cache) && !has_integers(cache)) return take_floats(cache, first);
  if (has_integers(cache)) {
    const core::IntegerCache memory = integer_memory(cache);
    const ptrdiff_t key_dim = integer_key_dim(cache);
    first.key = {memory.keys, key_dim, memory.tokens * key_dim};
    first.value = {memory.values, memory.value_dim, ptrdiff_t(memory.tokens) * memory.value_dim};
  } else {
    const core::FormatCache memory = format_memory(cache);
    const ptrdiff_t slots = ptrdiff_t(core::panel_count(memory.capacity)) * panel_keys;
    first.key = {memory.keys, 0, slots * memory.head_dim};
    first.value = {memory.values, memory.value_dim, slots * memory.value_dim};
    if (has_values_in_keys(cache)) first.key = first.value, first.key_panels = false;
  }
}

// Whatever differs from its default from `pages` on is an option, but for offset and scale; and so are formats.
bool is_plain(const attend_problem& problem, int usual_format) {
  uint32_t differences = 0;
  const auto compare_all = [&](size_t begin, size_t end) {
    for (size_t at = begin; at < end; at += sizeof differences) {
      uint32_t given, usual;
      ATTEND_MEMCPY(&given, reinterpret_cast<const unsigned char*>(&problem) + at, sizeof given);
      ATTEND_MEMCPY(&usual, reinterpret_cast<const unsigned char*>(&defaults) + at, sizeof usual);
      differences |= given ^ usual;
    }
  };
  compare_all(offsetof(attend_problem, pages), offsetof(attend_problem, offset));
  // Without what lies between fields, which copies of a struct need not have.
  constexpr size_t mask_end = offsetof(attend_problem, mask.kind) + sizeof(int);
  constexpr size_t scale_end = offsetof(attend_problem, scale) + sizeof(float);
  constexpr size_t scores_end = offsetof(attend_problem, scores.stage) + sizeof(int);
  compare_all(offsetof(attend_problem, window_left), mask_end);
  compare_all(offsetof(attend_problem, ranges), offsetof(attend_problem, scale));
  compare_all(scale_end, scores_end);
  compare_all(offsetof(attend_problem, states), sizeof problem);
  const auto is_small = [&](int format) { return format != ATTEND_DEFAULT_FORMAT && format != usual_format; };
  const bool formats = is_small(problem.query_format) || is_small(problem.key_format) || is_small(problem.value_format) ||
                       is_small(problem.output_format);
  return differences == 0 && !formats && (problem.options & ~ATTEND_CAUSAL) == 0;
}

bool has_usual_scale(const attend_problem& problem) {
  constexpr float usual = ATTEND_DEFAULT_SCALE;
  return bits_to<uint32_t>(problem.scale) == bits_to<uint32_t>(usual);
}

bool is_of_shape(const attend_cache& cache, const attend_problem& problem) {
  return problem.kv_heads == cache.kv_heads && problem.head_dim == cache.head_dim && problem.value_dim == cache.value_dim;
}

bool is_positioned(const attend_problem& problem) {
  return (problem.options & ATTEND_CAUSAL) != 0 || problem.window_left != ATTEND_NO_LIMIT ||
         problem.window_right != ATTEND_NO_LIMIT || problem.alibi_slopes != nullptr || problem.relative_bias.data != nullptr;
}

void check_rows(Call& call, const attend_problem* problem) {
  call.read(call.whole_struct(problem, ATTEND_ARG_PROBLEM));
  if (call.failed()) return;
  call.arithmetic = problem->arithmetic;
  call.require(call.arithmetic != nullptr, ATTEND_MISSING, ATTEND_ARG_ARITHMETIC);
  call.require((problem->options & ~(ATTEND_CAUSAL | ATTEND_QUERIES_LAST)) == 0, ATTEND_UNKNOWN, ATTEND_ARG_OPTIONS);
  const bool layout = problem->layout == ATTEND_BATCH_TOKEN_HEAD_DIM || problem->layout == ATTEND_BATCH_HEAD_TOKEN_DIM;
  call.require(layout, ATTEND_UNKNOWN, ATTEND_ARG_LAYOUT);
  const bool is_set = problem->batch != ATTEND_DEFAULT_BATCH || call.one_sequence;
  call.batch = check_batch(call, problem->batch, !is_set && speaks_of_rows(*problem));
  call.within(problem->queries, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_QUERIES);
  check_widths(call, *problem, call.first);
  const ptrdiff_t nodes = problem->state_nodes;
  call.within(nodes, 0, ATTEND_MAX_STATE_NODES, ATTEND_ARG_STATE_NODES);
  call.state_nodes = int(nodes);
}

ptrdiff_t check_key_count(Call& call, const attend_problem& problem) {
  if (call.failed()) return 0;
  const attend_cache* const cache = problem.cache;
  if (cache != nullptr && problem.keys == ATTEND_ALL_KEYS) return end_of(call, problem);
  call.within(problem.keys, 0, cache != nullptr ? end_of(call, problem) : ATTEND_MAX_TOKENS, ATTEND_ARG_KEYS);
  return problem.keys;
}

void check_output(Call& call, const attend_problem& problem) {
  if (call.failed()) return;
  const Extent::Counts counts = {call.batch, call.first.queries, call.first.query_heads, problem.value_dim};
  call.output_step =
      Tensors{call, axes_of(problem)}.write(problem.output, counts, call.output_bits, ATTEND_ARG_OUTPUT, call.first.output);
}

void check_call(Call& call, const attend_problem* given) {
  check_rows(call, given);
  if (call.failed()) return;
  const attend_problem& problem = *given;
  check_layout_use(call, problem);
  core::Problem& first = call.first;
  const bool plain = is_plain(problem, call.arithmetic->usual_format);
  call.require(plain || call.arithmetic->options != nullptr, ATTEND_UNAVAILABLE, ATTEND_ARG_ARITHMETIC);
  if (call.failed()) return;
  call.arithmetic->check_formats(call, problem);
  check_heads(call, problem, call.arithmetic->widest_head, first);
  if (!call.failed()) check_keys(call, problem);
  if (call.failed()) return;
  call.plain = plain && (problem.cache == nullptr || is_plain(*problem.cache));
  call.require(call.plain || call.arithmetic->options != nullptr, ATTEND_UNAVAILABLE, ATTEND_ARG_ARITHMETIC);
  if (!call.failed() && !call.plain) call.arithmetic->options->check_pages(call, problem);
  if (!call.failed()) check_position(call, problem);
  if (call.failed()) return;
  first.causal = (problem.options & ATTEND_CAUSAL) != 0;
  first.key_panels = problem.cache != nullptr;
  call.arithmetic->check_rest(call, problem);
  if (!call.failed()) check_inputs(call, problem);
  if (!call.failed() && problem.states == nullptr && !call.in_layer) check_output(call, problem);
  if (call.failed()) return;
  const int most_keys = problem.cache != nullptr ? int(origin_of(problem)) + problem.cache->max_tokens : first.keys;
  call.arithmetic->plan(call, {most_keys, problem.cache, problem.states != nullptr});
}

attend_status init_problem(attend_problem* problem, size_t size, const attend_arithmetic* arithmetic) {
  const attend_status status = new_struct(problem, size, ATTEND_ARG_PROBLEM);
  if (status != ATTEND_OK) return status;
  *problem = defaults;
  problem->size = size;
  problem->arithmetic = arithmetic;
  return ATTEND_OK;
}

}  // namespace attend::c_surface
