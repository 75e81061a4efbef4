// For libFuzzer: bytes become changes of a problem that is fine. Whatever comes of it, a call answers, and either touches
// nothing or writes the output and nothing else.
#include <array>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "attend/attend_c.h"

namespace {

#define REQUIRE(condition)                                                                       \
  do {                                                                                           \
    if (!(condition)) std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition), std::abort(); \
  } while (false)

constexpr std::size_t arena_bytes = 1 << 15, most_lengths = 16, tail = 128;
alignas(ATTEND_ALIGNMENT) unsigned char arena[arena_bytes];
alignas(ATTEND_ALIGNMENT) unsigned char untouched[arena_bytes];
std::ptrdiff_t lengths[most_lengths];
struct Whole {
  attend_problem problem;
  unsigned char more[tail];
} whole;
constexpr std::size_t query_at = 0, key_at = 2048, value_at = 4096, output_at = 8192, cache_at = 12288, options_at = 16384,
                      lse_at = 20480, scores_at = 21504, states_at = 24576;

struct Bytes {
  const std::uint8_t* data;
  std::size_t left;
  std::uint8_t byte() { return left == 0 ? std::uint8_t(0) : (--left, *data++); }
  std::uint64_t word() {
    std::uint64_t all = 0;
    for (int i = 0; i < 8; ++i) all = all << 8 | byte();
    return all;
  }
  // A small number, one at an edge, or any.
  std::ptrdiff_t number() {
    const std::uint8_t kind = byte();
    if (kind < 180) return kind % 24 - 4;
    const std::ptrdiff_t edges[] = {PTRDIFF_MAX,       ATTEND_DENSE,    ATTEND_MAX_TOKENS,   ATTEND_MAX_TOKENS + 1,
                                    ATTEND_MAX_WIDTH,  ATTEND_MAX_ROWS, PTRDIFF_MAX / 4,     PTRDIFF_MIN / 4,
                                    PTRDIFF_MAX / 2,   PTRDIFF_MIN / 2, PTRDIFF_MAX / 4 + 1, std::ptrdiff_t(1) << 32,
                                    -ATTEND_MAX_TOKENS};
    if (kind < 240) return edges[kind % 13] + std::ptrdiff_t(byte() % 3) * (kind % 2 == 0 ? 0 : kind % 13 == 1 ? 1 : -1);
    return std::ptrdiff_t(word());
  }
  // Within the arena, null, or anywhere.
  float* address() {
    const std::uint8_t kind = byte();
    if (kind < 8) return nullptr;
    if (kind < 16) return reinterpret_cast<float*>(std::uintptr_t(word()));
    std::size_t at = (std::size_t(byte()) << 8 | byte()) % (1u << 14);
    if (kind < 240) at -= at % 4;
    return reinterpret_cast<float*>(arena + at);
  }
};

void prepare() {
  for (std::size_t i = 0; i < arena_bytes; ++i) arena[i] = static_cast<unsigned char>(0x35 + i % 7);
  attend_cache_shape shape;
  attend_cache_shape_init(&shape, sizeof shape);
  shape.kv_heads = 2, shape.head_dim = 4, shape.value_dim = 3, shape.max_tokens = 20;
  REQUIRE(attend_cache_size(&shape) <= arena_bytes - cache_at);
  attend_cache* cache = nullptr;
  REQUIRE(attend_cache_init(&shape, arena + cache_at, arena_bytes - cache_at, &cache) == ATTEND_OK);
  const attend_input input = {reinterpret_cast<float*>(arena + key_at), ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
  REQUIRE(attend_cache_append(cache, 9, &input, &input) == ATTEND_OK);

  std::memset(static_cast<void*>(&whole), 0, sizeof whole);
  attend_problem& p = whole.problem;
  REQUIRE(attend_problem_init(&p, sizeof p) == ATTEND_OK);
  p.batch = 2, p.query_heads = 4, p.kv_heads = 2, p.head_dim = 4, p.value_dim = 3, p.queries = 5, p.keys = 7;
  p.query.data = reinterpret_cast<float*>(arena + query_at);
  p.key.data = reinterpret_cast<float*>(arena + key_at);
  p.value.data = reinterpret_cast<float*>(arena + value_at);
  p.output.data = reinterpret_cast<float*>(arena + output_at);
  for (std::ptrdiff_t& length : lengths) length = 3;
}

// Whether an array of numbers of so many bits lies in the arena.
bool in_arena(const void* data, const std::array<std::ptrdiff_t, 3>& counts, const std::array<std::ptrdiff_t, 3>& strides,
              std::ptrdiff_t width, int bits) {
  __int128 low = 0, high = width;
  for (std::size_t i = 0; i < 3; ++i) {
    const __int128 distance = (__int128(counts[i]) - 1) * strides[i], far = __int128(1) << 100;
    if (distance < -far || distance > far) return false;  // what follows does not overflow
    (distance < 0 ? low : high) += distance;
  }
  const __int128 at = __int128(reinterpret_cast<std::uintptr_t>(data)) - __int128(reinterpret_cast<std::uintptr_t>(arena));
  return at + low * bits / 8 >= 0 && at + (high * bits + 7) / 8 <= __int128(arena_bytes);
}

// Something that can be.
void change_option(attend_problem& p, Bytes& bytes) {
  float* const some = reinterpret_cast<float*>(arena + options_at + bytes.byte() * 4u);
  const int small = bytes.byte() % 4;
  switch (bytes.byte() % 15) {
    case 0:
      p.mask = {some, small, small * 4, 8, 7, 1 + small % 2};
      break;
    case 1:
      p.bias = {some, small, 0, 4, 7};
      break;
    case 2:
      p.alibi_slopes = some;
      break;
    case 3:
      p.relative_bias = {some, small, 3, small};
      break;
    case 4:
      p.sink_logits = some;
      break;
    case 5:
      p.soft_cap = float(small);
      break;
    case 6:
      p.query_format = small, p.output_format = bytes.byte() % 4;
      break;
    case 7:
      p.key_format = ATTEND_INT8, p.key_scales = {some, 8, 8};
      break;
    case 8:
      p.value_format = ATTEND_INT8, p.value_scales = {some, 0, ATTEND_DENSE};
      break;
    case 9:
      p.lse = {arena + lse_at, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
      break;
    case 10:
      p.scores = {reinterpret_cast<float*>(arena + scores_at), 200, 50, 10, 10, 1 + small};
      break;
    case 11:
      p.origin = small;
      break;
    case 12:
      for (int page = 0; page < 8; ++page) reinterpret_cast<std::int32_t*>(arena + options_at)[page] = page % 2;
      p.pages = {reinterpret_cast<std::int32_t*>(arena + options_at), small, 16, 2};
      break;
    case 13:
      p.states = arena + states_at;
      p.key.batch_stride = p.key.head_stride = p.value.batch_stride = p.value.head_stride = small;
      break;
    default:
      p.window_left = small, p.sink_tokens = bytes.byte() % 3, p.offset = bytes.byte() % 9;
      break;
  }
}

// The problem with its strides and columns written out, by plain multiplication.
attend_problem written_out(attend_problem p, std::ptrdiff_t keys) {
  const auto columns = [&](std::ptrdiff_t& of) { of = of == ATTEND_ALL_KEYS ? keys : of; };
  columns(p.mask.keys), columns(p.bias.keys), columns(p.scores.keys);
  const std::ptrdiff_t b = p.batch, q = p.queries, h = p.query_heads, kv = p.kv_heads;
  struct Axis {
    std::ptrdiff_t& stride;
    std::ptrdiff_t count;
  };
  const auto dense = [](std::ptrdiff_t width, Axis inner, Axis outer, Axis batch) {
    __int128 step = width;
    for (const Axis& axis : {inner, outer, batch}) {
      if (axis.count <= 1) axis.stride = 0;
      if (axis.stride == ATTEND_DENSE) axis.stride = std::ptrdiff_t(step);
      step *= axis.count;
    }
  };
  const auto tensor = [&](auto& t, std::ptrdiff_t rows, std::ptrdiff_t tokens, std::ptrdiff_t heads, std::ptrdiff_t width) {
    const Axis token = {t.token_stride, tokens}, head = {t.head_stride, heads}, batch = {t.batch_stride, rows};
    p.layout == ATTEND_BATCH_HEAD_TOKEN_DIM ? dense(width, token, head, batch) : dense(width, head, token, batch);
  };
  const auto matrix = [&](auto& m) { dense(m.keys, {m.query_stride, q}, {m.head_stride, h}, {m.batch_stride, b}); };
  const bool paged = p.pages.table != nullptr;
  const std::ptrdiff_t rows = paged ? 1 : b, stored = paged ? p.pages.page_keys * p.pages.count : keys - p.origin;
  std::ptrdiff_t none = 0;
  tensor(p.query, b, q, h, p.head_dim), tensor(p.output, b, q, h, p.value_dim), tensor(p.lse, b, q, h, 1);
  tensor(p.key, rows, stored, kv, p.head_dim), tensor(p.value, rows, stored, kv, p.value_dim);
  matrix(p.mask), matrix(p.bias), matrix(p.scores);
  dense(stored, {none, 1}, {p.key_scales.head_stride, kv}, {p.key_scales.batch_stride, rows});
  dense(stored, {none, 1}, {p.value_scales.head_stride, kv}, {p.value_scales.batch_stride, rows});
  dense(p.relative_bias.left + 1 + p.relative_bias.right, {none, 1}, {p.relative_bias.head_stride, h}, {none, 1});
  return p;
}

// Whether all that options point to is in the arena.
bool options_exist(const attend_problem& p) {
  const std::ptrdiff_t b = p.batch, q = p.queries, h = p.query_heads;
  const auto there = [&](const auto& m, int bits) {
    return m.data == nullptr || in_arena(m.data, {b, q, h}, {m.batch_stride, m.query_stride, m.head_stride}, m.keys, bits);
  };
  const auto heads = [&](const float* data) { return data == nullptr || in_arena(data, {1, 1, 1}, {0, 0, 0}, h, 32); };
  const std::ptrdiff_t pool = p.pages.table != nullptr ? p.pages.page_keys * p.pages.count : p.keys - p.origin;
  const auto scales = [&](const attend_scales& s, int format) {
    return format != ATTEND_INT8 || p.cache != nullptr ||
           in_arena(s.data, {p.pages.table != nullptr ? 1 : b, 1, p.kv_heads}, {s.batch_stride, 0, s.head_stride}, pool, 32);
  };
  const attend_relative_bias& r = p.relative_bias;
  const attend_output& l = p.lse;
  return there(p.mask, p.mask.kind == ATTEND_MASK_BITS ? 1 : 8) && there(p.bias, 32) && there(p.scores, 32) &&
         heads(p.alibi_slopes) && heads(p.sink_logits) && scales(p.key_scales, p.key_format) &&
         scales(p.value_scales, p.value_format) &&
         (r.data == nullptr || in_arena(r.data, {1, 1, h}, {0, 0, r.head_stride}, r.left + 1 + r.right, 32)) &&
         (l.data == nullptr || in_arena(l.data, {b, q, h}, {l.batch_stride, l.token_stride, l.head_stride}, 1, 32)) &&
         (p.states == nullptr || in_arena(p.states, {1, 1, 1}, {0, 0, 0}, std::ptrdiff_t(attend_state_size(&p) / 4), 32));
}

// What is not memory must not be said to be: a struct, lengths, pages or states so long.
void stay_in_memory(attend_problem& p) {
  if (p.size > sizeof whole && p.size <= 4096) p.size = sizeof whole;
  const char* const given = reinterpret_cast<const char*>(p.key_lengths);
  const bool known = given >= reinterpret_cast<char*>(lengths) && given < reinterpret_cast<char*>(lengths + 1);
  if (!known || p.batch > std::ptrdiff_t(most_lengths) - 1) p.key_lengths = nullptr;
  const std::ptrdiff_t step = p.pages.batch_stride == ATTEND_DENSE ? p.keys : p.pages.batch_stride;
  if (!in_arena(p.pages.table, {p.batch, 1, 1}, {step, 0, 0}, p.keys, 32)) p.pages.table = nullptr;
  const char* const cache = reinterpret_cast<const char*>(p.cache);
  if (cache < reinterpret_cast<char*>(arena) || cache >= reinterpret_cast<char*>(arena) + arena_bytes - 64) p.cache = nullptr;
  const std::size_t bytes_of_states = attend_state_size(&p);
  if (!in_arena(p.states, {1, 1, 1}, {0, 0, 0}, std::ptrdiff_t(bytes_of_states / 4), 32)) p.states = nullptr;
  if (p.states != nullptr && bytes_of_states > 0) attend_begin(&p);
}

void change_problem(Bytes& bytes) {
  attend_problem& p = whole.problem;
  constexpr std::size_t first = offsetof(attend_problem, batch), words = (sizeof p - first) / sizeof(std::ptrdiff_t);
  const std::size_t pointers[] = {
      offsetof(attend_problem, query.data),  offsetof(attend_problem, key.data),        offsetof(attend_problem, value.data),
      offsetof(attend_problem, output.data), offsetof(attend_problem, mask.data),       offsetof(attend_problem, bias.data),
      offsetof(attend_problem, lse.data),    offsetof(attend_problem, key_scales.data), offsetof(attend_problem, states)};
  const std::size_t ints[] = {offsetof(attend_problem, options),    offsetof(attend_problem, layout),
                              offsetof(attend_problem, mask.kind),  offsetof(attend_problem, scores.stage),
                              offsetof(attend_problem, key_format), offsetof(attend_problem, output_format)};
  const auto put = [&](std::size_t at, auto value) {
    std::memcpy(reinterpret_cast<unsigned char*>(&p) + at, &value, sizeof value);
  };
  while (bytes.left > 0) {
    switch (bytes.byte() % 24) {
      case 0:
        p.size = bytes.byte() < 128 ? sizeof p + bytes.byte() % tail : std::size_t(bytes.number());
        break;
      case 1:
        put(offsetof(attend_problem, scale) + bytes.byte() % 2u * sizeof(float), std::uint32_t(bytes.word()));
        break;
      case 2:
        put(ints[bytes.byte() % 6], bytes.byte() < 240 ? bytes.byte() % 5 : int(bytes.word()));
        break;
      case 3:
        p.key_lengths = reinterpret_cast<std::ptrdiff_t*>(reinterpret_cast<char*>(lengths) + (bytes.byte() < 200 ? 0 : 3));
        break;
      case 4:
        lengths[bytes.byte() % most_lengths] = bytes.number();
        break;
      case 5:
        p.cache = reinterpret_cast<attend_cache*>(arena + (bytes.byte() < 200 ? cache_at : bytes.byte() * 32u));
        p.batch = 1, p.keys = ATTEND_ALL_KEYS;
        p.key.data = p.value.data = nullptr;
        break;
      case 6:
        arena[cache_at + bytes.byte() % 48u] = bytes.byte();
        break;
      case 7:
        whole.more[bytes.byte() % tail] = bytes.byte();
        break;
      case 8:
        p.options ^= ATTEND_CAUSAL, p.offset = bytes.byte() % 8 - 2;
        break;
      case 9:
      case 10:
        put(pointers[bytes.byte() % 9], bytes.address());
        break;
      case 11:
        put(first + bytes.byte() % 8u * sizeof(std::ptrdiff_t), bytes.number());
        break;
      case 12:
      case 13:
        put(first + bytes.byte() % words * sizeof(std::ptrdiff_t), bytes.number());
        break;
      default:
        change_option(p, bytes);
        break;
    }
  }
  stay_in_memory(p);
}

struct Reach {
  bool in_arena;
  __int128 low, high;  // first byte and the one after the last, from the start of the address space
};

// By plain multiplication, which in 128 bits cannot overflow.
template <class Tensor>
Reach reach(const Tensor& tensor, std::ptrdiff_t batch, std::ptrdiff_t tokens, std::ptrdiff_t heads, std::ptrdiff_t width,
            int size) {
  const std::ptrdiff_t counts[] = {batch, tokens, heads};
  const std::ptrdiff_t strides[] = {tensor.batch_stride, tensor.token_stride, tensor.head_stride};
  __int128 low = __int128(reinterpret_cast<std::uintptr_t>(tensor.data)), high = low + __int128(width) * size;
  for (int i = 0; i < 3; ++i) {
    const __int128 distance = __int128(counts[i] - 1) * strides[i] * size;
    (distance < 0 ? low : high) += distance;
  }
  const __int128 begin = __int128(reinterpret_cast<std::uintptr_t>(arena));
  REQUIRE(low >= 0 && high <= __int128(UINTPTR_MAX) && high - low <= __int128(PTRDIFF_MAX));
  return {low >= begin && high <= begin + __int128(arena_bytes), low, high};
}

struct Counts {
  long refused = 0, taken = 0, run = 0;
  ~Counts() { std::printf("fuzz: %ld refused, %ld taken, %ld of them run\n", refused, taken, run); }
} counts;

int size_of(int format) { return format == ATTEND_FLOAT32 ? 4 : format == ATTEND_INT8 ? 1 : 2; }

// Places in the arena that a call may write, besides the output.
std::vector<bool> other_results(const attend_problem& p) {
  std::vector<bool> places(arena_bytes);
  const auto mark = [&](const Reach& range) {
    const __int128 begin = __int128(reinterpret_cast<std::uintptr_t>(arena));
    for (__int128 at = range.low - begin; at < range.high - begin; ++at) places[std::size_t(at)] = true;
  };
  if (p.lse.data != nullptr) mark(reach(p.lse, p.batch, p.queries, p.query_heads, 1, 4));
  const attend_output scores = {p.scores.data, p.scores.batch_stride, p.scores.query_stride, p.scores.head_stride};
  if (scores.data != nullptr) mark(reach(scores, p.batch, p.queries, p.query_heads, p.scores.keys, 4));
  const attend_output states = {p.states, 0, 0, 0};
  if (states.data != nullptr) mark(reach(states, 1, 1, 1, std::ptrdiff_t(attend_state_size(&p) / 4), 4));
  return places;
}

// A problem that is said to be fine is looked at once more, by other means, and run if its memory exists.
void run(std::size_t workspace_bytes, int parts) {
  const attend_cache* cache = whole.problem.cache;
  const std::ptrdiff_t keys = whole.problem.keys == ATTEND_ALL_KEYS ? attend_cache_tokens(cache) : whole.problem.keys;
  attend_problem p = written_out(whole.problem, keys);
  p.size = sizeof p;
  REQUIRE(keys >= 0 && keys <= ATTEND_MAX_TOKENS && p.queries >= 0 && p.query_heads % p.kv_heads == 0);
  REQUIRE(p.scale - p.scale == 0.0f && p.soft_cap >= 0.0f && p.soft_cap - p.soft_cap == 0.0f);
  if (p.batch == 0 || p.queries == 0) return;
  const bool paged = p.pages.table != nullptr, arrays = cache == nullptr && keys > p.origin, writes = p.states == nullptr;
  const std::ptrdiff_t rows = paged ? 1 : p.batch, stored = paged ? p.pages.page_keys * p.pages.count : keys - p.origin;
  const int output_size = size_of(p.output_format);
  const Reach query = reach(p.query, p.batch, p.queries, p.query_heads, p.head_dim, size_of(p.query_format));
  const Reach output = writes ? reach(p.output, p.batch, p.queries, p.query_heads, p.value_dim, output_size) : query;
  const Reach key = arrays ? reach(p.key, rows, stored, p.kv_heads, p.head_dim, size_of(p.key_format)) : query;
  const Reach value = arrays ? reach(p.value, rows, stored, p.kv_heads, p.value_dim, size_of(p.value_format)) : query;
  for (const Reach& input : {query, key, value}) REQUIRE(!writes || output.high <= input.low || input.high <= output.low);
  if (!query.in_arena || !key.in_arena || !value.in_arena || !output.in_arena || !options_exist(p)) return;
  const double work =
      double(p.batch) * double(p.queries) * double(p.query_heads) * double(keys + 16) * double(p.head_dim + p.value_dim);
  if (work > 1e6) return;
  ++counts.run;

  std::set<std::size_t> elements;  // of the output, as places in the arena
  for (std::ptrdiff_t b = 0; writes && b < p.batch; ++b)
    for (std::ptrdiff_t t = 0; t < p.queries; ++t)
      for (std::ptrdiff_t h = 0; h < p.query_heads; ++h)
        for (std::ptrdiff_t c = 0; c < p.value_dim; ++c) {
          const __int128 at = __int128(reinterpret_cast<std::uintptr_t>(p.output.data)) +
                              output_size * (__int128(b) * p.output.batch_stride + __int128(t) * p.output.token_stride +
                                             __int128(h) * p.output.head_stride + c);
          REQUIRE(elements.insert(std::size_t(at - __int128(reinterpret_cast<std::uintptr_t>(arena)))).second);
        }
  std::vector<bool> places = other_results(p);
  const auto begin = [&](int pattern) {
    std::memcpy(arena, untouched, arena_bytes);
    for (const std::size_t at : elements) std::memset(arena + at, pattern, std::size_t(output_size));
  };

  const attend_problem& given = whole.problem;
  void* workspace = nullptr;
  REQUIRE(posix_memalign(&workspace, ATTEND_ALIGNMENT, workspace_bytes) == 0);
  REQUIRE(attend_status_error(attend_run(&given, workspace, workspace_bytes - 1)) == ATTEND_TOO_SMALL);
  REQUIRE(std::memcmp(arena, untouched, arena_bytes) == 0);
  begin(0xff);
  if (const attend_status status = attend_run(&given, workspace, workspace_bytes); status != ATTEND_OK) {
    const int error = attend_status_error(status);  // states that stand elsewhere, or were not begun
    REQUIRE(p.states != nullptr && (error == ATTEND_MISMATCH || error == ATTEND_CORRUPT));
    REQUIRE(std::memcmp(arena, untouched, arena_bytes) == 0);
    return std::free(workspace);
  }
  std::vector<unsigned char> once(arena, arena + arena_bytes);
  begin(0xfe);
  for (int part = 0; part < parts; ++part)
    REQUIRE(attend_run_part(&given, part, parts, workspace, workspace_bytes) == ATTEND_OK);
  REQUIRE(std::memcmp(arena, once.data(), arena_bytes) == 0);
  for (const std::size_t at : elements) std::memcpy(arena + at, untouched + at, std::size_t(output_size));
  for (std::size_t at = 0; at < arena_bytes; ++at) REQUIRE(places[at] || arena[at] == untouched[at]);
  std::free(workspace);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes = {data, size};
  prepare();
  const int parts = 1 + bytes.byte() % 5;
  const char* backend = attend_backend_name(bytes.byte() % attend_backend_count());
  REQUIRE(backend != nullptr);
  const attend_status used = attend_backend_use(backend);
  REQUIRE(used == ATTEND_OK || attend_status_error(used) == ATTEND_UNAVAILABLE);
  change_problem(bytes);
  std::memcpy(untouched, arena, arena_bytes);
  const attend_status status = attend_check(&whole.problem);
  const std::size_t workspace_bytes = attend_workspace_size(&whole.problem);
  REQUIRE((status == ATTEND_OK) == (workspace_bytes > 0));
  const attend_status without = attend_run(&whole.problem, nullptr, 0);
  const auto of_workspace = [](attend_status said) { return attend_status_argument(said) == ATTEND_ARG_WORKSPACE; };
  REQUIRE((status != ATTEND_OK && without == status) || of_workspace(without));
  alignas(ATTEND_ALIGNMENT) static unsigned char some[64];
  const attend_status with_some = status == ATTEND_OK ? status : attend_run(&whole.problem, some, SIZE_MAX);
  REQUIRE(with_some == status || of_workspace(with_some));
  REQUIRE(std::memcmp(arena, untouched, arena_bytes) == 0);
  if (status == ATTEND_OK) {
    ++counts.taken;
    run(workspace_bytes, parts);
  } else {
    ++counts.refused;
    REQUIRE(attend_status_error(status) > 0 && attend_status_argument(status) > 0);
  }
  return 0;
}
