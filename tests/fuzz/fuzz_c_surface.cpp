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
    const std::ptrdiff_t edges[] = {PTRDIFF_MAX,       PTRDIFF_MIN,     ATTEND_MAX_TOKENS,   ATTEND_MAX_TOKENS + 1,
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

template <class Tensor>
void change(Tensor& tensor, Bytes& bytes) {
  switch (bytes.byte() % 4) {
    case 0:
      tensor.data = bytes.address();
      break;
    case 1:
      tensor.batch_stride = bytes.number();
      break;
    case 2:
      tensor.token_stride = bytes.number();
      break;
    default:
      tensor.head_stride = bytes.number();
      break;
  }
}

void prepare() {
  for (std::size_t i = 0; i < arena_bytes; ++i) arena[i] = static_cast<unsigned char>(0x35 + i % 7);
  attend_cache_shape shape;
  attend_cache_shape_init(&shape, sizeof shape);
  shape.kv_heads = 2, shape.head_dim = 4, shape.value_dim = 3, shape.max_tokens = 20;
  REQUIRE(attend_cache_size(&shape) <= arena_bytes - cache_at);
  attend_cache* cache = nullptr;
  REQUIRE(attend_cache_init(&shape, arena + cache_at, arena_bytes - cache_at, &cache) == ATTEND_OK);
  const attend_input input = {reinterpret_cast<float*>(arena + key_at), 0, 8, 4};
  REQUIRE(attend_cache_append(cache, 9, &input, &input) == ATTEND_OK);

  std::memset(static_cast<void*>(&whole), 0, sizeof whole);
  attend_problem& p = whole.problem;
  REQUIRE(attend_problem_init(&p, sizeof p) == ATTEND_OK);
  p.batch = 2, p.query_heads = 4, p.kv_heads = 2, p.head_dim = 4, p.value_dim = 3, p.queries = 5, p.keys = 7;
  p.query.data = reinterpret_cast<float*>(arena + query_at);
  p.key.data = reinterpret_cast<float*>(arena + key_at);
  p.value.data = reinterpret_cast<float*>(arena + value_at);
  p.output.data = reinterpret_cast<float*>(arena + output_at);
  REQUIRE(attend_problem_set_layout(&p, ATTEND_BATCH_TOKEN_HEAD_DIM) == ATTEND_OK);
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

// A word of what the first version of the struct did not have; or something that can be.
void change_option(attend_problem& p, Bytes& bytes) {
  float* const some = reinterpret_cast<float*>(arena + options_at + bytes.byte() * 4u);
  const int small = bytes.byte() % 4;
  switch (bytes.byte() % 16) {
    case 0:
      p.mask = {some, small, small * 4, 8, 7, 1 + small % 2};
      break;
    case 1:
      p.bias = {some, small, 0, 4, 7, ATTEND_MASK_FLOATS};
      break;
    case 2:
      p.slopes = some;
      break;
    case 3:
      p.relative = {some, small, 3, small};
      break;
    case 4:
      p.sinks = some;
      break;
    case 5:
      p.soft_cap = float(small);
      break;
    case 6:
      p.query_format = small, p.output_format = bytes.byte() % 4;
      break;
    case 7:
      p.key_format = small, p.value_format = bytes.byte() % 4;
      p.key_scales = {some, 8, 8}, p.value_scales = {some, 0, 0};
      break;
    case 8:
      p.lse = {arena + lse_at, 20, 4, 1};
      break;
    case 9:
      p.scores = {reinterpret_cast<float*>(arena + scores_at), 200, 50, 10, 10, small};
      break;
    case 10:
      p.origin = small;
      break;
    case 11:
      for (int page = 0; page < 8; ++page) reinterpret_cast<std::int32_t*>(arena + options_at)[page] = page % 2;
      p.pages = {reinterpret_cast<std::int32_t*>(arena + options_at), small, 16, 2};
      break;
    case 12:
      p.states = arena + states_at, p.first_key = small;
      break;
    default: {
      const std::size_t words = (sizeof p - ATTEND_PROBLEM_SIZE_1) / sizeof(std::ptrdiff_t);
      const std::ptrdiff_t word = bytes.number();
      std::memcpy(reinterpret_cast<unsigned char*>(&p) + ATTEND_PROBLEM_SIZE_1 + bytes.byte() % words * sizeof word, &word,
                  sizeof word);
      break;
    }
  }
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
  const attend_relative& r = p.relative;
  const attend_output& l = p.lse;
  return there(p.mask, p.mask.kind == ATTEND_MASK_BITS ? 1 : 8) && there(p.bias, 32) && there(p.scores, 32) &&
         heads(p.slopes) && heads(p.sinks) && scales(p.key_scales, p.key_format) && scales(p.value_scales, p.value_format) &&
         (r.data == nullptr || in_arena(r.data, {1, 1, h}, {0, 0, r.head_stride}, r.left + 1 + r.right, 32)) &&
         (l.data == nullptr || in_arena(l.data, {b, q, h}, {l.batch_stride, l.token_stride, l.head_stride}, 1, 32)) &&
         (p.states == nullptr || in_arena(p.states, {1, 1, 1}, {0, 0, 0}, std::ptrdiff_t(attend_state_size(&p) / 4), 32));
}

void change_problem(Bytes& bytes) {
  attend_problem& p = whole.problem;
  while (bytes.left > 0) {
    switch (bytes.byte() % 28) {
      case 0:
        p.size = bytes.byte() < 128 ? sizeof p + bytes.byte() % tail : std::size_t(bytes.number());
        break;
      case 1:
        p.options = bytes.byte() < 200 ? bytes.byte() & 31u : std::uint32_t(bytes.word());
        break;
      case 2: {
        const std::uint32_t bits = std::uint32_t(bytes.word());
        std::memcpy(&p.scale, &bits, sizeof bits);
        break;
      }
      case 3:
        p.batch = bytes.number();
        break;
      case 4:
        p.query_heads = bytes.number();
        break;
      case 5:
        p.kv_heads = bytes.number();
        break;
      case 6:
        p.head_dim = bytes.number();
        break;
      case 7:
        p.value_dim = bytes.number();
        break;
      case 8:
        p.queries = bytes.number();
        break;
      case 9:
        p.keys = bytes.number();
        break;
      case 10:
        p.offset = bytes.number();
        break;
      case 11:
        p.key_lengths = lengths;
        break;
      case 12:
        p.key_lengths = reinterpret_cast<std::ptrdiff_t*>(reinterpret_cast<char*>(lengths) + bytes.byte() % 8);
        break;
      case 13:
        lengths[bytes.byte() % most_lengths] = bytes.number();
        break;
      case 14:
        change(p.query, bytes);
        break;
      case 15:
        change(p.key, bytes);
        break;
      case 16:
        change(p.value, bytes);
        break;
      case 17:
        change(p.output, bytes);
        break;
      case 18:
        p.cache = reinterpret_cast<attend_cache*>(arena + cache_at);
        p.batch = 1, p.keys = ATTEND_ALL_KEYS;
        p.key.data = p.value.data = nullptr;
        break;
      case 19:
        p.cache = reinterpret_cast<attend_cache*>(arena + bytes.byte() * 32u);
        break;
      case 20:
        arena[cache_at + bytes.byte() % 48u] = bytes.byte();
        break;
      case 21:
        whole.more[bytes.byte() % tail] = bytes.byte();
        break;
      default:
        change_option(p, bytes);
        break;
    }
  }
  // What is not memory must not be said to be: a struct or lengths so long.
  if (p.size > sizeof whole && p.size <= 4096) p.size = sizeof whole;
  if (p.batch > std::ptrdiff_t(most_lengths) - 1) p.key_lengths = nullptr;
  if (!in_arena(p.pages.table, {p.batch, 1, 1}, {p.pages.batch_stride, 0, 0}, p.keys, 32)) p.pages.table = nullptr;
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
  attend_problem p = whole.problem;  // of its own, which ends where the library knows it to
  if (p.size < sizeof p) {           // as version 1 has it
    std::memset(reinterpret_cast<unsigned char*>(&p) + ATTEND_PROBLEM_SIZE_1, 0, sizeof p - ATTEND_PROBLEM_SIZE_1);
  }
  p.size = sizeof p;
  const attend_cache* cache = p.cache;
  const std::ptrdiff_t keys = p.keys == ATTEND_ALL_KEYS ? attend_cache_tokens(cache) : p.keys;
  REQUIRE(keys >= 0 && keys <= ATTEND_MAX_TOKENS && p.queries >= 1 && p.query_heads % p.kv_heads == 0);
  REQUIRE(p.scale - p.scale == 0.0f && p.soft_cap >= 0.0f && p.soft_cap - p.soft_cap == 0.0f);
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
  REQUIRE(attend_run(&given, workspace, workspace_bytes - 1) == ATTEND_SMALL_WORKSPACE);
  REQUIRE(std::memcmp(arena, untouched, arena_bytes) == 0);
  begin(0xff);
  REQUIRE(attend_run(&given, workspace, workspace_bytes) == ATTEND_OK);
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
  REQUIRE(used == ATTEND_OK || used == ATTEND_UNAVAILABLE_BACKEND);
  change_problem(bytes);
  std::memcpy(untouched, arena, arena_bytes);
  const attend_status status = attend_check(&whole.problem);
  const std::size_t workspace_bytes = attend_workspace_size(&whole.problem);
  REQUIRE((status == ATTEND_OK) == (workspace_bytes > 0));
  REQUIRE(status < ATTEND_BAD_PARTS || status >= ATTEND_BAD_WINDOW);
  const attend_status without = attend_run(&whole.problem, nullptr, 0);
  const bool early = status != ATTEND_OK && status < ATTEND_BAD_PARTS;  // work memory is looked at before options
  REQUIRE(without == (early ? status : ATTEND_NO_WORKSPACE));
  alignas(ATTEND_ALIGNMENT) static unsigned char some[64];
  REQUIRE(!early || attend_run(&whole.problem, some, SIZE_MAX) == status);
  REQUIRE(std::memcmp(arena, untouched, arena_bytes) == 0);
  if (status == ATTEND_OK) {
    ++counts.taken;
    run(workspace_bytes, parts);
  } else {
    ++counts.refused;
    REQUIRE(attend_status_text(status)[0] != '\0');
  }
  return 0;
}
