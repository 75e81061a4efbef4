// The memory in which the fuzzer of the C surface makes problems, one of them without a fault, and the bytes that change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "attend/attend_c.h"

namespace fuzz {

#define REQUIRE(condition)                                                                       \
  do {                                                                                           \
    if (!(condition)) std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition), std::abort(); \
  } while (false)

constexpr int error_of(attend_status status) { return status % 256; }
constexpr int argument_of(attend_status status) { return status / 256; }

constexpr std::size_t arena_bytes = 1 << 16, most_lengths = 16, tail = 128;
alignas(ATTEND_ALIGNMENT) inline unsigned char arena[arena_bytes];
alignas(ATTEND_ALIGNMENT) inline unsigned char untouched[arena_bytes];
inline std::ptrdiff_t lengths[most_lengths];
inline std::uint32_t state_place, state_change;  // a byte of new states that is overwritten
struct Whole {
  attend_problem problem;
  unsigned char more[tail];
};
inline Whole whole;
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

// Every problem begins with the same memory.
inline void prepare() {
  alignas(ATTEND_ALIGNMENT) static unsigned char first[arena_bytes];
  if (first[0] == 0) {
    for (std::size_t i = 0; i < arena_bytes; ++i) first[i] = static_cast<unsigned char>(0x35 + i % 7);
  }
  std::memcpy(arena, first, arena_bytes);
  attend_cache_shape shape;
  attend_cache_shape_init(&shape, sizeof shape);
  shape.kv_heads = 2, shape.head_dim = 4, shape.value_dim = 3, shape.max_tokens = 20;
  REQUIRE(attend_cache_size(&shape) <= arena_bytes - cache_at);
  attend_cache* cache = nullptr;
  REQUIRE(attend_cache_init(&shape, arena + cache_at, arena_bytes - cache_at, &cache) == ATTEND_OK);
  const attend_input input = {reinterpret_cast<float*>(arena + key_at), ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
  REQUIRE(attend_cache_append(cache, 9, &input, &input) == ATTEND_OK);

  std::memset(static_cast<void*>(&whole), 0, sizeof whole);
  state_change = 0;
  attend_problem& p = whole.problem;
  REQUIRE(attend_problem_init(&p, sizeof p) == ATTEND_OK);
  p.batch = 2, p.query_heads = 4, p.kv_heads = 2, p.head_dim = 4, p.value_dim = 3, p.queries = 5, p.keys = 7;
  p.query.data = reinterpret_cast<float*>(arena + query_at);
  p.key.data = reinterpret_cast<float*>(arena + key_at);
  p.value.data = reinterpret_cast<float*>(arena + value_at);
  p.output.data = reinterpret_cast<float*>(arena + output_at);
  for (std::ptrdiff_t& length : lengths) length = 3;
}

}  // namespace fuzz
