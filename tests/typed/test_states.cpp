// State: however keys are cut into calls, the bits are those of one call. Merged states: test_merged_states.cpp.
#include <doctest/doctest.h>

#include "states_world.h"

using namespace attend_test;
using namespace attend_test::states;

namespace {

template <class Cache>
void check_cache(const Cache& cache, attend::ScoreOptions<Wake> options) {
  World& w = world();
  options.lse = w.expected_lse;
  CHECK(attend::prefill(w.query, cache, w.expected, w.work, options) == Status::ok);
  for (const int step : {1, 17, 64, 256, 512, 5000}) {
    if (step == 1 && std::string(attend::active_backend()) == "scalar") continue;
    CAPTURE(step);
    CHECK(w.state.begin() == Status::ok);
    options.lse = w.lse;
    poison_array(w.found);
    poison_array(w.lse);
    while (w.state.next() < cache.length()) {
      const int before = w.state.next();
      REQUIRE(attend::accumulate(w.query, cache, w.state, before + step, w.work, options) == Status::ok);
      REQUIRE(w.state.next() >= std::min(before + step, cache.length()));  // it passes over keys that no query sees
    }
    CHECK(attend::finish(w.state, w.found, options) == Status::ok);
    CHECK(same_array(w.found, w.expected));
    CHECK(same_array(w.lse, w.expected_lse));
  }
}

}  // namespace

TEST_CASE("states: over every cache, in steps of any size, the bits of prefill") {
  for_each_backend([](const char* backend) {
    CAPTURE(std::string(backend));
    World& w = world();
    check_cache(w.plain, attend::causal());
    check_cache(w.plain, w.all_options());
    check_cache(w.bytes, w.all_options());
    check_cache(w.ring, w.all_options());
  });
}

TEST_CASE("states: one that was never begun, or begun anew, takes all keys from the first on") {
  World& w = world();
  const attend::Options options = attend::causal();
  CHECK(attend::prefill(w.query, w.plain, w.expected, w.work, attend::ScoreOptions<Wake>(options)) == Status::ok);
  State fresh;
  for (int round = 0; round < 3; ++round) {
    CHECK(fresh.next() == 0);
    CHECK(attend::accumulate(w.query, w.plain, fresh, 0, w.work, options) == Status::ok);
    CHECK(fresh.next() == 0);
    poison_array(w.found);
    CHECK(attend::accumulate(w.query, w.plain, fresh, keys, w.work, options) == Status::ok);
    CHECK(attend::finish(fresh, w.found, options) == Status::ok);
    CHECK(same_array(w.found, w.expected));
    // Where a state began decides what it can be merged into: behind a state that stopped at 1300 nothing begins.
    (void)w.later.begin();
    CHECK(attend::accumulate(w.query, w.plain, w.later, 0, w.work, options) == Status::ok);
    CHECK(attend::merge(w.later, fresh) == Status::ok);  // keys 0 to 1299 behind none
    CHECK(w.later.next() == keys);
    CHECK(attend::merge(fresh, w.later) == Status::bad_state);
    if (round == 1) {
      fresh = {};
    } else {
      CHECK(fresh.begin(512) == Status::ok);
      CHECK(fresh.next() == 512);
      CHECK(fresh.begin() == Status::ok);
    }
  }
}

TEST_CASE("states: over arrays, with Options, and one that is looked at on the way") {
  World& w = world();
  const attend::Options options = attend::causal(keys - queries);
  (void)w.state.begin();
  attend::Options half = options;
  half.key_length = 640;  // the caller knows that there are more
  CHECK(attend::accumulate(w.query, w.key, w.value, w.state, 640, w.work, options) == Status::ok);
  CHECK(attend::finish(w.state, w.found, half) == Status::ok);
  CHECK(attend::attention(w.query, w.key, w.value, w.expected, w.work, attend::ScoreOptions<Wake>(half)) == Status::ok);
  CHECK(same_array(w.found, w.expected));
  CHECK(attend::accumulate(w.query, w.key, w.value, w.state, keys, w.work, options) == Status::ok);
  CHECK(attend::accumulate(w.query, w.key, w.value, w.state, keys, w.work, options) == Status::ok);  // there is nothing left
  CHECK(attend::finish(w.state, w.found, options) == Status::ok);
  CHECK(attend::attention(w.query, w.key, w.value, w.expected, w.work, attend::ScoreOptions<Wake>(options)) == Status::ok);
  CHECK(same_array(w.found, w.expected));
  // Or is merged with another one.
  (void)w.state.begin();
  CHECK(attend::accumulate(w.query, w.key, w.value, w.state, 512, w.work, options) == Status::ok);
  half.key_length = 512;
  CHECK(attend::finish(w.state, w.found, half) == Status::ok);
  (void)w.later.begin(512);
  CHECK(attend::accumulate(w.query, w.key, w.value, w.later, keys, w.work, options) == Status::ok);
  CHECK(attend::merge(w.state, w.later) == Status::ok);
  CHECK(attend::finish(w.state, w.found, options) == Status::ok);
  CHECK(same_array(w.found, w.expected));
}

TEST_CASE("states: of a cache that holds nothing, and of fewer queries") {
  World& w = world();
  static attend::KvCache<Wake> empty;
  attend::ScoreOptions<Wake> options;
  options.lse = w.lse;
  options.sink_logits = w.sink_logits;
  (void)w.state.begin();
  CHECK(attend::accumulate(w.query, empty, w.state, 100, w.work, options) ==
        Status::bad_query_length);  // the last of no tokens
  options.causal = false;
  CHECK(attend::accumulate(w.query, empty, w.state, 100, w.work, options) == Status::ok);
  CHECK(w.state.next() == 0);
  CHECK(attend::finish(w.state, w.found, options) == Status::ok);
  CHECK(w.found[2][3][6] == 0.0f);
  CHECK(w.lse[4][3] == doctest::Approx(20.0));  // the sink alone

  options = attend::causal();
  options.query_length = 2;
  CHECK(attend::prefill(w.query, w.plain, w.expected, w.work, options) == Status::ok);
  poison_array(w.found);
  (void)w.state.begin();
  CHECK(attend::accumulate(w.query, w.plain, w.state, keys, w.work, options) == Status::ok);
  CHECK(attend::finish(w.state, w.found, attend::Options{}) == Status::ok);
  CHECK(std::memcmp(&w.found, &w.expected, sizeof(attend::Output<Wake, 2>)) == 0);
  CHECK(w.found[2][0][0] != w.found[2][0][0]);
}

TEST_CASE("states: what is out of range is refused with a status, and nothing is touched") {
  World& w = world();
  attend::ScoreOptions<Wake> options = attend::causal();
  static State state, before;
  poison_array(w.found);
  w.expected = w.found;
  const auto refused = [&](Status found, Status expected) {
    CHECK(found == expected);
    CHECK(same_array(state, before));
    CHECK(same_array(w.found, w.expected));
    CHECK(std::string(attend::status_text(expected)).size() > 20);
  };
  CHECK(state.begin(-512) == Status::bad_begin);
  CHECK(state.begin(100) == Status::bad_begin);
  CHECK(attend::accumulate(w.query, w.plain, state, 400, w.work, options) == Status::ok);
  before = state;
  refused(attend::accumulate(w.query, w.plain, state, 399, w.work, options), Status::bad_up_to);
  options.query_length = 3;
  refused(attend::accumulate(w.query, w.plain, state, 500, w.work, options), Status::bad_state);
  refused(attend::finish(state, w.found, options), Status::bad_state);
  options.query_length = {};
  options.key_length = 399;
  refused(attend::accumulate(w.query, w.plain, state, 500, w.work, options), Status::bad_state);
  options.key_length = {};
  options.sink_tokens = -1;
  refused(attend::accumulate(w.query, w.plain, state, 500, w.work, options), Status::bad_sink_tokens);
  options.sink_tokens = {};
  static attend::Scores<Wake, queries, keys> scores;
  options.scores = scores;
  options.score_stage = attend::ScoreStage::weights;
  refused(attend::accumulate(w.query, w.plain, state, 500, w.work, options), Status::bad_scores);
  options.scores = {};
  static attend::Lse<Wake, queries - 1> few;
  options.lse = few;
  refused(attend::finish(state, w.found, options), Status::bad_lse);
  (void)w.later.begin(512);
  CHECK(attend::accumulate(w.query, w.plain, w.later, 600, w.work, attend::causal()) == Status::ok);
  refused(attend::merge(state, w.later), Status::bad_state);  // it stopped at 400
}

TEST_CASE("states: a step that was forgotten is refused: keys, begin for other queries, the length and lse of finish") {
  World& w = world();
  static attend::KvCache<Wake> cache;
  static attend::Key<Wake, 150> key;
  static attend::Value<Wake, 150> value;
  static State state;
  attend::ScoreOptions<Wake> options;
  options.causal = false;
  cache.clear();
  (void)state.begin();
  CHECK(attend::accumulate(w.query, cache, state, 100, w.work, options) == Status::ok);  // which adds nothing
  CHECK(state.next() == 0);
  REQUIRE(cache.append(key, value) == Status::ok);
  CHECK(attend::accumulate(w.query, cache, state, 100, w.work, options) == Status::ok);
  CHECK(attend::accumulate(w.query, cache, state, 200, w.work, options) == Status::ok);  // the 50 that there are
  CHECK(attend::accumulate(w.query, cache, state, 200, w.work, options) == Status::ok);  // none
  options.key_length = 200;
  CHECK(attend::finish(state, w.found, options) == Status::other_options);
  options.key_length = 150;
  CHECK(attend::finish(state, w.found, options) == Status::ok);
  CHECK(attend::finish(state, w.found, options) == Status::bad_state);  // begin() was forgotten, and so nothing taken
  static attend::Query<Wake, queries> other;
  other = w.query;
  other[queries - 1][3][11] += 1.0f;
  REQUIRE(cache.append(key, value, 1) == Status::ok);
  options.key_length = {};
  CHECK(attend::accumulate(other, cache, state, 151, w.work, options) == Status::other_options);
  CHECK(attend::accumulate(w.query, cache, state, 151, w.work, options) == Status::ok);
  CHECK(attend::finish(state, w.found, options) == Status::ok);
  (void)state.begin();
  options.lse = w.lse;
  CHECK(attend::accumulate(w.query, cache, state, 150, w.work, options) == Status::ok);
  options.lse = {};
  CHECK(attend::finish(state, w.found, options) == Status::other_options);
  options.lse = w.lse, options.lse_base = attend::LseBase::two;
  CHECK(attend::finish(state, w.found, options) == Status::other_options);
  options.lse_base = attend::LseBase::e;
  CHECK(attend::finish(state, w.found, options) == Status::ok);
  const float natural = w.lse[1][2];
  (void)state.begin();
  options.lse_base = attend::LseBase::two;
  CHECK(attend::accumulate(w.query, cache, state, 150, w.work, options) == Status::ok);
  CHECK(attend::finish(state, w.found, options) == Status::ok);
  CHECK(w.lse[1][2] == doctest::Approx(natural * 1.4426950408889634));
}

TEST_CASE("states: other options than before are refused, by accumulate, merge and finish, and nothing is touched") {
  World& w = world();
  static attend::Mask<1, 1, keys> mask;
  static attend::Bias<1, 1, keys> bias{};
  static attend::RelativeBias<1, 2, 2> relative{};
  static State state, before;
  std::memset(&mask, 1, sizeof mask);
  const float others[4] = {1.0f, 0.0f, -3.0f, 21.0f};
  CHECK(state.begin() == Status::ok);
  CHECK(attend::accumulate(w.query, w.plain, state, 512, w.work, w.all_options()) == Status::ok);
  before = state;
  poison_array(w.found);
  w.expected = w.found;
  const auto refused = [&](Status found) {
    CHECK(found == Status::other_options);
    CHECK(same_array(state, before));
    CHECK(same_array(w.found, w.expected));
  };
  const auto other = [&](auto change) {
    attend::ScoreOptions<Wake> options = w.all_options();
    change(options);
    refused(attend::accumulate(w.query, w.plain, state, 600, w.work, options));
    CHECK(w.later.begin(512) == Status::ok);
    CHECK(attend::accumulate(w.query, w.plain, w.later, 600, w.work, options) == Status::ok);
    refused(attend::merge(state, w.later));
    return attend::finish(state, w.found, options);
  };
  refused(other([](auto& o) { o.scale = 0.5f; }));
  refused(other([](auto& o) { o.causal = false; }));
  refused(other([](auto& o) { o.offset = keys - queries - 1; }));
  refused(other([](auto& o) { o.window_left = 599; }));
  refused(other([](auto& o) { o.window_right = 3; }));
  refused(other([](auto& o) { o.sink_tokens = 2; }));
  refused(other([](auto& o) { o.soft_cap = 6.5f; }));
  refused(other([&](auto& o) { o.mask = mask; }));
  refused(other([&](auto& o) { o.bias = bias; }));
  refused(other([&](auto& o) { o.bias = bias, o.bias_stage = attend::BiasStage::before_cap; }));
  {
    static State capped;
    attend::ScoreOptions<Wake> after_cap = w.all_options();
    after_cap.bias = bias;
    attend::ScoreOptions<Wake> before_cap = after_cap;
    before_cap.bias_stage = attend::BiasStage::before_cap;
    CHECK(attend::accumulate(w.query, w.plain, capped, 512, w.work, after_cap) == Status::ok);
    CHECK(attend::accumulate(w.query, w.plain, capped, 600, w.work, before_cap) == Status::other_options);
    CHECK(attend::finish(capped, w.found, before_cap) == Status::other_options);
  }
  refused(other([&](auto& o) { o.relative_bias = relative; }));
  attend::ScoreOptions<Wake> without_slopes = w.all_options();  // which finish would take: what it does not say is what it was
  without_slopes.alibi_slopes = {};
  refused(attend::accumulate(w.query, w.plain, state, 600, w.work, without_slopes));
  refused(other([&](auto& o) { o.sink_logits = others; }));
  refused(other([&](auto& o) { o.sink_logits = {}; }));
  refused(attend::finish(state, w.found));  // the sink logits would be forgotten
  attend::ScoreOptions<Wake> alone;
  alone.sink_logits = others;
  refused(attend::finish(state, w.found, alone));
  // What finish does not say is what it was.
  alone.sink_logits = w.sink_logits, alone.key_length = 512;
  CHECK(attend::finish(state, w.found, alone) == Status::ok);
  attend::ScoreOptions<Wake> options = w.all_options();
  options.key_length = 512;
  options.offset = keys - queries;
  CHECK(attend::prefill(w.query, w.plain, w.expected, w.work, options) == Status::ok);
  CHECK(same_array(w.found, w.expected));

  // Where queries are is a setting where a right side or a distance alone asks for it.
  attend::ScoreOptions<Wake> right, distance;
  right.window_right = 3, distance.alibi_slopes = w.alibi_slopes;
  for (attend::ScoreOptions<Wake>* each : {&right, &distance}) {
    each->causal = false, each->offset = 100;
    CHECK(state.begin() == Status::ok);
    CHECK(attend::accumulate(w.query, w.plain, state, 512, w.work, *each) == Status::ok);
    each->offset = 101;
    CHECK(attend::accumulate(w.query, w.plain, state, 600, w.work, *each) == Status::other_options);
  }

  // Queries stay where they are when the cache grows.
  static attend::KvCache<Wake> cache;
  static attend::Key<Wake, 600> key;
  static attend::Value<Wake, 600> value;
  fill_array(key, 2);
  fill_array(value, 3);
  CHECK(cache.append(key, value) == Status::ok);
  CHECK(state.begin() == Status::ok);
  CHECK(attend::accumulate(w.query, cache, state, 600, w.work) == Status::ok);
  before = state;
  w.expected = w.found;
  CHECK(cache.append(key, value) == Status::ok);
  refused(attend::accumulate(w.query, cache, state, 1200, w.work));
  CHECK(attend::accumulate(w.query, cache, state, 1200, w.work, attend::causal(600 - queries)) == Status::ok);
  CHECK(state.begin() == Status::ok);  // and is forgotten
  CHECK(attend::accumulate(w.query, cache, state, 1200, w.work) == Status::ok);
}
