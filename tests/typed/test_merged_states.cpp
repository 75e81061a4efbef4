// States of different keys, merged in any order, and as bytes: the bits are those of one call, and what is wrong is refused.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "states_world.h"

using namespace attend_test;
using namespace attend_test::states;

TEST_CASE("states: segments by themselves, merged in any order, give the bits of one call") {
  World& w = world();
  static State parts[3], sum, other;
  const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for_each_backend([&](const char* backend) {
    CAPTURE(std::string(backend));
    for (const bool all : {false, true}) {
      attend::ScoreOptions<Wake> options = all ? w.all_options() : attend::ScoreOptions<Wake>(attend::causal());
      CHECK(attend::prefill(w.query, w.plain, w.expected, w.work, options) == Status::ok);
      for (int n = 0; n < 3; ++n) {
        CHECK(parts[n].begin(512 * n) == Status::ok);
        CHECK(attend::accumulate(w.query, w.plain, parts[n], 512 * n + 100, w.work, options) == Status::ok);
        CHECK(attend::accumulate(w.query, w.plain, parts[n], 512 * n + 512, w.work, options) == Status::ok);
      }
      for (const auto& order : orders) {
        for (const bool right : {false, true}) {
          sum = parts[order[0]], other = parts[order[1]];
          CHECK(attend::merge(right ? other : sum, right ? parts[order[2]] : other) == Status::ok);
          CHECK(attend::merge(sum, right ? other : parts[order[2]]) == Status::ok);
          CHECK(sum.next() == keys);
          poison_array(w.found);
          CHECK(attend::finish(sum, w.found, options) == Status::ok);
          CHECK(same_array(w.found, w.expected));
        }
      }
    }
  });
}

TEST_CASE("states: what cannot be merged, finished or kept is refused, and nothing is touched") {
  World& w = world();
  const attend::Options options = attend::causal();
  static attend::State<Wake, queries, 1> first, second, open, before;
  static attend::OptionWorkspace<Wake, queries> work;
  const auto take = [&](auto& state, int from, int to) {
    CHECK(state.begin(from) == Status::ok);
    return attend::accumulate(w.query, w.plain, state, to, work, options);
  };
  const auto refused = [&](auto& state, Status found, Status expected) {
    CHECK(found == expected);
    CHECK(same_array(state, before));
  };
  CHECK(take(first, 0, 512) == Status::ok);
  CHECK(take(second, 1024, 1100) == Status::ok);
  before = first;
  refused(first, attend::merge(first, first), Status::bad_state);  // the same segment
  CHECK(attend::merge(first, second) == Status::ok);               // segments 0 and 2, which is open
  before = first;
  refused(first, attend::merge(first, second), Status::bad_state);  // and again
  poison_array(w.found);
  w.expected = w.found;
  refused(first, attend::finish(first, w.found, options), Status::missing_keys);
  CHECK(same_array(w.found, w.expected));
  CHECK(take(open, 512, 600) == Status::ok);
  refused(first, attend::merge(first, open), Status::bad_state);  // two are open
  CHECK(take(second, 512, 1024) == Status::ok);
  CHECK(attend::merge(first, second) == Status::ok);  // into one node, for which there is room
  CHECK(first.next() == 1100);
  CHECK(attend::accumulate(w.query, w.plain, first, keys, work, options) == Status::ok);
  CHECK(attend::finish(first, w.found, options) == Status::ok);
  CHECK(attend::prefill(w.query, w.plain, w.expected, work, attend::ScoreOptions<Wake>(options)) == Status::ok);
  CHECK(same_array(w.found, w.expected));

  CHECK(take(first, 0, 512) == Status::ok);
  CHECK(take(second, 512, 600) == Status::ok);
  CHECK(take(open, 1024, 1100) == Status::ok);
  before = second;
  refused(second, attend::merge(second, open), Status::bad_state);
  CHECK(attend::merge(second, first) == Status::ok);  // it goes on with its own segment
  CHECK(second.next() == 600);
  CHECK(take(open, 1024, 1300) == Status::ok);
  before = second;
  refused(second, attend::merge(second, open), Status::bad_state);
  static attend::State<Wake, queries, 0> none;
  CHECK(none.begin() == Status::ok);
  CHECK(attend::accumulate(w.query, w.plain, none, 511, work, options) == Status::ok);
  CHECK(attend::accumulate(w.query, w.plain, none, 512, work, options) == Status::too_many_nodes);
  CHECK(none.next() == 511);
  static attend::State<Wake, queries, 1> far;
  static attend::Key<Wake, 1700> key;
  static attend::Value<Wake, 1700> value;
  CHECK(far.begin(1024) == Status::ok);
  CHECK(attend::accumulate(w.query, key, value, far, 1536, work, attend::causal(1700 - queries)) == Status::ok);
  CHECK(first.begin() == Status::ok);
  CHECK(attend::accumulate(w.query, key, value, first, 512, work, attend::causal(1700 - queries)) == Status::ok);
  before = first;
  refused(first, attend::merge(first, far), Status::too_many_nodes);  // 0 and 2
}

TEST_CASE("states: a hole that no query sees is none") {
  World& w = world();
  attend::ScoreOptions<Wake> options = attend::causal();
  options.window_left = 200;  // tokens 1295 to 1299 see keys from 1095 on
  options.sink_tokens = 4;
  static State ends, middle;
  CHECK(ends.begin() == Status::ok);
  CHECK(attend::accumulate(w.query, w.plain, ends, 512, w.work, options) == Status::ok);
  CHECK(middle.begin(1024) == Status::ok);
  CHECK(attend::accumulate(w.query, w.plain, middle, keys, w.work, options) == Status::ok);
  CHECK(attend::finish(middle, w.found, options) == Status::missing_keys);  // the sink tokens
  CHECK(attend::merge(ends, middle) == Status::ok);
  CHECK(attend::finish(ends, w.found, options) == Status::ok);
  CHECK(attend::prefill(w.query, w.plain, w.expected, w.work, options) == Status::ok);
  CHECK(same_array(w.found, w.expected));
  options.window_left = 272;  // key 1023 of the first query
  CHECK(ends.begin() == Status::ok);
  CHECK(attend::accumulate(w.query, w.plain, ends, 512, w.work, options) == Status::ok);
  CHECK(middle.begin(1024) == Status::ok);
  CHECK(attend::accumulate(w.query, w.plain, middle, keys, w.work, options) == Status::ok);
  CHECK(attend::merge(ends, middle) == Status::ok);
  CHECK(attend::finish(ends, w.found, options) == Status::missing_keys);
}

TEST_CASE("states: queries of a causal call see the keys of their own tokens, which must be there") {
  World& w = world();
  const attend::Options options = attend::causal();
  static State states, before;
  CHECK(states.begin() == Status::ok);
  CHECK(attend::accumulate(w.query, w.plain, states, 1024, w.work, options) == Status::ok);  // of keys 0 ... 1299
  before = states;
  poison_array(w.found);
  w.expected = w.found;
  for (const int missing : {1024, keys - 1}) {
    CHECK(attend::accumulate(w.query, w.plain, states, missing, w.work, options) == Status::ok);
    CHECK(attend::finish(states, w.found, options) == Status::missing_keys);
    CHECK(same_array(w.found, w.expected));
  }
  // Where keys end there, and queries behind them are padding.
  attend::Options shorter = options;
  shorter.offset = keys - queries, shorter.key_length = 1024;
  CHECK(attend::finish(before, w.found, shorter) == Status::ok);
  CHECK(attend::prefill(w.query, w.plain, w.expected, w.work, attend::ScoreOptions<Wake>(shorter)) == Status::ok);
  CHECK(same_array(w.found, w.expected));
  // Nobody can know of keys that queries see at any position.
  attend::Options all;
  all.causal = false;
  CHECK(states.begin() == Status::ok);
  CHECK(attend::accumulate(w.query, w.plain, states, 1024, w.work, all) == Status::ok);
  CHECK(attend::finish(states, w.found, all) == Status::ok);
}

TEST_CASE("states: one of a machine without keys changes nothing where it is merged") {
  World& w = world();
  attend::Options options = attend::causal();
  options.offset = 300 - queries;
  static attend::KvCache<Wake> nothing;
  static State first, none, other;
  static uint8_t sent[State::most_saved_bytes];
  for (const bool swapped : {false, true}) {
    attend::ScoreOptions<Wake> of_none = options;
    of_none.origin = 1024, of_none.key_length = 300;
    CHECK(none.begin(1024) == Status::ok);
    CHECK(attend::accumulate(w.query, nothing, none, 1024, w.work, of_none) == Status::bad_key_length);
    of_none.key_length = {};
    CHECK(attend::accumulate(w.query, nothing, none, 1024, w.work, of_none) == Status::ok);
    CHECK(attend::save(none, sent) == Status::ok);
    CHECK(attend::load(other, sent, sizeof sent) == Status::ok);
    attend::Options of_first = options;
    of_first.key_length = 300;
    CHECK(first.begin() == Status::ok);
    CHECK(attend::accumulate(w.query, w.plain, first, 300, w.work, of_first) == Status::ok);
    CHECK((swapped ? attend::merge(other, first) : attend::merge(first, other)) == Status::ok);
    CHECK(attend::finish(swapped ? other : first, w.found, options) == Status::ok);
    CHECK(attend::prefill(w.query, w.plain, w.expected, w.work, attend::ScoreOptions<Wake>(of_first)) == Status::ok);
    CHECK(same_array(w.found, w.expected));
  }
}

TEST_CASE("states: nothing changes a state that has passed over its last keys, and becomes it") {
  World& w = world();
  attend::ScoreOptions<Wake> options;
  options.causal = false, options.offset = 600, options.window_left = 100, options.window_right = 0;
  static State all, before, none, fresh;
  CHECK(all.begin() == Status::ok);
  CHECK(attend::accumulate(w.query, w.plain, all, keys, w.work, options) == Status::ok);
  CHECK(all.next() == keys);
  CHECK(none.begin() == Status::ok);
  CHECK(attend::accumulate(w.query, w.plain, none, 0, w.work, options) == Status::ok);
  before = all;
  for (State* nothing : {&none, &fresh}) {
    CHECK(attend::merge(all, *nothing) == Status::ok);
    CHECK(same_array(all, before));
    CHECK(attend::merge(*nothing, all) == Status::ok);
    CHECK(nothing->next() == keys);
    options.key_length = keys;
    CHECK(attend::finish(*nothing, w.found, options) == Status::ok);
    options.key_length = {};
  }
}

TEST_CASE("states: of two that have seen nothing, the merge goes on with the first key of both") {
  World& w = world();
  const attend::Options options = attend::causal();
  static State early, late;
  for (const bool swapped : {false, true}) {
    for (const bool begun : {false, true}) {  // early, in a call or in none
      CHECK(early.begin() == Status::ok);
      CHECK(late.begin(1024) == Status::ok);
      for (State* state : {&early, &late}) {
        if (state == &early && !begun) continue;
        CHECK(attend::accumulate(w.query, w.plain, *state, state->next(), w.work, options) == Status::ok);
      }
      CHECK((swapped ? attend::merge(late, early) : attend::merge(early, late)) == Status::ok);
      CHECK((swapped ? late : early).next() == 0);
    }
  }
}

namespace {

constexpr std::size_t most_bytes = State::most_saved_bytes;
struct Bytes {
  std::uint8_t bytes[most_bytes];
  std::size_t size;
};
Bytes saved(const State& state) {
  Bytes all;
  std::memset(all.bytes, 0x5a, most_bytes);
  REQUIRE(attend::save(state, all.bytes) == Status::ok);
  all.size = attend::saved_bytes(state);
  REQUIRE(all.size <= most_bytes);
  for (std::size_t i = all.size; i < most_bytes; ++i) REQUIRE(all.bytes[i] == 0x5a);
  return all;
}

}  // namespace

TEST_CASE("states: saved, loaded and merged they have the bits of one call, and go on where they stopped") {
  World& w = world();
  static State first, second, loaded, whole;
  attend::ScoreOptions<Wake> options = w.all_options();
  for_each_backend([&](const char* backend) {
    CAPTURE(std::string(backend));
    CHECK(attend::prefill(w.query, w.plain, w.expected, w.work, options) == Status::ok);
    CHECK(whole.begin() == Status::ok);
    CHECK(attend::accumulate(w.query, w.plain, whole, keys, w.work, options) == Status::ok);
    for (const int stop : {1, 64, 500, 512, 1000, 1024, 1299}) {
      CAPTURE(stop);
      CHECK(first.begin() == Status::ok);
      CHECK(attend::accumulate(w.query, w.plain, first, stop, w.work, options) == Status::ok);
      const Bytes bytes = saved(first);
      CHECK(attend::load(loaded, bytes.bytes, bytes.size) == Status::ok);
      CHECK(loaded.next() >= stop);  // behind keys that no query sees
      CHECK(loaded.next() <= first.next());
      CHECK(std::memcmp(saved(loaded).bytes, bytes.bytes, bytes.size) == 0);
      CHECK(attend::accumulate(w.query, w.plain, loaded, keys, w.work, options) == Status::ok);
      CHECK(std::memcmp(saved(loaded).bytes, saved(whole).bytes, most_bytes) == 0);
      CHECK(attend::finish(loaded, w.found, options) == Status::ok);
      CHECK(same_array(w.found, w.expected));
    }
    CHECK(first.begin(512) == Status::ok);
    CHECK(attend::accumulate(w.query, w.plain, first, keys, w.work, options) == Status::ok);
    CHECK(second.begin() == Status::ok);
    CHECK(attend::accumulate(w.query, w.plain, second, 512, w.work, options) == Status::ok);
    const Bytes sent = saved(second);
    CHECK(attend::load(loaded, sent.bytes, most_bytes) == Status::ok);  // what follows is another's
    CHECK(attend::merge(first, loaded) == Status::ok);
    CHECK(std::memcmp(saved(first).bytes, saved(whole).bytes, most_bytes) == 0);
  });
}

TEST_CASE("states: what is no saved state of these heads is refused, and nothing is touched") {
  World& w = world();
  static State state, before;
  CHECK(state.begin() == Status::ok);
  CHECK(attend::accumulate(w.query, w.plain, state, keys, w.work) == Status::ok);
  Bytes bytes = saved(state);
  before = state;
  const auto refused = [&](Status status, Status expected) {
    CHECK(status == expected);
    CHECK(same_array(state, before));
    CHECK(std::string(attend::status_text(expected)).size() > 20);
  };
  for (const std::size_t size : {std::size_t(0), std::size_t(79), bytes.size - 1}) {
    refused(attend::load(state, bytes.bytes, size), Status::bad_saved);
  }
  for (std::size_t i = 0; i < bytes.size; i += 7) {
    bytes.bytes[i] ^= 4;
    refused(attend::load(state, bytes.bytes, bytes.size), i / 4 == 1 ? Status::other_bits : Status::bad_saved);
    bytes.bytes[i] ^= 4;
  }
  const auto into = [&](auto& other, Status expected) {
    const auto copy = other;
    CHECK(attend::load(other, bytes.bytes, bytes.size) == expected);
    CHECK(same_array(other, copy));
  };
  static attend::State<Wake, queries - 1, 8> fewer;
  static attend::State<Wake, queries, 0> no_room;
  static attend::State<attend::Integer<Wake>, queries, 8> integers;
  into(fewer, Status::other_shape);
  into(no_room, Status::too_many_nodes);
  into(integers, Status::other_shape);
  // Whoever made up a next key: from the last whole segment on, positions would overflow an int.
  std::vector<std::uint8_t> none(most_bytes);
  const auto with_next_key = [&](int key) {
    attend::core::SavedHead head{};
    head.batch = 1, head.query_heads = Wake::query_heads, head.value_dim = Wake::value_dim, head.next_key = key;
    const float none_of_them = 0;
    attend::core::save(head, &none_of_them, 0, none.data());
    return attend::load(state, none.data(), none.size());
  };
  refused(with_next_key(0x7fffffff), Status::bad_saved);
  refused(with_next_key(0x7ffffe01), Status::bad_saved);
  CHECK(with_next_key(0x7ffffe00) == Status::ok);
  CHECK(state.next() == 0x7ffffe00);
  // Its options come with it.
  CHECK(attend::load(state, bytes.bytes, bytes.size) == Status::ok);
  CHECK(attend::finish(state, w.found, w.all_options()) == Status::other_options);
}
