// What tests of integer shapes have in common: a shape, filled arrays, a cache and a ring of the same tokens.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <memory>

#include "../support/random.h"
#include "attend/batch.h"
#include "attend/merged_states.h"

namespace attend_test {
namespace integers {

using attend::Status;

struct Talk {
  using arithmetic = attend::integer;
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 32, value_dim = 24, max_tokens = 1100;
};
constexpr int short_tokens = 70;
struct Short : Talk {
  static constexpr int max_tokens = short_tokens;
};
struct LastWords {
  static constexpr int window = 70, sink_tokens = 5, tokens_at_once = 3;
};

constexpr attend::Quantisation<Talk> quantisation(0.03, 0.03, 0.02, {0.01, -3});
static_assert(quantisation.status() == Status::ok);

template <class Array>
void fill(Array& array, std::uint64_t seed) {
  attend_test::Random random(seed);
  auto* bytes = reinterpret_cast<std::int8_t*>(&array);
  for (std::size_t i = 0; i < sizeof array; ++i) bytes[i] = static_cast<std::int8_t>(random.bits() >> 24);
}

template <class Array>
bool same(const Array& a, const Array& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// A cache and a ring of the same tokens, and everything that calls take.
struct World {
  attend::KvCache<Talk> cache;
  attend::RingCache<Talk, LastWords> ring;
  attend::Workspace<Talk, 1> work;
  attend::Workspace<Talk, 3> work_of_three;
  attend::Query<Talk> query;
  attend::Output<Talk> output, expected;

  void append(int tokens, std::uint64_t seed) {
    for (int i = 0; i < tokens; ++i) {
      attend::Key<Talk> key;
      attend::Value<Talk> value;
      fill(key, seed + std::uint64_t(2 * i));
      fill(value, seed + std::uint64_t(2 * i + 1));
      REQUIRE(cache.append(key, value) == Status::ok);
      REQUIRE(ring.append(key, value) == Status::ok);
    }
    fill(query, seed + 9999);
  }
};

inline std::unique_ptr<World> world(int tokens) {
  auto made = std::make_unique<World>();
  made->append(tokens, 1);
  return made;
}

}  // namespace integers
}  // namespace attend_test
