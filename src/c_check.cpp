// Refuses what a problem of the C surface must not be, before anything is written. Order: that of the statuses' numbers.
#include "c_surface.h"

#include "bits.h"

namespace attend {
namespace c_surface {
namespace {

constexpr ptrdiff_t most_floats = PTRDIFF_MAX / ptrdiff_t(sizeof(float));

// Moves one end of a range of floats by what an axis spans: false when that cannot be counted.
bool reach(const Axis& axis, ptrdiff_t& low, ptrdiff_t& high) {
  ptrdiff_t distance;
  if (__builtin_mul_overflow(axis.count - 1, axis.stride, &distance)) return false;
  ptrdiff_t& end = distance < 0 ? low : high;
  return !__builtin_add_overflow(end, distance, &end);
}

// How far it is from one element of an axis to the next, whichever way.
size_t distance(const Axis& axis) { return axis.stride < 0 ? size_t(0) - size_t(axis.stride) : size_t(axis.stride); }

// Whether no two elements are one: each axis, beginning with the shortest step, steps over all that those before it span.
// The tensor is known to fit, so sums cannot overflow.
bool apart(const Extent& extent) {
  const Axis* axes[] = {&extent.head, &extent.token, &extent.batch};
  for (int sorted = 1; sorted < 3; ++sorted) {
    for (int i = sorted; i > 0 && distance(*axes[i]) < distance(*axes[i - 1]); --i) {
      const Axis* longer = axes[i - 1];
      axes[i - 1] = axes[i];
      axes[i] = longer;
    }
  }
  size_t spanned = size_t(extent.width);
  for (const Axis* axis : axes) {
    if (axis->count <= 1) continue;
    if (distance(*axis) < spanned) return false;
    spanned += size_t(axis->count - 1) * distance(*axis);
  }
  return true;
}

// The range of an array of whole objects; false where it does not fit into the address space.
bool array_range(const void* data, size_t count, size_t size, Range& range) {
  range.begin = reinterpret_cast<uintptr_t>(data);
  if (count > (UINTPTR_MAX - range.begin) / size) return false;
  range.end = range.begin + count * size;
  return true;
}

attend_status check_extents(const attend_problem& problem) {
  if (!within(problem.batch, 1, ATTEND_MAX_TOKENS)) return ATTEND_BAD_BATCH;
  if (!within(problem.query_heads, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_QUERY_HEADS;
  if (!within(problem.kv_heads, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_KV_HEADS;
  if (problem.query_heads % problem.kv_heads != 0) return ATTEND_UNEVEN_HEADS;
  if (!within(problem.head_dim, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_HEAD_DIM;
  if (!within(problem.value_dim, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_VALUE_DIM;
  if (!within(problem.queries, 1, ATTEND_MAX_TOKENS)) return ATTEND_BAD_QUERIES;
  if (problem.queries > ATTEND_MAX_ROWS / (problem.query_heads / problem.kv_heads)) return ATTEND_TOO_MANY_ROWS;
  if (magnitude(problem.scale) >= 0x7f800000u) return ATTEND_BAD_SCALE;
  return ATTEND_OK;
}

// How many keys there are, which with a cache the cache knows.
attend_status check_keys(const attend_problem& problem, ptrdiff_t& keys) {
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
  const bool last_tokens = (problem.options & ATTEND_CAUSAL) != 0 && problem.offset == ATTEND_DEFAULT_OFFSET;
  return last_tokens && problem.queries > cache.tokens ? ATTEND_TOO_FEW_TOKENS : ATTEND_OK;
}

attend_status check_lengths(const attend_problem& problem, ptrdiff_t keys, Range& range) {
  if (problem.key_lengths == nullptr) return ATTEND_OK;
  if (!aligned(problem.key_lengths, alignof(ptrdiff_t)) ||
      !array_range(problem.key_lengths, size_t(problem.batch), sizeof(ptrdiff_t), range)) {
    return ATTEND_UNALIGNED_KEY_LENGTHS;
  }
  for (ptrdiff_t row = 0; row < problem.batch; ++row) {
    if (!within(problem.key_lengths[row], 0, keys)) return ATTEND_BAD_KEY_LENGTH;
  }
  return ATTEND_OK;
}

// Whether a tensor can be where it is said to be; `none` is the status of one that is not there, before those of the other two
// faults.
attend_status check_span(const float* data, const Extent& extent, attend_status none, Range& range) {
  const Span found = span(data, extent, range);
  return found == Span::fits ? ATTEND_OK : attend_status(int(none) + int(found) - int(Span::none));
}

// The stride of an axis, 0 where there is nowhere to step.
ptrdiff_t step(const Axis& axis) { return axis.count > 1 ? axis.stride : 0; }

template <class Tensor>
Extent extent_of(const Tensor& tensor, ptrdiff_t batch, ptrdiff_t tokens, ptrdiff_t heads, ptrdiff_t width) {
  return {{batch, tensor.batch_stride}, {tokens, tensor.token_stride}, {heads, tensor.head_stride}, width};
}

template <class Float>
core::Tensor<Float> core_tensor(Float* data, const Extent& extent) {
  return {data, step(extent.token), step(extent.head)};
}

// As an int: what is visible stays the same beyond these.
int core_offset(const attend_problem& problem) {
  ptrdiff_t offset = problem.offset;
  if (offset == ATTEND_DEFAULT_OFFSET) offset = problem.cache != nullptr ? problem.cache->tokens - problem.queries : 0;
  if (offset > ATTEND_MAX_TOKENS) return ATTEND_MAX_TOKENS;
  return offset < -ATTEND_MAX_TOKENS ? -ATTEND_MAX_TOKENS : int(offset);
}

// Blocks as the typed surface takes them, by the keys that there can be, so that memory for a cache serves as it fills up.
void plan(core::Problem& problem, int most_keys, size_t& workspace_bytes) {
  const auto smaller = [](int a, int b) { return a < b ? a : b; };
  const int rows = core::rows_per_kv_head(problem.query_heads, problem.kv_heads, problem.queries);
  const int chains = core::whole_chains(most_keys > 0 ? most_keys : 1);
  const int one_row_block = smaller(chains, problem.key_panels ? config::decode_keys : config::key_block);
  const auto floats = [&](int row_block, int key_block) {
    return core::scratch_floats(row_block, key_block, problem.head_dim, problem.value_dim, most_keys, problem.key_panels);
  };
  problem.row_block = smaller(rows, config::row_block);
  problem.key_block = problem.row_block == 1 ? one_row_block : smaller(chains, config::key_block);
  const size_t one_row = floats(1, one_row_block), needed = floats(problem.row_block, problem.key_block);
  workspace_bytes = (one_row < needed ? needed : one_row) * sizeof(float);
}

}  // namespace

Span span(const float* data, const Extent& extent, Range& range) {
  if (data == nullptr) return Span::none;
  if (!aligned(data, sizeof(float))) return Span::unaligned;
  ptrdiff_t low = 0, high = extent.width;
  if (!reach(extent.batch, low, high) || !reach(extent.token, low, high) || !reach(extent.head, low, high)) return Span::huge;
  if (low < -most_floats || high > most_floats + low) return Span::huge;
  const uintptr_t at = reinterpret_cast<uintptr_t>(data);
  const size_t before = size_t(-low) * sizeof(float), after = size_t(high) * sizeof(float);
  if (before > at || after > UINTPTR_MAX - at) return Span::huge;
  range = {at - before, at + after};
  return Span::fits;
}

attend_status check_size(const void* whole, size_t size, size_t known) {
  if (size < known || size > largest_struct) return ATTEND_BAD_STRUCT_SIZE;
  const unsigned char* bytes = static_cast<const unsigned char*>(whole);
  for (size_t i = known; i < size; ++i) {
    if (bytes[i] != 0) return ATTEND_NEWER_STRUCT;
  }
  return ATTEND_OK;
}

attend_status check_problem(const attend_problem* given, Checked& checked) {
  if (given == nullptr || !aligned(given, alignof(attend_problem))) return ATTEND_NO_PROBLEM;
  const attend_problem& problem = *given;
  if (const attend_status status = check_size(given, problem.size, sizeof problem); status != ATTEND_OK) return status;
  if ((problem.options & ~ATTEND_CAUSAL) != 0) return ATTEND_UNKNOWN_OPTION;
  if (const attend_status status = check_extents(problem); status != ATTEND_OK) return status;
  ptrdiff_t keys;
  if (const attend_status status = check_keys(problem, keys); status != ATTEND_OK) return status;

  const ptrdiff_t batch = problem.batch;
  const Extent query = extent_of(problem.query, batch, problem.queries, problem.query_heads, problem.head_dim);
  const Extent key = extent_of(problem.key, batch, keys, problem.kv_heads, problem.head_dim);
  const Extent value = extent_of(problem.value, batch, keys, problem.kv_heads, problem.value_dim);
  const Extent output = extent_of(problem.output, batch, problem.queries, problem.query_heads, problem.value_dim);
  const bool arrays = problem.cache == nullptr && keys > 0;
  Range(&inputs)[6] = checked.inputs;
  for (Range& range : inputs) range = {0, 0};
  attend_status status = check_span(problem.query.data, query, ATTEND_NO_QUERY, inputs[0]);
  if (status == ATTEND_OK && arrays) status = check_span(problem.key.data, key, ATTEND_NO_KEY, inputs[1]);
  if (status == ATTEND_OK && arrays) status = check_span(problem.value.data, value, ATTEND_NO_VALUE, inputs[2]);
  if (status == ATTEND_OK) status = check_span(problem.output.data, output, ATTEND_NO_OUTPUT, checked.output);
  if (status == ATTEND_OK && !apart(output)) status = ATTEND_BAD_OUTPUT_STRIDES;
  if (status == ATTEND_OK) status = check_lengths(problem, keys, inputs[3]);
  if (status != ATTEND_OK) return status;
  if (problem.cache != nullptr) inputs[4] = cache_range(*problem.cache);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(given);
  inputs[5] = {begin, begin + problem.size};
  for (int i = 0; i < 6; ++i) {
    if (overlap(inputs[i], checked.output)) return attend_status(ATTEND_OUTPUT_OVERLAPS_QUERY + i);
  }

  core::Problem& first = checked.first;
  first.query = core_tensor(problem.query.data, query);
  first.output = core_tensor(problem.output.data, output);
  if (problem.cache != nullptr) {
    const core::Cache memory = cache_memory(*problem.cache);
    const ptrdiff_t panels = ptrdiff_t(core::panel_count(memory.capacity)) * panel_keys;
    first.key = {memory.keys, 0, panels * memory.head_dim};
    first.value = {memory.values, memory.value_dim, ptrdiff_t(memory.capacity) * memory.value_dim};
  } else if (arrays) {
    first.key = core_tensor(problem.key.data, key);
    first.value = core_tensor(problem.value.data, value);
  } else {
    first.key = first.value = {problem.query.data, 0, 0};  // not read: anything but null, which must not be counted from
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
  first.key_panels = problem.cache != nullptr;
  first.scratch = nullptr;
  checked.batch = batch;
  checked.query_step = step(query.batch);
  checked.output_step = step(output.batch);
  checked.key_step = arrays ? step(key.batch) : 0;
  checked.value_step = arrays ? step(value.batch) : 0;
  plan(first, problem.cache != nullptr ? problem.cache->max_tokens : first.keys, checked.workspace_bytes);
  return ATTEND_OK;
}

}  // namespace c_surface
}  // namespace attend
