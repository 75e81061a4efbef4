// The key/value cache of the C surface: a head that can be told from garbage, then memory as core::Cache has it.
#include "c_surface.h"

namespace attend {
namespace c_surface {
namespace {

constexpr uint32_t cache_magic = 0x31437441;  // "AtC1": floats, keys in panels
constexpr size_t head_bytes = (sizeof(attend_cache) + config::alignment - 1) / config::alignment * config::alignment;

// Changes whenever one field does: each step can be undone.
uint32_t check_of(const attend_cache& cache) {
  const int32_t fields[] = {cache.kv_heads, cache.head_dim, cache.value_dim, cache.max_tokens, cache.tokens};
  uint32_t sum = cache.magic;
  for (const int32_t field : fields) {
    sum = (sum ^ uint32_t(field)) * 0x9e3779b1u;
    sum ^= sum >> 15;
  }
  return sum;
}

void set_tokens(attend_cache& cache, ptrdiff_t tokens) {
  cache.tokens = int32_t(tokens);
  cache.check = check_of(cache);
}

// Bytes of a cache whose extents are within their limits; 0 when there cannot be so many.
size_t cache_bytes(int kv_heads, int head_dim, int value_dim, int max_tokens) {
  // Extents are at most 2^16, 2^16 + 2^16 and 2^29, so this bound of the floats cannot overflow.
  const uint64_t most = uint64_t(kv_heads) * uint64_t(head_dim + value_dim) * uint64_t(max_tokens + panel_keys);
  if (most > (uint64_t(PTRDIFF_MAX) - head_bytes) / sizeof(float)) return 0;
  return head_bytes + sizeof(float) * (core::cache_key_floats(kv_heads, head_dim, max_tokens) +
                                       core::cache_value_floats(kv_heads, value_dim, max_tokens));
}

attend_status check_shape(const attend_cache_shape* shape, size_t& bytes) {
  if (shape == nullptr || !aligned(shape, alignof(attend_cache_shape))) return ATTEND_NO_CACHE_SHAPE;
  if (const attend_status status = check_size(shape, shape->size, sizeof *shape, sizeof *shape); status != ATTEND_OK)
    return status;
  if (!within(shape->kv_heads, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_KV_HEADS;
  if (!within(shape->head_dim, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_HEAD_DIM;
  if (!within(shape->value_dim, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_VALUE_DIM;
  if (!within(shape->max_tokens, 1, ATTEND_MAX_TOKENS)) return ATTEND_BAD_MAX_TOKENS;
  bytes = cache_bytes(int(shape->kv_heads), int(shape->head_dim), int(shape->value_dim), int(shape->max_tokens));
  return bytes == 0 ? ATTEND_HUGE_CACHE : ATTEND_OK;
}

// One tensor of an append.
attend_status check_append(const attend_input* input, const attend_cache& cache, ptrdiff_t tokens, int width,
                           attend_status none, Range& range) {
  if (input == nullptr) return none;
  const Extent extent = {{1, 0}, {tokens, input->token_stride}, {cache.kv_heads, input->head_stride}, width};
  return check_span(input->data, extent, 8 * int(sizeof(float)), none, range);
}

core::Tensor<const float> tensor(const attend_input& input, ptrdiff_t tokens, int heads) {
  return {static_cast<const float*>(input.data), tokens > 1 ? input.token_stride : 0, heads > 1 ? input.head_stride : 0};
}

}  // namespace

attend_status check_cache(const attend_cache* cache) {
  if (cache == nullptr) return ATTEND_NO_CACHE;
  if (!aligned(cache, config::alignment) || cache->magic != cache_magic || cache->check != check_of(*cache) ||
      !within(cache->kv_heads, 1, ATTEND_MAX_WIDTH) || !within(cache->head_dim, 1, ATTEND_MAX_WIDTH) ||
      !within(cache->value_dim, 1, ATTEND_MAX_WIDTH) || !within(cache->max_tokens, 1, ATTEND_MAX_TOKENS) ||
      !within(cache->tokens, 0, cache->max_tokens)) {
    return ATTEND_CORRUPT_CACHE;
  }
  const size_t bytes = cache_bytes(cache->kv_heads, cache->head_dim, cache->value_dim, cache->max_tokens);
  return bytes == 0 || bytes > UINTPTR_MAX - reinterpret_cast<uintptr_t>(cache) ? ATTEND_CORRUPT_CACHE : ATTEND_OK;
}

Range cache_range(const attend_cache& cache) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(&cache);
  return {begin, begin + cache_bytes(cache.kv_heads, cache.head_dim, cache.value_dim, cache.max_tokens)};
}

core::Cache cache_memory(const attend_cache& cache) {
  // The head does not say whether the memory may be written; who appends has a cache that is not const.
  char* memory = reinterpret_cast<char*>(const_cast<attend_cache*>(&cache)) + head_bytes;
  float* keys = static_cast<float*>(static_cast<void*>(memory));
  return {keys,
          keys + core::cache_key_floats(cache.kv_heads, cache.head_dim, cache.max_tokens),
          cache.kv_heads,
          cache.head_dim,
          cache.value_dim,
          cache.max_tokens};
}

}  // namespace c_surface
}  // namespace attend

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_cache_shape_init(attend_cache_shape* shape, size_t size) {
  if (shape == nullptr || !aligned(shape, alignof(attend_cache_shape))) return ATTEND_NO_CACHE_SHAPE;
  if (size < sizeof *shape || size > largest_struct) return ATTEND_BAD_STRUCT_SIZE;
  __builtin_memset(static_cast<void*>(shape), 0, size);
  shape->size = size;
  return ATTEND_OK;
}

attend_status attend_cache_check(const attend_cache_shape* shape) {
  size_t bytes;
  return check_shape(shape, bytes);
}

size_t attend_cache_size(const attend_cache_shape* shape) {
  size_t bytes;
  return check_shape(shape, bytes) == ATTEND_OK ? bytes : 0;
}

attend_status attend_cache_init(const attend_cache_shape* shape, void* memory, size_t memory_size, attend_cache** cache) {
  size_t bytes;
  if (const attend_status status = check_shape(shape, bytes); status != ATTEND_OK) return status;
  if (memory == nullptr) return ATTEND_NO_MEMORY;
  if (!aligned(memory, config::alignment)) return ATTEND_UNALIGNED_MEMORY;
  if (memory_size < bytes || bytes > UINTPTR_MAX - reinterpret_cast<uintptr_t>(memory)) return ATTEND_SMALL_MEMORY;
  attend_cache* made = static_cast<attend_cache*>(memory);
  made->magic = cache_magic;
  made->kv_heads = int32_t(shape->kv_heads);
  made->head_dim = int32_t(shape->head_dim);
  made->value_dim = int32_t(shape->value_dim);
  made->max_tokens = int32_t(shape->max_tokens);
  set_tokens(*made, 0);
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
  core::store(cache_memory(*cache), cache->tokens, int(tokens), tensor(*key, tokens, cache->kv_heads),
              tensor(*value, tokens, cache->kv_heads));
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
