// The key/value cache of the C surface: a head that can be told from garbage, then memory as the core has it.
#include "surface.h"

#include "../../include/attend/c/integer.h"
#include "../call/portable.h"

namespace attend::c_surface {
namespace {

constexpr uint32_t cache_magic = 0x32437441;  // "AtC2": panels of keys
constexpr size_t aligned_bytes(size_t bytes) { return (bytes + config::alignment - 1) / config::alignment * config::alignment; }
constexpr size_t head_bytes = aligned_bytes(sizeof(attend_cache));

// Tokens that there is memory for.
int capacity(const attend_cache& cache) {
  return cache.ring_panels > 0 ? (cache.sink_panels + cache.ring_panels) * panel_keys_of(cache) : cache.max_tokens;
}

core::Format format(int32_t number) { return core::Format(number); }

// A format of a shape without ATTEND_SATURATED.
constexpr int format_alone(int format) { return format & ~ATTEND_SATURATED; }
constexpr bool saturates(int format) { return (format & ATTEND_SATURATED) != 0; }

// Bytes of a cache whose extents are within their limits; 0 when there cannot be so many.
size_t cache_bytes(const attend_cache& cache) {
  // Extents are at most 2^16, 2^16 + 2^16 and 2^30, so this bound of the floats cannot overflow.
  const uint64_t floats =
      uint64_t(cache.kv_heads) * uint64_t(cache.head_dim + cache.value_dim + 2) * uint64_t(capacity(cache) + integer_chunk);
  if (floats > (uint64_t(PTRDIFF_MAX) - head_bytes) / sizeof(float)) return 0;
  const int tokens = capacity(cache), heads = cache.kv_heads;
  if (has_integers(cache)) {
    return head_bytes + aligned_bytes(size_t(heads) * size_t(core::whole_chunks(tokens)) * size_t(integer_key_dim(cache))) +
           size_t(heads) * size_t(core::whole_chunks(tokens)) * size_t(cache.value_dim);
  }
  if (is_plain(cache)) {
    return head_bytes + sizeof(float) * (core::cache_key_floats(heads, cache.head_dim, tokens) +
                                         core::cache_value_floats(heads, cache.value_dim, tokens));
  }
  const size_t scales = sizeof(float) * core::format_cache_rows(heads, tokens);
  size_t bytes = head_bytes + core::format_cache_key_bytes(format(cache.key_format), heads, cache.head_dim, tokens);
  if (cache.key_format == ATTEND_INT8) bytes += scales;
  if (has_values_in_keys(cache)) return bytes;
  if (cache.value_format == ATTEND_INT8) bytes += scales;
  return bytes + core::format_cache_value_bytes(format(cache.value_format), heads, cache.value_dim, tokens);
}

// How caches of integers lie on this target.
constexpr int32_t integer_format = config::integer_quads ? integer_quads : integer_rows;
constexpr int panel_limit = ATTEND_MAX_TOKENS / panel_keys + 1;

// Extents, formats and tokens; whether it is a cache that was made here is another question.
bool is_possible(const attend_cache& cache) {
  const auto within = [](int32_t number, int32_t low, int32_t high) { return number >= low && number <= high; };
  return within(cache.kv_heads, 1, ATTEND_MAX_WIDTH) && within(cache.head_dim, 1, ATTEND_MAX_WIDTH) &&
         within(cache.value_dim, 1, ATTEND_MAX_WIDTH) && within(cache.max_tokens, 1, ATTEND_MAX_TOKENS) &&
         ((is_stored_format(cache.key_format) && is_stored_format(cache.value_format) &&
           is_whole(cache.head_dim, cache.key_format) && is_whole(cache.value_dim, cache.value_format)) ||
          (cache.key_format == integer_format && cache.value_format == integer_format)) &&
         (!has_values_in_keys(cache) || (cache.value_dim <= cache.head_dim && cache.ring_panels == 0)) &&
         within(cache.layout, 0, 7) && within(cache.ring_panels, 0, panel_limit) && within(cache.sink_panels, 0, panel_limit) &&
         within(cache.tokens, 0, cache.max_tokens) && within(cache.peak_tokens, cache.tokens, cache.max_tokens);
}

// A format of keys or values, and rows of them.
ATTEND_NOINLINE void check_format(Check& check, int given, ptrdiff_t width, attend_argument argument,
                                  attend_argument of_width) {
  const int alone = format_alone(given);
  check.require(is_stored_format(alone), ATTEND_UNKNOWN, argument);
  check.require(!saturates(given) || core::has_end(format(alone)), ATTEND_NO_EFFECT, argument);
  check.require(is_whole(width, alone), ATTEND_OUT_OF_RANGE, of_width);
}

// The head of a cache of that shape without tokens, and its size.
void check_shape(Check& check, const attend_cache_shape* shape, attend_cache& cache, size_t& bytes) {
  check.whole_struct(shape, ATTEND_ARG_SHAPE);
  if (check.failed()) return;
  const ptrdiff_t widths[] = {shape->kv_heads, shape->head_dim, shape->value_dim};
  static_assert(ATTEND_ARG_VALUE_DIM == ATTEND_ARG_KV_HEADS + 2, "arguments of these widths follow each other");
  for (int i = 0; i < 3; ++i) check.within(widths[i], 1, ATTEND_MAX_WIDTH, attend_argument(ATTEND_ARG_KV_HEADS + i));
  check.within(shape->max_tokens, shape->window_keys > 0 ? 0 : 1, ATTEND_MAX_TOKENS, ATTEND_ARG_MAX_TOKENS);
  const bool in_keys = shape->value_format == ATTEND_IN_KEYS;
  const int key_format = shape->key_format, value_format = in_keys ? key_format : shape->value_format;
  check_format(check, key_format, shape->head_dim, ATTEND_ARG_KEY_FORMAT, ATTEND_ARG_HEAD_DIM);
  const bool can_be_in_keys =
      format_alone(key_format) != ATTEND_INT4 && shape->value_dim <= shape->head_dim && shape->window_keys == 0;
  check.require(!in_keys || can_be_in_keys, ATTEND_CONFLICT, ATTEND_ARG_VALUE_FORMAT);
  check_format(check, value_format, shape->value_dim, ATTEND_ARG_VALUE_FORMAT, ATTEND_ARG_VALUE_DIM);
  check.within(shape->window_keys, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_WINDOW_KEYS);
  check.within(shape->sink_tokens, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_SINK_TOKENS);
  check.require(shape->window_keys > 0 || shape->sink_tokens == 0, ATTEND_NO_EFFECT, ATTEND_ARG_SINK_TOKENS);
  check.within(shape->integers, 0, 1, ATTEND_ARG_INTEGERS);
  if (check.failed()) return;
  const bool integers = shape->integers != 0;
  check.require(!integers || key_format == ATTEND_FLOAT32, ATTEND_CONFLICT, ATTEND_ARG_KEY_FORMAT);
  check.require(!integers || shape->value_format == ATTEND_FLOAT32, ATTEND_CONFLICT, ATTEND_ARG_VALUE_FORMAT);
  check.require(!integers || shape->head_dim <= ATTEND_INTEGER_MAX_HEAD_DIM, ATTEND_OUT_OF_RANGE, ATTEND_ARG_HEAD_DIM);
  if (check.failed()) return;
  cache = {};
  cache.magic = cache_magic;
  cache.kv_heads = int32_t(shape->kv_heads);
  cache.head_dim = int32_t(shape->head_dim);
  cache.value_dim = int32_t(shape->value_dim);
  cache.max_tokens = shape->max_tokens > 0 ? int32_t(shape->max_tokens) : ATTEND_MAX_TOKENS;
  cache.key_format = integers ? integer_format : format_alone(key_format);
  cache.value_format = integers ? integer_format : format_alone(value_format);
  cache.layout = (saturates(key_format) ? 1 : 0) + (saturates(value_format) ? 2 : 0) + (in_keys ? in_keys_bit : 0);
  const int panel = panel_keys_of(cache);
  const auto panels = [panel](ptrdiff_t tokens) { return (int32_t(tokens) + panel - 1) / panel; };
  // The last panel may hold one token only.
  if (shape->window_keys > 0) cache.ring_panels = panels(shape->window_keys - 1) + 1;
  cache.sink_panels = panels(shape->sink_tokens);
  set_tokens(cache, 0);
  bytes = cache_bytes(cache);
  check.require(bytes > 0, ATTEND_TOO_LARGE, ATTEND_ARG_MAX_TOKENS);
}

// One tensor of an append. What is read as the same number again and again was hardly meant to be stored.
template <class Number>
core::Tensor<const Number> check_appended(Check& check, const attend_input* input, const attend_cache& cache,
                                          const Extent::Counts& counts, attend_argument argument) {
  check.require(input != nullptr, ATTEND_MISSING, argument);
  if (check.failed()) return {};
  const Extent extent = extent_of(counts, {0, input->token_stride, input->head_stride}, Axes::token_head);
  const Range range = check.place(input->data, extent, 8 * int(sizeof(Number)), argument);
  const bool shares = (counts.tokens > 1 && extent.strides.token == 0) || (counts.heads > 1 && extent.strides.head == 0);
  check.require(!shares, ATTEND_SHARED_ELEMENTS, argument);
  check.require(input->batch_stride == 0 || input->batch_stride == ATTEND_DENSE, ATTEND_NO_EFFECT, argument);
  check.require(!overlap(range, cache_range(cache)), ATTEND_OVERLAP, argument);
  return core_tensor<const Number>(input->data, extent);
}

// attend_cache_append, of floats or integers; which append those are, and whether it takes floats that are no ring alone.
template <class Number, bool plain = false>
attend_status append_checked(attend_cache* cache, ptrdiff_t tokens, const attend_input* key, const attend_input* value,
                             bool (*append)(attend_cache&, int, core::Tensor<const Number>, core::Tensor<const Number>)) {
  Check check;
  check_cache(check, cache);
  check.within(tokens, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_TOKENS);
  if (check.failed()) return check.status();
  check.require(has_integers(*cache) == (sizeof(Number) == 1), ATTEND_MISMATCH, ATTEND_ARG_CACHE);
  check.require(!plain || is_plain(*cache), ATTEND_UNAVAILABLE, ATTEND_ARG_CACHE);
  check.require(tokens <= cache->max_tokens - cache->tokens, ATTEND_FULL, ATTEND_ARG_CACHE);
  if (check.failed() || tokens == 0) return check.status();
  const auto keys = check_appended<Number>(check, key, *cache, {1, tokens, cache->kv_heads, cache->head_dim}, ATTEND_ARG_KEY);
  core::Tensor<const Number> values = keys;
  if (!plain && has_values_in_keys(*cache)) {
    check.require(value == nullptr, ATTEND_NO_EFFECT, ATTEND_ARG_VALUE);
  } else {
    values = check_appended<Number>(check, value, *cache, {1, tokens, cache->kv_heads, cache->value_dim}, ATTEND_ARG_VALUE);
  }
  if (!check.failed()) check.require(append(*cache, int(tokens), keys, values), ATTEND_OUT_OF_RANGE, ATTEND_ARG_CACHE);
  return check.status();
}

}  // namespace

uint32_t check_of(const attend_cache& cache) {
  uint32_t words[sizeof cache / sizeof(uint32_t)], sum = 0;
  for (size_t i = 0; i < sizeof cache; ++i) {
    reinterpret_cast<unsigned char*>(words)[i] = reinterpret_cast<const unsigned char*>(&cache)[i];
  }
  for (size_t i = 0; i + 1 < sizeof words / sizeof *words; ++i) sum = core::hash_with(sum, words[i]);
  return sum;
}

void set_tokens(attend_cache& cache, ptrdiff_t tokens) {
  cache.tokens = int32_t(tokens);
  if (tokens == 0 || tokens > cache.peak_tokens) cache.peak_tokens = cache.tokens;
  cache.check = check_of(cache);
}

// Into a cache that is_plain.
static bool append_plain(attend_cache& cache, int tokens, core::Tensor<const float> key, core::Tensor<const float> value) {
  core::store(cache_memory(cache), cache.tokens, tokens, key, value);
  set_tokens(cache, ptrdiff_t(cache.tokens) + tokens);
  return true;
}

bool append(attend_cache& cache, int tokens, core::Tensor<const float> key, core::Tensor<const float> value) {
  if (is_plain(cache)) return append_plain(cache, tokens, key, value);
  if (!core::store(format_memory(cache), cache.tokens, tokens, key, value)) return false;
  set_tokens(cache, ptrdiff_t(cache.tokens) + tokens);
  return true;
}

bool append(attend_cache& cache, int tokens, core::Tensor<const int8_t> key, core::Tensor<const int8_t> value) {
  const core::IntegerCache memory = integer_memory(cache);
  const core::Paging paging = paging_of(cache);
  for (int token = cache.tokens; token < cache.tokens + tokens; ++token) {
    const int chunk = token / integer_chunk, first = chunk * integer_chunk;
    const ptrdiff_t slot = slot_panel(paging, token + 1, chunk, integer_chunk);
    core::store_token(memory, slot * integer_chunk + (token - first), key, value);
    if (paging.ring_panels > 0 && chunk < paging.sink_panels) core::store_token(memory, token, key, value);
    key.data += key.token_stride;
    value.data += value.token_stride;
  }
  set_tokens(cache, ptrdiff_t(cache.tokens) + tokens);
  return true;
}

bool is_plain(const attend_cache& cache) {
  return (has_integers(cache) || (cache.key_format | cache.value_format | cache.layout) == 0) && cache.ring_panels == 0;
}

void check_cache(Check& check, const attend_cache* cache) {
  check.address(cache, config::alignment, ATTEND_ARG_CACHE);
  if (check.failed()) return;
  const bool made = cache->magic == cache_magic && cache->check == check_of(*cache) && is_possible(*cache);
  const size_t bytes = made ? cache_bytes(*cache) : 0;
  const bool fits = bytes > 0 && bytes <= UINTPTR_MAX - reinterpret_cast<uintptr_t>(cache);
  check.require(fits, ATTEND_CORRUPT, ATTEND_ARG_CACHE);
}

Range cache_range(const attend_cache& cache) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(&cache);
  return {begin, begin + cache_bytes(cache)};
}

// The head leaves open whether the memory may be written; who appends has a cache that is not const.
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

// Keys that begin with their values are stored as values, beside keys of 0 numbers.
core::FormatCache format_memory(const attend_cache& cache) {
  const bool in_keys = has_values_in_keys(cache);
  const core::Format key = format(cache.key_format), value = format(cache.value_format);
  const int tokens = capacity(cache), heads = cache.kv_heads;
  const int key_dim = in_keys ? 0 : cache.head_dim, value_dim = in_keys ? cache.head_dim : cache.value_dim;
  char* keys = static_cast<char*>(memory_of(cache));
  char* values = keys + core::format_cache_key_bytes(key, heads, key_dim, tokens);
  float* scales =
      static_cast<float*>(static_cast<void*>(values + core::format_cache_value_bytes(value, heads, value_dim, tokens)));
  float* value_scales = scales + (key == core::Format::int8 && !in_keys ? core::format_cache_rows(heads, tokens) : 0);
  core::FormatCache made;
  made.keys = keys, made.values = values;
  made.key_scales = key == core::Format::int8 ? scales : nullptr;
  made.value_scales = value == core::Format::int8 ? value_scales : nullptr;
  made.key_format = key, made.value_format = value;
  made.kv_heads = heads, made.head_dim = key_dim, made.value_dim = value_dim;
  made.capacity = tokens;
  made.paging = paging_of(cache);
  made.saturates_keys = (cache.layout & 1) != 0, made.saturates_values = (cache.layout & 2) != 0;
  return made;
}

core::IntegerCache integer_memory(const attend_cache& cache) {
  int8_t* keys = static_cast<int8_t*>(memory_of(cache));
  const int tokens = core::whole_chunks(capacity(cache));
  const size_t key_bytes = size_t(cache.kv_heads) * size_t(tokens) * size_t(integer_key_dim(cache));
  return {keys, keys + aligned_bytes(key_bytes), cache.kv_heads, cache.head_dim, cache.value_dim, tokens};
}

core::Paging paging_of(const attend_cache& cache) {
  core::Paging paging;
  paging.ring_panels = cache.ring_panels;
  paging.sink_panels = cache.sink_panels;
  return paging;
}

}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_cache_shape_init(attend_cache_shape* shape, size_t size) {
  return new_struct(shape, size, ATTEND_ARG_SHAPE);
}

size_t attend_cache_size(const attend_cache_shape* shape) {
  Check check;
  attend_cache cache;
  size_t bytes = 0;
  check_shape(check, shape, cache, bytes);
  return check.failed() ? 0 : bytes;
}

attend_status attend_cache_init(const attend_cache_shape* shape, void* memory, size_t memory_size, attend_cache** cache) {
  Check check;
  attend_cache head = {};
  size_t bytes = 0;
  check_shape(check, shape, head, bytes);
  check.memory(memory, memory_size, bytes, ATTEND_ARG_MEMORY);
  if (check.failed()) return check.status();
  attend_cache* made = static_cast<attend_cache*>(memory);
  *made = head;
  if (cache != nullptr) *cache = made;
  return ATTEND_OK;
}

attend_status attend_cache_append(attend_cache* cache, ptrdiff_t tokens, const attend_input* key, const attend_input* value) {
  return append_checked<float>(cache, tokens, key, value, append);
}

attend_status attend_plain_cache_append(attend_cache* cache, ptrdiff_t tokens, const attend_input* key,
                                        const attend_input* value) {
  return append_checked<float, true>(cache, tokens, key, value, append_plain);
}

attend_status attend_integer_cache_append(attend_cache* cache, ptrdiff_t tokens, const attend_input* key,
                                          const attend_input* value) {
  return append_checked<int8_t>(cache, tokens, key, value, append);
}

attend_status attend_cache_truncate(attend_cache* cache, ptrdiff_t tokens) {
  Check check;
  check_cache(check, cache);
  if (!check.failed()) check.within(tokens, 0, cache->tokens, ATTEND_ARG_TOKENS);
  if (!check.failed()) set_tokens(*cache, tokens);
  return check.status();
}

ptrdiff_t attend_cache_tokens(const attend_cache* cache, ptrdiff_t* max_tokens) {
  Check check;
  check_cache(check, cache);
  if (check.failed()) return -1;
  if (max_tokens != nullptr) *max_tokens = cache->max_tokens;
  return cache->tokens;
}

}  // extern "C"
