// Problems of integer attention from C with numbers of any size in any field: each is refused or as the header says, and what
// is checked does not overflow (which a sanitizer sees).
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "../support/rounds.h"
#include "c_integer_world.h"

using namespace attend_test;

namespace {

using P = attend_problem;

// Fields of numbers, and addresses that are only counted from.
constexpr std::size_t fields[] = {
    offsetof(P, batch),
    offsetof(P, query_heads),
    offsetof(P, kv_heads),
    offsetof(P, head_dim),
    offsetof(P, value_dim),
    offsetof(P, queries),
    offsetof(P, keys),
    offsetof(P, offset),
    offsetof(P, query.batch_stride),
    offsetof(P, query.token_stride),
    offsetof(P, query.head_stride),
    offsetof(P, key.data),
    offsetof(P, key.batch_stride),
    offsetof(P, key.token_stride),
    offsetof(P, key.head_stride),
    offsetof(P, value.token_stride),
    offsetof(P, output.data),
    offsetof(P, output.batch_stride),
    offsetof(P, output.token_stride),
    offsetof(P, output.head_stride),
    offsetof(P, window_left),
    offsetof(P, window_right),
    offsetof(P, sink_tokens),
    offsetof(P, mask.batch_stride),
    offsetof(P, mask.query_stride),
    offsetof(P, mask.keys),
    offsetof(P, key_scales.batch_stride),
    offsetof(P, key_scales.head_stride),
    offsetof(P, value_scales.data),
    offsetof(P, origin),
    offsetof(P, pages.page_keys),
    offsetof(P, first_key),
};

std::ptrdiff_t any_number(Random& random) {
  constexpr std::ptrdiff_t numbers[] = {
      PTRDIFF_MIN, PTRDIFF_MIN + 1,   PTRDIFF_MIN / 2,       -ATTEND_MAX_TOKENS, -1,         0, 1, 31, 33, 4096, 65535,
      65536,       ATTEND_MAX_TOKENS, ATTEND_MAX_TOKENS + 1, PTRDIFF_MAX / 2,    PTRDIFF_MAX};
  const std::size_t number = std::size_t(numbers[random.between(0, int(sizeof numbers / sizeof *numbers) - 1)]);
  return std::ptrdiff_t(number + std::size_t(random.between(0, 2)) - 1);  // it may wrap around
}

// What a problem that was taken must be like.
bool is_right(const P& p) {
  const auto within = [](std::ptrdiff_t number, std::ptrdiff_t low, std::ptrdiff_t high) {
    return number >= low && number <= high;
  };
  const bool heads =
      within(p.query_heads, 1, ATTEND_MAX_WIDTH) && within(p.kv_heads, 1, p.query_heads) && p.query_heads % p.kv_heads == 0;
  const bool widths = within(p.head_dim, 1, ATTEND_INTEGER_MAX_HEAD_DIM) && within(p.value_dim, 1, ATTEND_MAX_WIDTH);
  const bool tokens =
      within(p.queries, 0, ATTEND_MAX_TOKENS) && within(p.keys, 0, ATTEND_MAX_TOKENS) && within(p.batch, 0, ATTEND_MAX_TOKENS);
  const bool limited = p.options != 0 || p.window_left >= 0 || p.window_right >= 0;
  const bool sees = p.keys <= ATTEND_INTEGER_MAX_KEYS || limited || p.queries == 0;
  return heads && widths && tokens && sees && p.window_left >= -1 && p.window_right >= -1 && p.sink_tokens >= 0;
}

}  // namespace

TEST_CASE("c integer: numbers of any size are refused or as the header says") {
  Random random(48);
  std::set<int> statuses;
  int taken = 0;
  for (int round = 0; round < rounds(4000); ++round) {
    IntegerWorld world(random);
    P& p = world.p;
    const std::vector<std::int8_t> before = world.output;
    if (random.between(0, 3) == 0) p.key_lengths = nullptr;  // otherwise there are too few for another batch
    for (int faults = random.between(1, 3); faults > 0; --faults) {
      const std::size_t at = fields[random.between(0, int(sizeof fields / sizeof *fields) - 1)];
      const std::ptrdiff_t number = any_number(random);
      const bool counts = at == offsetof(P, batch) || at == offsetof(P, query_heads);
      if (counts && (p.key_lengths != nullptr || p.head_constants != nullptr)) continue;  // nor constants
      std::memcpy(reinterpret_cast<unsigned char*>(&p) + at, &number, sizeof number);
    }
    const attend_status status = attend_check(&p);
    statuses.insert(status);
    const std::size_t bytes = attend_workspace_size(&p);
    REQUIRE((bytes > 0) == (status == ATTEND_OK));
    if (status == ATTEND_OK) {
      ++taken;
      if (p.batch == ATTEND_DEFAULT_BATCH) p.batch = 1;
      REQUIRE(is_right(p));
      REQUIRE(bytes < std::size_t(1) << 31);
    } else {
      REQUIRE(attend_run(&p, nullptr, 0) != ATTEND_OK);
    }
    REQUIRE(attend_run(&p, nullptr, SIZE_MAX) != ATTEND_OK);
    REQUIRE(world.output == before);
  }
  CHECK(taken > rounds(4000) / 20);
  CHECK(statuses.size() > (rounds(12) < 12 ? 10u : 30u));
  MESSAGE(taken, " of ", rounds(4000), " taken, ", statuses.size() - 1, " kinds of refusals");
}
