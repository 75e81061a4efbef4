// Refuses what a problem of the C surface must not be, before anything is written.
#include "surface.h"

#include "../call/portable.h"

namespace attend {
namespace c_surface {
namespace {

void check_numbers(Check& check, const attend_problem& problem) {
  check.format_of_pair(problem.query_format, problem.output_format, ATTEND_BFLOAT16, ATTEND_ARG_QUERY_FORMAT);
  const bool cached = problem.cache != nullptr;  // then what is not set is the cache's
  const int key_format = cached ? ATTEND_FLOAT32 : problem.key_format;
  const int value_format = cached ? ATTEND_FLOAT32 : problem.value_format;
  check.format_of_pair(problem.key_format, value_format, ATTEND_INT8, ATTEND_ARG_KEY_FORMAT);
  check.format_of_pair(problem.value_format, key_format, ATTEND_INT8, ATTEND_ARG_VALUE_FORMAT);
  check.require(magnitude(problem.scale) < 0x7f800000u, ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALE);
  const uint32_t cap = bits_to<uint32_t>(problem.soft_cap);
  const bool is_cap = cap >= bits_to<uint32_t>(1e-30f) && cap <= bits_to<uint32_t>(1e30f);
  check.require(magnitude(problem.soft_cap) == 0 || is_cap, ATTEND_OUT_OF_RANGE, ATTEND_ARG_SOFT_CAP);
}

// A cache in the place of keys and values.
void check_cache_use(Check& check, const attend_problem& problem, Call& call) {
  check_cache(check, problem.cache);
  if (check.failed()) return;
  const attend_cache& cache = *problem.cache;
  check.require(is_default(problem.key), ATTEND_CONFLICT, ATTEND_ARG_KEY);
  check.require(is_default(problem.value), ATTEND_CONFLICT, ATTEND_ARG_VALUE);
  const auto agree = [](int format, int kept) { return format == ATTEND_DEFAULT_FORMAT || format == kept; };
  check.require(agree(problem.key_format, cache.key_format), ATTEND_CONFLICT, ATTEND_ARG_KEY_FORMAT);
  check.require(agree(problem.value_format, cache.value_format), ATTEND_CONFLICT, ATTEND_ARG_VALUE_FORMAT);
  check.require(origin_of(problem) == 0, ATTEND_CONFLICT, ATTEND_ARG_ORIGIN);
  check.require(problem.pages.table == nullptr, ATTEND_CONFLICT, ATTEND_ARG_PAGES);
  check.require(call.batch <= 1, ATTEND_CONFLICT, ATTEND_ARG_BATCH);
  check.require(is_of_shape(cache, problem), ATTEND_MISMATCH, ATTEND_ARG_CACHE);
  if (check.failed()) return;
  call.appends ? call.memory.write(check, cache_range(cache), ATTEND_ARG_CACHE) : call.memory.read(check, cache_range(cache));
}

// The number of keys, and of those that lie in arrays.
void check_keys(Check& check, const attend_problem& problem, Call& call) {
  if (problem.cache != nullptr) check_cache_use(check, problem, call);
  const ptrdiff_t keys = check_key_count(check, problem), origin = origin_of(problem);
  check.within(origin, 0, keys, ATTEND_ARG_ORIGIN);
  const bool lacks_tokens = problem.cache != nullptr && problem.keys == ATTEND_ALL_KEYS && keys == 0 && problem.queries > 0;
  check.require(call.runs_later || !lacks_tokens, ATTEND_AMBIGUOUS, ATTEND_ARG_KEYS);
  if (check.failed()) return;
  call.first.keys = int(keys);
  call.stored = problem.cache != nullptr || keys == 0 ? 0 : keys - origin;
  const ptrdiff_t* const lengths = problem.key_lengths;
  if (lengths == nullptr) return;
  check_key_lengths(check, call.memory, lengths, call.batch, problem.states != nullptr ? ATTEND_MAX_TOKENS : keys);
  call.key_lengths = lengths;
}

// The position of the queries among the keys: it must be clear, and matter.
void check_position(Check& check, const attend_problem& problem, Call& call) {
  const bool matters = is_positioned(problem), given = problem.offset != ATTEND_DEFAULT_OFFSET;
  call.queries_last = (problem.options & ATTEND_QUERIES_LAST) != 0;
  const attend_cache* const cache = problem.cache;
  const bool clear = cache != nullptr ? problem.queries <= cache->tokens : problem.queries == call.first.keys;
  const bool nobody = call.batch == 0 || problem.queries == 0;
  check_offset(check, problem, matters, clear || nobody);
  check.require(problem.states == nullptr || !call.queries_last, ATTEND_CONFLICT, ATTEND_ARG_OPTIONS);
  if (check.failed()) return;
  call.first.offset = int(given ? problem.offset : cache != nullptr ? cache->tokens - problem.queries : 0);
}

// With states `keys` is where a call stops: strides that would be dense of so many keys are not.
void check_growing(Check& check, const attend_problem& problem, const Call& call) {
  const bool grows = problem.states != nullptr && problem.pages.table == nullptr && call.stored > 0;
  const auto known = [&](const attend_input& input) {
    return (input.batch_stride != ATTEND_DENSE || call.batch <= 1) &&
           (input.head_stride != ATTEND_DENSE || problem.kv_heads == 1 || axes_of(problem) == Axes::token_head);
  };
  check.require(!grows || known(problem.key), ATTEND_AMBIGUOUS, ATTEND_ARG_KEY);
  check.require(!grows || known(problem.value), ATTEND_AMBIGUOUS, ATTEND_ARG_VALUE);
}

void check_inputs(Check& check, const attend_problem& problem, Call& call) {
  core::Problem& first = call.first;
  const auto place = [&](const attend_input& input, const Extent::Counts& counts, int format, attend_argument argument,
                         core::Tensor<const float>& tensor) {
    const Extent extent = extent_of(counts, {input.batch_stride, input.token_stride, input.head_stride}, axes_of(problem));
    const Place found = check.place(input.data, extent, format_bits(format), argument);
    call.memory.read(check, found.range);
    tensor = core_tensor<const float>(input.data, extent);
    return found.batch_step;
  };
  if (!call.of_layer) {
    call.query_step = place(problem.query, {call.batch, problem.queries, problem.query_heads, problem.head_dim},
                            problem.query_format, ATTEND_ARG_QUERY, first.query);
  }
  first.key = first.value = {first.query.data, 0, 0};  // not read: anything but null, which must not be counted from
  if (problem.cache != nullptr) {
    const attend_cache& cache = *problem.cache;
    const core::FormatCache memory = format_memory(cache);
    const ptrdiff_t slots = ptrdiff_t(core::panel_count(memory.capacity)) * panel_keys;
    first.key = {static_cast<const float*>(memory.keys), 0, slots * memory.head_dim};
    first.value = {static_cast<const float*>(memory.values), memory.value_dim, slots * memory.value_dim};
    if (is_plain(cache)) {
      const core::Cache plain = cache_memory(cache);
      first.key.data = plain.keys;
      first.value = {plain.values, plain.value_dim, ptrdiff_t(plain.capacity) * plain.value_dim};
    }
  } else if (call.stored > 0 && !call.of_layer) {
    check_growing(check, problem, call);
    const ptrdiff_t rows = problem.pages.table != nullptr && call.batch > 0 ? 1 : call.batch;  // all share the pages
    call.key_step = place(problem.key, {rows, call.stored, problem.kv_heads, problem.head_dim}, problem.key_format,
                          ATTEND_ARG_KEY, first.key);
    call.value_step = place(problem.value, {rows, call.stored, problem.kv_heads, problem.value_dim}, problem.value_format,
                            ATTEND_ARG_VALUE, first.value);
  }
}

// Whether anything is set that speaks of batch rows; a cache has only one.
bool has_rows(const attend_problem& problem) {
  return problem.cache == nullptr &&
         (problem.key_lengths != nullptr || problem.pages.table != nullptr || steps_by_rows(problem.query) ||
          steps_by_rows(problem.key) || steps_by_rows(problem.value) || steps_by_rows(problem.output) ||
          is_given_by_rows(problem.mask) || is_given_by_rows(problem.bias) || is_given_by_rows(problem.lse) ||
          is_given_by_rows(problem.scores) || is_given_by_rows(problem.key_scales) || is_given_by_rows(problem.value_scales));
}

}  // namespace

bool is_of_shape(const attend_cache& cache, const attend_problem& problem) {
  return problem.kv_heads == cache.kv_heads && problem.head_dim == cache.head_dim && problem.value_dim == cache.value_dim;
}

bool is_positioned(const attend_problem& problem) {
  return (problem.options & ATTEND_CAUSAL) != 0 || problem.window_left != ATTEND_NO_LIMIT ||
         problem.window_right != ATTEND_NO_LIMIT || problem.alibi_slopes != nullptr || problem.relative_bias.data != nullptr;
}

// Blocks as the typed surface takes them, by the keys that there can be, so that memory for a cache serves as it fills up.
void plan(Call& call, int most_keys) {
  core::Problem& problem = call.first;
  const auto smaller = [](int a, int b) { return a < b ? a : b; };
  const int queries = problem.queries <= 0 ? 1
                      : call.of_layer      ? smaller(problem.queries, config::layer_tokens)
                                           : problem.queries;
  const int rows = core::rows_per_kv_head(problem.query_heads, problem.kv_heads, queries);
  const int chains = core::whole_chains(most_keys > 0 ? most_keys : 1);
  const int one_row_block = smaller(chains, problem.key_panels ? config::decode_keys : config::key_block);
  const auto floats = [&](int row_block, int key_block) {
    return call.plain
               ? core::scratch_floats(row_block, key_block, problem.head_dim, problem.value_dim, most_keys, problem.key_panels)
               : core::option_scratch_floats(row_block, key_block, problem.head_dim, problem.value_dim);
  };
  problem.row_block = smaller(rows, call.plain ? config::row_block : config::option_row_block);
  problem.key_block = problem.row_block == 1 ? one_row_block : smaller(chains, config::key_block);
  const size_t one_row = floats(1, one_row_block);
  const size_t needed = problem.row_block == 1 ? one_row : floats(problem.row_block, problem.key_block);
  call.workspace_bytes = (one_row < needed ? needed : one_row) * sizeof(float);
}

void check_rows(Check& check, const attend_problem* problem, Call& call) {
  check.whole_struct(problem, alignof(attend_problem), sizeof *problem, ATTEND_ARG_PROBLEM);
  if (check.failed()) return;
  check.require((problem->options & ~(ATTEND_CAUSAL | ATTEND_QUERIES_LAST)) == 0, ATTEND_UNKNOWN, ATTEND_ARG_OPTIONS);
  const bool layout = problem->layout == ATTEND_BATCH_TOKEN_HEAD_DIM || problem->layout == ATTEND_BATCH_HEAD_TOKEN_DIM;
  check.require(layout, ATTEND_UNKNOWN, ATTEND_ARG_LAYOUT);
  const bool is_set = problem->batch != ATTEND_DEFAULT_BATCH;
  call.batch = is_set ? problem->batch : 1;
  check.within(call.batch, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_BATCH);
  check.require(is_set || call.one_sequence || !has_rows(*problem), ATTEND_AMBIGUOUS, ATTEND_ARG_BATCH);
  check.within(problem->queries, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_QUERIES);
  check.within(problem->query_heads, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_QUERY_HEADS);
  check.within(problem->value_dim, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_VALUE_DIM);
  if (check.failed()) return;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(problem);
  call.memory.read(check, {begin, begin + problem->size});
  call.first.queries = int(problem->queries);
  call.first.query_heads = int(problem->query_heads);
  call.first.value_dim = int(problem->value_dim);
}

ptrdiff_t check_key_count(Check& check, const attend_problem& problem) {
  if (check.failed()) return 0;
  const attend_cache* const cache = problem.cache;
  if (cache != nullptr && problem.keys == ATTEND_ALL_KEYS) return cache->tokens;
  check.within(problem.keys, 0, cache != nullptr ? cache->tokens : ATTEND_MAX_TOKENS, ATTEND_ARG_KEYS);
  return problem.keys;
}

void check_output(Check& check, const attend_problem& problem, Call& call) {
  check.format_of_pair(problem.output_format, problem.query_format, ATTEND_BFLOAT16, ATTEND_ARG_OUTPUT_FORMAT);
  if (check.failed()) return;
  const Extent output = call.rows(problem.output, problem.value_dim, axes_of(problem));
  const Place found = check.place_apart(problem.output.data, output, format_bits(problem.output_format), ATTEND_ARG_OUTPUT);
  call.memory.write(check, found.range, ATTEND_ARG_OUTPUT);
  call.output_step = found.batch_step;
  call.first.output = core_tensor<float>(problem.output.data, output);
}

void check_call(Check& check, const attend_problem* given, Call& call) {
  check_rows(check, given, call);
  if (check.failed()) return;
  const attend_problem& problem = *given;
  core::Problem& first = call.first;
  check_numbers(check, problem);
  check_heads(check, problem, ATTEND_MAX_WIDTH);
  if (!check.failed()) check_keys(check, problem, call);
  if (!check.failed()) check_pages(check, problem, call);
  if (!check.failed()) check_position(check, problem, call);
  if (check.failed()) return;
  first.kv_heads = int(problem.kv_heads);
  first.head_dim = int(problem.head_dim);
  first.output = {nullptr, 0, 0};
  first.scratch = nullptr;
  first.causal = (problem.options & ATTEND_CAUSAL) != 0;
  first.key_panels = problem.cache != nullptr;
  call.plain = is_plain(problem) && (problem.cache == nullptr || is_plain(*problem.cache));
  check_inputs(check, problem, call);
  if (!check.failed() && problem.states == nullptr && !call.of_layer) check_output(check, problem, call);
  if (!check.failed()) plan(call, problem.cache != nullptr ? problem.cache->max_tokens : first.keys);
}

}  // namespace c_surface
}  // namespace attend
