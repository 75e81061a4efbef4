// The key/value cache of the C surface: a head that can be told from garbage, then memory as core::Cache has it.
#include "c_api/surface.h"

namespace attend {
namespace c_surface {
namespace {

constexpr uint32_t cache_magic = 0x32437441;  // "AtC2": panels of keys
constexpr size_t head_bytes = (sizeof(attend_cache) + config::alignment - 1) / config::alignment * config::alignment;

// Changes whenever one field does: each step can be undone.
uint32_t check_of(const attend_cache& cache) {
  const int32_t fields[] = {cache.kv_heads,     cache.head_dim,    cache.value_dim,     cache.max_tokens, cache.key_format,
                            cache.value_format, cache.ring_groups, cache.pinned_groups, cache.tokens,     cache.most};
  uint32_t sum = cache.magic;
  for (const int32_t field : fields) {
    sum = (sum ^ uint32_t(field)) * 0x9e3779b1u;
    sum ^= sum >> 15;
  }
  return sum;
}

void set_tokens(attend_cache& cache, ptrdiff_t tokens) {
  cache.tokens = int32_t(tokens);
  if (tokens == 0 || tokens > cache.most) cache.most = cache.tokens;
  cache.check = check_of(cache);
}

// Tokens that there is memory for.
int capacity(const attend_cache& cache) {
  return cache.ring_groups > 0 ? (cache.pinned_groups + cache.ring_groups) * panel_keys : cache.max_tokens;
}

core::Format format(int32_t number) { return core::Format(number); }

// Bytes of a cache whose extents are within their limits; 0 when there cannot be so many.
size_t cache_bytes(const attend_cache& cache) {
  // Extents are at most 2^16, 2^16 + 2^16 and 2^30, so this bound of the floats cannot overflow.
  const uint64_t most =
      uint64_t(cache.kv_heads) * uint64_t(cache.head_dim + cache.value_dim + 2) * uint64_t(capacity(cache) + panel_keys);
  if (most > (uint64_t(PTRDIFF_MAX) - head_bytes) / sizeof(float)) return 0;
  const int tokens = capacity(cache), heads = cache.kv_heads;
  if (is_plain(cache)) {
    return head_bytes + sizeof(float) * (core::cache_key_floats(heads, cache.head_dim, tokens) +
                                         core::cache_value_floats(heads, cache.value_dim, tokens));
  }
  const size_t scales = sizeof(float) * core::typed_cache_scale_floats(heads, tokens);
  return head_bytes + core::typed_cache_key_bytes(format(cache.key_format), heads, cache.head_dim, tokens) +
         core::typed_cache_value_bytes(format(cache.value_format), heads, cache.value_dim, tokens) +
         (cache.key_format == ATTEND_INT8 ? scales : 0) + (cache.value_format == ATTEND_INT8 ? scales : 0);
}

constexpr bool is_format(int32_t number) { return number >= ATTEND_FLOAT32 && number <= ATTEND_INT8; }

constexpr int most_groups = ATTEND_MAX_TOKENS / panel_keys + 1;

// Extents, formats and tokens; whether it is a cache that was made here is another question.
bool is_possible(const attend_cache& cache) {
  return within(cache.kv_heads, 1, ATTEND_MAX_WIDTH) && within(cache.head_dim, 1, ATTEND_MAX_WIDTH) &&
         within(cache.value_dim, 1, ATTEND_MAX_WIDTH) && within(cache.max_tokens, 1, ATTEND_MAX_TOKENS) &&
         is_format(cache.key_format) && is_format(cache.value_format) && within(cache.ring_groups, 0, most_groups) &&
         within(cache.pinned_groups, 0, most_groups) && within(cache.tokens, 0, cache.max_tokens) &&
         within(cache.most, cache.tokens, cache.max_tokens);
}

// The head of a cache of that shape without tokens, and its size.
attend_status check_shape(const attend_cache_shape* shape, attend_cache& cache, size_t& bytes) {
  if (shape == nullptr || !aligned(shape, alignof(attend_cache_shape))) return ATTEND_NO_CACHE_SHAPE;
  const attend_status status = check_size(shape, shape->size, ATTEND_CACHE_SHAPE_SIZE_1, sizeof *shape);
  if (status != ATTEND_OK) return status;
  static const attend_cache_shape no_more = {};
  const attend_cache_shape& more = shape->size < sizeof *shape ? no_more : *shape;
  if (!is_format(more.key_format)) return ATTEND_BAD_KEY_FORMAT;
  if (!is_format(more.value_format)) return ATTEND_BAD_VALUE_FORMAT;
  if (!within(shape->kv_heads, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_KV_HEADS;
  if (!within(shape->head_dim, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_HEAD_DIM;
  if (!within(shape->value_dim, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_VALUE_DIM;
  if (!within(more.window_keys, 0, ATTEND_MAX_TOKENS) || !within(more.pinned_keys, 0, ATTEND_MAX_TOKENS) ||
      (more.window_keys == 0 && more.pinned_keys != 0)) {
    return ATTEND_BAD_RING;
  }
  if (!within(shape->max_tokens, 1, ATTEND_MAX_TOKENS)) return ATTEND_BAD_MAX_TOKENS;
  cache = {};
  cache.magic = cache_magic;
  cache.kv_heads = int32_t(shape->kv_heads);
  cache.head_dim = int32_t(shape->head_dim);
  cache.value_dim = int32_t(shape->value_dim);
  cache.max_tokens = int32_t(shape->max_tokens);
  cache.key_format = more.key_format;
  cache.value_format = more.value_format;
  // The last group may hold one token only.
  if (more.window_keys > 0) cache.ring_groups = core::panel_count(int(more.window_keys - 1)) + 1;
  cache.pinned_groups = core::panel_count(int(more.pinned_keys));
  set_tokens(cache, 0);
  bytes = cache_bytes(cache);
  return bytes == 0 ? ATTEND_HUGE_CACHE : ATTEND_OK;
}

// One tensor of an append.
attend_status check_append(const attend_input* input, const attend_cache& cache, ptrdiff_t tokens, int width,
                           attend_status none, Range& range) {
  if (input == nullptr) return none;
  const Extent extent = {{1, 0}, {tokens, input->token_stride}, {cache.kv_heads, input->head_stride}, width};
  return check_span(input->data, extent, float_bits, none, range);
}

core::Tensor<const float> tensor(const attend_input& input, ptrdiff_t tokens, int heads) {
  return {static_cast<const float*>(input.data), tokens > 1 ? input.token_stride : 0, heads > 1 ? input.head_stride : 0};
}

}  // namespace

bool is_plain(const attend_cache& cache) {
  return (cache.key_format | cache.value_format) == ATTEND_FLOAT32 && cache.ring_groups == 0;
}

attend_status check_cache(const attend_cache* cache) {
  if (cache == nullptr) return ATTEND_NO_CACHE;
  if (!aligned(cache, config::alignment) || cache->magic != cache_magic || cache->check != check_of(*cache) ||
      !is_possible(*cache)) {
    return ATTEND_CORRUPT_CACHE;
  }
  const size_t bytes = cache_bytes(*cache);
  return bytes == 0 || bytes > UINTPTR_MAX - reinterpret_cast<uintptr_t>(cache) ? ATTEND_CORRUPT_CACHE : ATTEND_OK;
}

Range cache_range(const attend_cache& cache) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(&cache);
  return {begin, begin + cache_bytes(cache)};
}

// The head does not say whether the memory may be written; who appends has a cache that is not const.
static void* memory_of(const attend_cache& cache) {
  return reinterpret_cast<char*>(const_cast<attend_cache*>(&cache)) + head_bytes;
}

core::Cache cache_memory(const attend_cache& cache) {
  float* keys = static_cast<float*>(memory_of(cache));
  return {keys,
          keys + core::cache_key_floats(cache.kv_heads, cache.head_dim, cache.max_tokens),
          cache.kv_heads,
          cache.head_dim,
          cache.value_dim,
          cache.max_tokens};
}

core::TypedCache typed_memory(const attend_cache& cache) {
  const core::Format key = format(cache.key_format), value = format(cache.value_format);
  const int tokens = capacity(cache), heads = cache.kv_heads;
  char* keys = static_cast<char*>(memory_of(cache));
  char* values = keys + core::typed_cache_key_bytes(key, heads, cache.head_dim, tokens);
  float* scales =
      static_cast<float*>(static_cast<void*>(values + core::typed_cache_value_bytes(value, heads, cache.value_dim, tokens)));
  float* value_scales = scales + (key == core::Format::int8 ? core::typed_cache_scale_floats(heads, tokens) : 0);
  return {keys,
          values,
          key == core::Format::int8 ? scales : nullptr,
          value == core::Format::int8 ? value_scales : nullptr,
          key,
          value,
          heads,
          cache.head_dim,
          cache.value_dim,
          tokens,
          {nullptr, 0, cache.ring_groups, cache.pinned_groups}};
}

}  // namespace c_surface
}  // namespace attend

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_cache_shape_init(attend_cache_shape* shape, size_t size) {
  if (shape == nullptr || !aligned(shape, alignof(attend_cache_shape))) return ATTEND_NO_CACHE_SHAPE;
  if ((size < sizeof *shape && size != ATTEND_CACHE_SHAPE_SIZE_1) || size > largest_struct) return ATTEND_BAD_STRUCT_SIZE;
  __builtin_memset(static_cast<void*>(shape), 0, size);
  shape->size = size;
  return ATTEND_OK;
}

attend_status attend_cache_check(const attend_cache_shape* shape) {
  attend_cache cache;
  size_t bytes;
  return check_shape(shape, cache, bytes);
}

size_t attend_cache_size(const attend_cache_shape* shape) {
  attend_cache cache;
  size_t bytes;
  return check_shape(shape, cache, bytes) == ATTEND_OK ? bytes : 0;
}

attend_status attend_cache_init(const attend_cache_shape* shape, void* memory, size_t memory_size, attend_cache** cache) {
  attend_cache head;
  size_t bytes;
  if (const attend_status status = check_shape(shape, head, bytes); status != ATTEND_OK) return status;
  if (memory == nullptr) return ATTEND_NO_MEMORY;
  if (!aligned(memory, config::alignment)) return ATTEND_UNALIGNED_MEMORY;
  if (memory_size < bytes || bytes > UINTPTR_MAX - reinterpret_cast<uintptr_t>(memory)) return ATTEND_SMALL_MEMORY;
  attend_cache* made = static_cast<attend_cache*>(memory);
  *made = head;
  if (cache != nullptr) *cache = made;
  return ATTEND_OK;
}

attend_status attend_cache_append(attend_cache* cache, ptrdiff_t tokens, const attend_input* key, const attend_input* value) {
  if (const attend_status status = check_cache(cache); status != ATTEND_OK) return status;
  if (!within(tokens, 0, ATTEND_MAX_TOKENS)) return ATTEND_BAD_TOKENS;
  if (tokens > cache->max_tokens - cache->tokens) return ATTEND_CACHE_FULL;
  if (tokens == 0) return ATTEND_OK;
  Range keys, values;
  attend_status status = check_append(key, *cache, tokens, cache->head_dim, ATTEND_NO_KEY, keys);
  if (status == ATTEND_OK) status = check_append(value, *cache, tokens, cache->value_dim, ATTEND_NO_VALUE, values);
  if (status != ATTEND_OK) return status;
  const Range own = cache_range(*cache);
  if (overlap(own, keys) || overlap(own, values)) return ATTEND_CACHE_OVERLAPS_INPUT;
  const core::Tensor<const float> new_keys = tensor(*key, tokens, cache->kv_heads);
  const core::Tensor<const float> new_values = tensor(*value, tokens, cache->kv_heads);
  if (is_plain(*cache)) {
    core::store(cache_memory(*cache), cache->tokens, int(tokens), new_keys, new_values);
  } else {
    core::store(typed_memory(*cache), cache->tokens, int(tokens), new_keys, new_values);
  }
  set_tokens(*cache, cache->tokens + tokens);
  return ATTEND_OK;
}

attend_status attend_cache_truncate(attend_cache* cache, ptrdiff_t tokens) {
  if (const attend_status status = check_cache(cache); status != ATTEND_OK) return status;
  if (!within(tokens, 0, cache->tokens)) return ATTEND_BAD_TOKENS;
  set_tokens(*cache, tokens);
  return ATTEND_OK;
}

attend_status attend_cache_reset(attend_cache* cache) { return attend_cache_truncate(cache, 0); }

ptrdiff_t attend_cache_tokens(const attend_cache* cache) { return check_cache(cache) == ATTEND_OK ? cache->tokens : -1; }

ptrdiff_t attend_cache_max_tokens(const attend_cache* cache) {
  return check_cache(cache) == ATTEND_OK ? cache->max_tokens : -1;
}

}  // extern "C"
