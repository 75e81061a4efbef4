// Integer attention through its typed surface: every way to make a call gives the same bits, and what is refused changes
// nothing.
#include "integer_world.h"

#include <string>

using namespace attend_test::integers;

TEST_CASE("integers: a ring is a cache with a window") {
  auto w = world(0);
  attend::ScoreOptions<Talk> window;
  window.window_left = LastWords::window - 1;
  window.sink_tokens = LastWords::sink_tokens;
  for (int token = 0; token < 300; ++token) {
    w->append(1, std::uint64_t(100 * token));
    REQUIRE(attend::decode(w->query, w->cache, w->expected, w->work, quantisation, window) == Status::ok);
    REQUIRE(attend::decode(w->query, w->ring, w->output, w->work, quantisation) == Status::ok);
    REQUIRE(same(w->output, w->expected));
  }
  attend::Query<Talk, 3> queries;
  fill(queries, 7);
  attend::Output<Talk, 3> expected, output;
  REQUIRE(attend::prefill(queries, w->cache, expected, w->work_of_three, quantisation, window) == Status::ok);
  REQUIRE(attend::prefill(queries, w->ring, output, w->work_of_three, quantisation) == Status::ok);
  CHECK(same(output, expected));
}

TEST_CASE("integers: arrays, caches and single tokens give the same bits") {
  constexpr attend::Quantisation<Short> scales(0.03, 0.03, 0.02, 0.01);
  auto queries = std::make_unique<attend::Query<Short, short_tokens>>();
  auto keys = std::make_unique<attend::Key<Short, short_tokens>>();
  auto values = std::make_unique<attend::Value<Short, short_tokens>>();
  auto output = std::make_unique<attend::Output<Short, short_tokens>>(),
       again = std::make_unique<attend::Output<Short, short_tokens>>();
  auto work = std::make_unique<attend::Workspace<Short, short_tokens, short_tokens>>();
  auto cache = std::make_unique<attend::KvCache<Short>>();
  auto over_cache = std::make_unique<attend::Workspace<Short, short_tokens>>();
  fill(*queries, 1);
  fill(*keys, 2);
  fill(*values, 3);
  REQUIRE(attend::attention(*queries, *keys, *values, *output, *work, scales, attend::causal()) == Status::ok);
  REQUIRE(cache->append(*keys, *values) == Status::ok);
  REQUIRE(attend::prefill(*queries, *cache, *again, *over_cache, scales) == Status::ok);
  CHECK(same(*again, *output));
  std::memset(again.get(), 0, sizeof *again);
  for (int part = 0; part < 3; ++part) {
    REQUIRE(attend::prefill(*queries, *cache, *again, *over_cache, scales, attend::Part{part, 3}) == Status::ok);
  }
  CHECK(same(*again, *output));
  for (int token = short_tokens - 1; token >= 0; --token) {
    attend::Query<Short> query;
    attend::Output<Short> row;
    std::memcpy(&query, (*queries)[token], sizeof query);
    REQUIRE(attend::decode(query, *cache, row, *over_cache, scales) == Status::ok);
    REQUIRE(std::memcmp(&row, (*output)[token], sizeof row) == 0);
    REQUIRE(cache->truncate(token) == Status::ok);
  }
}

TEST_CASE("integers: scales of heads, masks, and outputs of 16 bits") {
  auto w = world(100);
  attend::Quantisation<Talk, Talk::query_heads> of_heads(0.03, 0.03, 0.02, {0.01, -3});
  REQUIRE(attend::decode(w->query, w->cache, w->expected, w->work, quantisation) == Status::ok);
  REQUIRE(attend::decode(w->query, w->cache, w->output, w->work, of_heads) == Status::ok);
  CHECK(same(w->output, w->expected));
  of_heads.set_head(2, 0.09, 0.03, 0.02, {0.01, -3});
  REQUIRE(attend::decode(w->query, w->cache, w->output, w->work, of_heads) == Status::ok);
  CHECK(std::memcmp(w->output[0], w->expected[0], 2 * sizeof w->output[0][0]) == 0);
  CHECK(std::memcmp(w->output[0][2], w->expected[0][2], sizeof w->output[0][2]) != 0);

  // A mask of what a key length says.
  attend::ScoreOptions<Talk> masked;
  attend::BitMask<1, 1, 100> mask{};
  for (int key = 0; key < 61; ++key) mask.set(0, 0, key, true);
  masked.mask = mask;
  attend::Options shorter;
  shorter.key_length = 61;
  REQUIRE(attend::decode(w->query, w->cache, w->output, w->work, quantisation, masked) == Status::ok);
  REQUIRE(attend::decode(w->query, w->cache, w->expected, w->work, quantisation, shorter) == Status::ok);
  CHECK(same(w->output, w->expected));

  // A step of 16 bits that is as long as one of 8 gives the same numbers.
  attend::Output<Talk, 1, std::int16_t> wide;
  REQUIRE(attend::decode(w->query, w->cache, wide, w->work, quantisation, shorter) == Status::ok);
  for (int head = 0; head < Talk::query_heads; ++head) {
    for (int c = 0; c < Talk::value_dim; ++c) {
      const int number = wide[0][head][c];
      CHECK((number < -128 ? -128 : number > 127 ? 127 : number) == w->output[0][head][c]);
    }
  }

  // Queries with a zero point: the same as queries that are less by it.
  attend::Query<Talk> moved = w->query;
  for (auto& head : moved[0]) {
    for (auto& number : head) number = static_cast<std::int8_t>(number / 2 + 20);
  }
  attend::Query<Talk> lessened = moved;
  for (auto& head : lessened[0]) {
    for (auto& number : head) number = static_cast<std::int8_t>(number - 20);
  }
  constexpr attend::Quantisation<Talk> of_moved({0.03, 20}, {0.03, 7}, 0.02, {0.01, -3});
  REQUIRE(attend::decode(moved, w->cache, w->output, w->work, of_moved) == Status::ok);
  REQUIRE(attend::decode(lessened, w->cache, w->expected, w->work, quantisation) == Status::ok);
  CHECK(same(w->output, w->expected));
}

TEST_CASE("integers: in steps, merged, and with keys in parts") {
  auto w = world(1100);
  REQUIRE(attend::decode(w->query, w->cache, w->expected, w->work, quantisation) == Status::ok);
  auto state = std::make_unique<attend::State<Talk>>(), later = std::make_unique<attend::State<Talk>>();
  for (const int step : {32, 96, 512, 2000}) {
    CAPTURE(step);
    REQUIRE(state->begin() == Status::ok);
    while (state->next() < w->cache.length()) {
      REQUIRE(attend::accumulate(w->query, w->cache, *state, state->next() + step, w->work, quantisation) == Status::ok);
    }
    std::memset(&w->output, 0, sizeof w->output);
    REQUIRE(attend::finish(*state, w->output, quantisation) == Status::ok);
    CHECK(same(w->output, w->expected));
  }
  REQUIRE(state->begin() == Status::ok);
  REQUIRE(attend::accumulate(w->query, w->cache, *state, 512, w->work, quantisation) == Status::ok);
  for (const int begin : {512, 1024}) {
    REQUIRE(later->begin(begin) == Status::ok);
    REQUIRE(attend::accumulate(w->query, w->cache, *later, begin + 512, w->work, quantisation) == Status::ok);
    REQUIRE(attend::merge(*state, *later) == Status::ok);
  }
  REQUIRE(attend::finish(*state, w->output, quantisation) == Status::ok);
  CHECK(same(w->output, w->expected));
  // A call stops at whole chunks where nobody sees them, too.
  attend::ScoreOptions<Talk> window;
  window.window_left = 40;
  REQUIRE(later->begin() == Status::ok);
  CHECK(attend::accumulate(w->query, w->cache, *later, 33, w->work, quantisation, window) == Status::bad_up_to);
  CHECK(attend::accumulate(w->query, w->cache, *later, 64, w->work, quantisation, window) == Status::ok);
}

TEST_CASE("integers: what is out of range is refused, and changes nothing") {
  auto w = world(100);
  fill(w->output, 5);
  w->expected = w->output;
  const auto refused = [&](Status expected, const auto& meaning, const auto& options) {
    CAPTURE(attend::status_text(expected));
    CHECK(attend::decode(w->query, w->cache, w->output, w->work, meaning, options) == expected);
    CHECK(same(w->output, w->expected));
    CHECK(std::string(attend::status_text(expected)).size() > 20);
  };
  using Scales = attend::Quantisation<Talk>;
  const attend::Options none;
  const double nan = 0.0 / static_cast<double>(w->cache.length() - 100);
  refused(Status::bad_quantisation, Scales(3, 3, 0.02, 0.01), none);
  refused(Status::bad_quantisation, Scales(nan, 0.03, 0.02, 0.01), none);
  refused(Status::bad_quantisation, Scales(0.03, -0.03, 0.02, 0.01), none);
  refused(Status::bad_quantisation, Scales(0.03, 0.03, 0, 0.01), none);
  refused(Status::bad_quantisation, Scales(0.03, 0.03, 1e9, 0.01), none);
  refused(Status::bad_quantisation, Scales(0.03, 0.03, 0.02, 0.01, -0.1), none);
  refused(Status::bad_zero_point, Scales({0.03, 128}, 0.03, 0.02, 0.01), none);
  refused(Status::bad_zero_point, Scales({0.03, -129}, 0.03, 0.02, 0.01), none);
  refused(Status::bad_zero_point, Scales(0.03, {0.03, 128}, 0.02, 0.01), none);
  refused(Status::bad_zero_point, Scales(0.03, 0.03, {0.02, 128}, 0.01), none);
  refused(Status::bad_zero_point, Scales(0.03, 0.03, 0.02, {0.01, -129}), none);
  const auto with = [](auto set) {
    attend::ScoreOptions<Talk> options;
    set(options);
    return options;
  };
  refused(Status::no_effect, quantisation, with([](auto& o) { o.scale = 0.5f; }));
  refused(Status::bad_key_length, quantisation, with([](auto& o) { o.key_length = 101; }));
  refused(Status::bad_query_length, quantisation, with([](auto& o) { o.query_length = 2; }));
  refused(Status::bad_window, quantisation, with([](auto& o) { o.window_left = -1; }));
  refused(Status::no_effect, quantisation, with([](auto& o) { o.sink_tokens = 1; }));
  refused(Status::no_effect, quantisation, with([](auto& o) { o.offset = 1; }));
  attend::Quantisation<Talk, Talk::query_heads> of_heads({0.03, 3}, 0.03, 0.02, 0.01);
  of_heads.set_head(1, {0.04, 3}, 0.03, 0.02, 0.01);
  CHECK(of_heads.status() == Status::ok);
  of_heads.set_head(1, 0.04, 0.03, 0.02, 0.01);
  refused(Status::bad_zero_point, of_heads, none);
  attend::Mask<1, 1, 99> mask{};
  refused(Status::bad_mask, quantisation, with([&](auto& o) { o.mask = mask; }));
  CHECK(attend::decode(w->query, w->cache, w->output, w->work, quantisation, attend::Part{2, 2}) == Status::bad_part);
  CHECK(attend::decode(w->query, w->ring, w->output, w->work, quantisation, with([](auto& o) { o.window_left = 70; })) ==
        Status::bad_window);
  CHECK(attend::decode(w->query, attend::KvCache<Talk>(), w->output, w->work, quantisation) == Status::empty_cache);

  attend::State<Talk> state;
  CHECK(state.begin(32) == Status::bad_begin);
  CHECK(attend::accumulate(w->query, w->cache, state, 33, w->work, quantisation) == Status::bad_up_to);
  CHECK(attend::accumulate(w->query, w->cache, state, 32, w->work, quantisation) == Status::ok);
  w->query.data[0][0][0] ^= 1;
  CHECK(attend::accumulate(w->query, w->cache, state, 64, w->work, quantisation) == Status::other_options);
  CHECK(same(w->output, w->expected));
}

TEST_CASE("integers: finish refuses other options than accumulate had") {
  auto w = world(100);
  attend::ScoreOptions<Talk> options;
  attend::BitMask<1, 1, 100> mask{};
  mask.set(0, 0, 50, true);
  options.window_left = 40;
  constexpr attend::Quantisation<Talk> meaning({0.03, 3}, 0.03, 0.02, {0.01, -3}), moved({0.03, 4}, 0.03, 0.02, {0.01, -3});
  attend::State<Talk> state;
  REQUIRE(attend::accumulate(w->query, w->cache, state, 100, w->work, meaning, options) == Status::ok);
  const auto refused = [&](const auto& quantised, auto set) {
    auto other = options;
    set(other);
    w->expected = w->output;
    CHECK(attend::finish(state, w->output, quantised, other) == Status::other_options);
    CHECK(same(w->output, w->expected));
  };
  const auto nothing = [](auto&) {};
  refused(meaning, [](auto& o) { o.window_left = 41; });
  refused(meaning, [](auto& o) { o.scale = 0.5f; });
  refused(meaning, [](auto& o) { o.window_right = 0; });
  refused(meaning, [](auto& o) { o.sink_tokens = 1; });
  refused(quantisation, nothing);
  refused(moved, nothing);
  refused(meaning, [](auto& o) { o.offset = 98; });
  refused(meaning, [](auto& o) { o.causal = false; });
  refused(meaning, [](auto& o) { o.key_length = 99; });
  refused(meaning, [&](auto& o) { o.mask = mask; });
  refused(attend::Quantisation<Talk>({0.03, 3}, 0.02, 0.02, {0.01, -3}), nothing);
  CHECK(attend::finish(state, w->output, attend::Quantisation<Talk>(3, 3, 0.02, 0.01), options) == Status::bad_quantisation);
  REQUIRE(attend::decode(w->query, w->cache, w->expected, w->work, meaning, options) == Status::ok);
  CHECK(attend::finish(state, w->output, meaning, options) == Status::ok);
  CHECK(same(w->output, w->expected));
}

TEST_CASE("integers: a state over arrays") {
  constexpr attend::Quantisation<Short> scales(0.03, 0.03, 0.02, 0.01);
  attend::Query<Short, 3> query;
  attend::Key<Short, short_tokens> key;
  attend::Value<Short, short_tokens> value;
  attend::Output<Short, 3, std::int16_t> output, expected;
  attend::Workspace<Short, 3, short_tokens> work;
  attend::Workspace<Short, 3> work_of_state;
  attend::State<Short, 3> state;
  fill(query, 1);
  fill(key, 2);
  fill(value, 3);
  REQUIRE(attend::attention(query, key, value, expected, work, scales, attend::causal(60)) == Status::ok);
  for (const int end : {32, 64, 70}) {
    REQUIRE(attend::accumulate(query, key, value, state, end, work_of_state, scales, attend::causal(60)) == Status::ok);
  }
  REQUIRE(attend::finish(state, output, scales) == Status::ok);
  CHECK(same(output, expected));
  // Keys that ended within a chunk do not go on.
  attend::Options shorter = attend::causal(60);
  shorter.key_length = 50;
  REQUIRE(state.begin() == Status::ok);
  CHECK(attend::accumulate(query, key, value, state, 50, work_of_state, scales, shorter) == Status::ok);
  CHECK(attend::accumulate(query, key, value, state, 50, work_of_state, scales, attend::causal(60)) == Status::ok);
  CHECK(attend::accumulate(query, key, value, state, 64, work_of_state, scales, attend::causal(60)) == Status::bad_up_to);
}
