// Refuses what a problem of the C surface must not be, before anything is written. Order: that of the statuses' numbers.
#include "c_api/surface.h"

#include "numerics/bits.h"

namespace attend {
namespace c_surface {
namespace {

constexpr uint32_t positions = ATTEND_CAUSAL | ATTEND_WINDOW_LEFT | ATTEND_WINDOW_RIGHT;
constexpr uint32_t known_options = positions | ATTEND_QUERIES_LAST | ATTEND_STATE_BEGINS;

// Of a caller whose struct ends before them. Without dynamic initialization.
const attend_problem no_more = {};

// Whether core::run does without options. What has no effect by itself, such as a scale without int8, is not looked at. All
// fields by name: one that attend_problem gets does not compile here until somebody has said what it is.
bool is_plain(const attend_problem& problem, const attend_problem& more) {
  [[maybe_unused]] const auto& [size, options, scale, batch, query_heads, kv_heads, head_dim, value_dim, queries, keys, offset,
                                key_lengths, query, key, value, output, cache, window_left, window_right, pinned_keys, mask,
                                bias, slopes, relative, sinks, soft_cap, query_format, key_format, value_format, output_format,
                                key_scales, value_scales, lse, scores, origin, pages, states, first_key] = more;
  const bool masked = mask.data != nullptr || mask.kind != 0 || bias.data != nullptr || bias.kind != 0;
  const bool biased = slopes != nullptr || relative.data != nullptr || sinks != nullptr || soft_cap != 0.0f;
  const bool results = lse.data != nullptr || scores.data != nullptr || states != nullptr || first_key != 0;
  const bool elsewhere =
      (query_format | key_format | value_format | output_format) != 0 || origin != 0 || pages.table != nullptr;
  return (problem.options & ~ATTEND_CAUSAL) == 0 && !masked && !biased && !results && !elsewhere && pinned_keys == 0;
}

constexpr bool is_format(int format, int last) { return format >= ATTEND_FLOAT32 && format <= last; }

// Keys and values of a cache are of the cache's formats.
attend_status check_formats(const attend_problem& problem, const attend_problem& more, Use use) {
  const bool arrays = use == Use::run && problem.cache == nullptr;
  if (use == Use::run && !is_format(more.query_format, ATTEND_BFLOAT16)) return ATTEND_BAD_QUERY_FORMAT;
  if (arrays && !is_format(more.key_format, ATTEND_INT8)) return ATTEND_BAD_KEY_FORMAT;
  if (arrays && !is_format(more.value_format, ATTEND_INT8)) return ATTEND_BAD_VALUE_FORMAT;
  return is_format(more.output_format, ATTEND_BFLOAT16) ? ATTEND_OK : ATTEND_BAD_OUTPUT_FORMAT;
}

attend_status check_extents(const attend_problem& problem, const attend_problem& more) {
  if (!within(problem.batch, 1, ATTEND_MAX_TOKENS)) return ATTEND_BAD_BATCH;
  if (!within(problem.query_heads, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_QUERY_HEADS;
  if (!within(problem.kv_heads, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_KV_HEADS;
  if (problem.query_heads % problem.kv_heads != 0) return ATTEND_UNEVEN_HEADS;
  if (!within(problem.head_dim, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_HEAD_DIM;
  if (!within(problem.value_dim, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_VALUE_DIM;
  if (!within(problem.queries, 1, ATTEND_MAX_TOKENS)) return ATTEND_BAD_QUERIES;
  if (problem.queries > ATTEND_MAX_ROWS / (problem.query_heads / problem.kv_heads)) return ATTEND_TOO_MANY_ROWS;
  if (magnitude(problem.scale) >= 0x7f800000u) return ATTEND_BAD_SCALE;
  const uint32_t cap = bits_to<uint32_t>(more.soft_cap);
  const bool is_cap = cap >= bits_to<uint32_t>(1e-30f) && cap <= bits_to<uint32_t>(1e30f);
  return magnitude(more.soft_cap) == 0 || is_cap ? ATTEND_OK : ATTEND_BAD_SOFT_CAP;
}

// How many keys there are, which with a cache the cache knows.
attend_status check_keys(const attend_problem& problem, const attend_problem& more, ptrdiff_t& keys) {
  keys = problem.keys;
  if (problem.cache == nullptr) return within(keys, 0, ATTEND_MAX_TOKENS) ? ATTEND_OK : ATTEND_BAD_KEYS;
  if (const attend_status status = check_cache(problem.cache); status != ATTEND_OK) return status;
  const attend_cache& cache = *problem.cache;
  if (problem.key.data != nullptr || problem.value.data != nullptr) return ATTEND_CACHE_AND_ARRAYS;
  if (problem.batch != 1) return ATTEND_CACHE_AND_BATCH;
  if (problem.kv_heads != cache.kv_heads || problem.head_dim != cache.head_dim || problem.value_dim != cache.value_dim) {
    return ATTEND_OTHER_CACHE_SHAPE;
  }
  if (keys == ATTEND_ALL_KEYS) keys = cache.tokens;
  if (!within(keys, 0, cache.tokens)) return ATTEND_BAD_KEYS;
  const bool standing = (problem.options & ATTEND_QUERIES_LAST) == 0 && problem.offset == ATTEND_DEFAULT_OFFSET;
  const bool placed = (problem.options & positions) != 0 || more.slopes != nullptr || more.relative.data != nullptr;
  return standing && placed && problem.queries > cache.tokens ? ATTEND_TOO_FEW_TOKENS : ATTEND_OK;
}

attend_status check_lengths(const attend_problem& problem, ptrdiff_t keys, Range& range) {
  if (problem.key_lengths == nullptr) return ATTEND_OK;
  if (!array_range(problem.key_lengths, size_t(problem.batch), sizeof(ptrdiff_t), range)) return ATTEND_UNALIGNED_KEY_LENGTHS;
  for (ptrdiff_t row = 0; row < problem.batch; ++row) {
    if (!within(problem.key_lengths[row], 0, keys)) return ATTEND_BAD_KEY_LENGTH;
  }
  return ATTEND_OK;
}

// As an int: what is visible stays the same beyond these.
int core_offset(const attend_problem& problem) {
  ptrdiff_t offset = problem.offset;
  if (offset == ATTEND_DEFAULT_OFFSET) offset = problem.cache != nullptr ? problem.cache->tokens - problem.queries : 0;
  if (offset > ATTEND_MAX_TOKENS) return ATTEND_MAX_TOKENS;
  return offset < -ATTEND_MAX_TOKENS ? -ATTEND_MAX_TOKENS : int(offset);
}

// Blocks as the typed surface takes them, by the keys that there can be, so that memory for a cache serves as it fills up.
void plan(core::Problem& problem, int most_keys, bool plain, size_t& workspace_bytes) {
  const auto smaller = [](int a, int b) { return a < b ? a : b; };
  const int rows = core::rows_per_kv_head(problem.query_heads, problem.kv_heads, problem.queries);
  const int chains = core::whole_chains(most_keys > 0 ? most_keys : 1);
  const int one_row_block = smaller(chains, problem.key_panels ? config::decode_keys : config::key_block);
  const auto floats = [&](int row_block, int key_block) {
    return plain
               ? core::scratch_floats(row_block, key_block, problem.head_dim, problem.value_dim, most_keys, problem.key_panels)
               : core::option_scratch_floats(row_block, key_block, problem.head_dim, problem.value_dim);
  };
  problem.row_block = smaller(rows, plain ? config::row_block : config::option_row_block);
  problem.key_block = problem.row_block == 1 ? one_row_block : smaller(chains, config::key_block);
  const size_t one_row = floats(1, one_row_block), needed = floats(problem.row_block, problem.key_block);
  workspace_bytes = (one_row < needed ? needed : one_row) * sizeof(float);
}

}  // namespace

const attend_problem& more_of(const attend_problem& problem) {
  return problem.size < sizeof(attend_problem) ? no_more : problem;
}

ptrdiff_t array_keys(const attend_problem& problem, ptrdiff_t keys) {
  const attend_problem& more = more_of(problem);
  const attend_pages& pages = more.pages;
  if (pages.table == nullptr) return within(more.origin, 0, keys) ? keys - more.origin : keys;
  const bool fit = pages.page_keys > 0 && pages.count > 0 && pages.count <= ATTEND_MAX_TOKENS / pages.page_keys;
  return fit ? pages.count * pages.page_keys : keys;
}

attend_status check_problem(const attend_problem* given, Use use, Checked& checked) {
  if (given == nullptr || !aligned(given, alignof(attend_problem))) return ATTEND_NO_PROBLEM;
  const attend_problem& problem = *given;
  attend_status status = check_size(given, problem.size, ATTEND_PROBLEM_SIZE_1, sizeof problem);
  if (status != ATTEND_OK) return status;
  const uint32_t known = problem.size == ATTEND_PROBLEM_SIZE_1 ? uint32_t(ATTEND_CAUSAL) : known_options;
  if ((problem.options & ~known) != 0) return ATTEND_UNKNOWN_OPTION;
  const attend_problem& more = more_of(problem);
  const attend_cache* cache = use == Use::run ? problem.cache : nullptr;
  ptrdiff_t keys = 0;
  status = check_formats(problem, more, use);
  if (status == ATTEND_OK) status = check_extents(problem, more);
  if (status == ATTEND_OK && use == Use::run) status = check_keys(problem, more, keys);
  if (status != ATTEND_OK) return status;
  const bool moved_origin = use == Use::run && more.origin != 0;
  if (moved_origin && (!within(more.origin, 0, keys) || cache != nullptr || more.pages.table != nullptr))
    return ATTEND_BAD_ORIGIN;

  const ptrdiff_t batch = problem.batch, stored = array_keys(problem, keys);
  const bool paged = more.pages.table != nullptr;
  const bool arrays = cache == nullptr && keys > 0 && stored > 0;
  const bool writes = use == Use::finish || (use == Use::run && more.states == nullptr);
  const ptrdiff_t rows = paged ? 1 : batch;  // of keys and values: all share the pages
  const Extent query = extent_of(problem.query, batch, problem.queries, problem.query_heads, problem.head_dim);
  const Extent key = extent_of(problem.key, rows, stored, problem.kv_heads, problem.head_dim);
  const Extent value = extent_of(problem.value, rows, stored, problem.kv_heads, problem.value_dim);
  const Extent output = extent_of(problem.output, batch, problem.queries, problem.query_heads, problem.value_dim);
  const int query_bits = format_bits(more.query_format), output_bits = format_bits(more.output_format);
  const int key_bits = format_bits(more.key_format), value_bits = format_bits(more.value_format);
  Range(&inputs)[6] = checked.inputs;
  for (Range& range : inputs) range = {0, 0};
  checked.output = {0, 0};
  if (use == Use::run) status = check_span(problem.query.data, query, query_bits, ATTEND_NO_QUERY, inputs[0]);
  if (status == ATTEND_OK && arrays) status = check_span(problem.key.data, key, key_bits, ATTEND_NO_KEY, inputs[1]);
  if (status == ATTEND_OK && arrays) status = check_span(problem.value.data, value, value_bits, ATTEND_NO_VALUE, inputs[2]);
  if (status == ATTEND_OK && writes)
    status = check_span(problem.output.data, output, output_bits, ATTEND_NO_OUTPUT, checked.output);
  if (status == ATTEND_OK && writes && !apart(output)) status = ATTEND_BAD_OUTPUT_STRIDES;
  if (status == ATTEND_OK && use == Use::run) status = check_lengths(problem, keys, inputs[3]);
  if (status != ATTEND_OK) return status;
  if (cache != nullptr) inputs[4] = cache_range(*cache);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(given);
  inputs[5] = {begin, begin + problem.size};
  for (int i = 0; i < 6; ++i) {
    if (overlap(inputs[i], checked.output)) return attend_status(ATTEND_OUTPUT_OVERLAPS_QUERY + i);
  }

  core::Problem& first = checked.first;
  first.query = core_tensor<const float>(problem.query.data, query);
  first.output = writes ? core_tensor<float>(problem.output.data, output) : core::Tensor<float>{nullptr, 0, 0};
  if (cache != nullptr && is_plain(*cache)) {
    const core::Cache memory = cache_memory(*cache);
    const ptrdiff_t panels = ptrdiff_t(core::panel_count(memory.capacity)) * panel_keys;
    first.key = {memory.keys, 0, panels * memory.head_dim};
    first.value = {memory.values, memory.value_dim, ptrdiff_t(memory.capacity) * memory.value_dim};
  } else if (cache != nullptr) {
    const core::TypedCache memory = typed_memory(*cache);
    const ptrdiff_t panels = ptrdiff_t(core::panel_count(memory.capacity)) * panel_keys;
    first.key = {static_cast<const float*>(memory.keys), 0, panels * memory.head_dim};
    first.value = {static_cast<const float*>(memory.values), memory.value_dim, panels * memory.value_dim};
  } else if (arrays) {
    first.key = core_tensor<const float>(problem.key.data, key);
    first.value = core_tensor<const float>(problem.value.data, value);
  } else {
    // Not read: anything but null, which must not be counted from.
    first.key = first.value = {static_cast<const float*>(problem.query.data), 0, 0};
  }
  first.query_heads = int(problem.query_heads);
  first.kv_heads = int(problem.kv_heads);
  first.head_dim = int(problem.head_dim);
  first.value_dim = int(problem.value_dim);
  first.queries = int(problem.queries);
  first.keys = int(keys);
  first.offset = core_offset(problem);
  first.scale = problem.scale;
  constexpr float usual = ATTEND_DEFAULT_SCALE;
  if (bits_to<uint32_t>(problem.scale) == bits_to<uint32_t>(usual)) first.scale = usual_scale(first.head_dim);
  first.causal = (problem.options & ATTEND_CAUSAL) != 0;
  first.key_panels = cache != nullptr;
  first.scratch = nullptr;
  checked.batch = batch;
  checked.query_step = use == Use::run ? step(query.batch) * (query_bits / 8) : 0;
  checked.output_step = writes ? step(output.batch) * (output_bits / 8) : 0;
  checked.key_step = arrays ? step(key.batch) * (key_bits / 8) : 0;
  checked.value_step = arrays ? step(value.batch) * (value_bits / 8) : 0;
  checked.key_lengths = use == Use::run ? problem.key_lengths : nullptr;
  checked.plain = use == Use::run && is_plain(problem, more) && (cache == nullptr || is_plain(*cache));
  plan(first, cache != nullptr ? cache->max_tokens : first.keys, checked.plain, checked.workspace_bytes);
  return ATTEND_OK;
}

}  // namespace c_surface
}  // namespace attend
