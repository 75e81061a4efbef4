// What tests of states share: queries over a plain cache, one of other formats and a ring that has gone round.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "../support/typed_objects.h"

namespace attend_test {
namespace states {

using attend::Status;

struct Wake {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 12, value_dim = 7, max_tokens = 1300;
};
constexpr int queries = 5, keys = 1300;

static_assert(sizeof(attend::State<Wake, 3>) == 3 * 4 * (19 + 2 * 7 + 1 * (7 + 3)) * 4 + 16 + 36,
              "a state is its floats, how far it is, and what it was taken with");

using Recent = RingOf<700, 4, 1300>;
using State = attend::State<Wake, queries, 8>;  // over a ring, positions are beyond max_tokens

struct World {
  attend::Query<Wake, queries> query;
  attend::Key<Wake, keys> key;
  attend::Value<Wake, keys> value;
  attend::KvCache<Wake> plain;
  attend::KvCache<Wake, attend::int8, attend::float16> bytes;
  attend::RingCache<Wake, Recent> ring;
  attend::OptionWorkspace<Wake, queries, attend::over_ring<Recent>> work;
  State state, later;
  attend::Output<Wake, queries> expected, found;
  attend::Lse<Wake, queries> expected_lse, lse;
  const float alibi_slopes[4] = {0.01f, 0.02f, 0.0f, 0.5f}, sink_logits[4] = {1.0f, 0.0f, -3.0f, 20.0f};

  World() {
    fill_array(query, 1, 4.0f);
    fill_array(key, 2);
    fill_array(value, 3);
    for (int i = 0; i < 2; ++i) REQUIRE(ring.append(key, value) == Status::ok);  // twice: it has forgotten the first round
    REQUIRE(plain.append(key, value) == Status::ok);
    REQUIRE(bytes.append(key, value) == Status::ok);
  }

  attend::ScoreOptions<Wake> all_options() {
    attend::ScoreOptions<Wake> options = attend::causal();
    options.alibi_slopes = alibi_slopes;
    options.sink_logits = sink_logits;
    options.window_left = 600;
    options.sink_tokens = 3;
    options.soft_cap = 6.0f;
    return options;
  }
};

inline World& world() {
  static World only;
  return only;
}

}  // namespace states
}  // namespace attend_test
