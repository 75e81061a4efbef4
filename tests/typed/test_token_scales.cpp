// Scales of single tokens in integer calls of the typed surface.
#include "integer_world.h"

#include <initializer_list>

using namespace attend_test::integers;

TEST_CASE("integers: scales of single tokens are those of the core, over arrays and a cache, in one call and in several") {
  constexpr attend::Quantisation<Short> scales(0.03, 0.03, 0.02, 0.01);
  static attend::Query<Short, 3> query;
  static attend::Key<Short, short_tokens> key;
  static attend::Value<Short, short_tokens> value;
  static attend::Output<Short, 3> output, expected;
  static attend::Workspace<Short, 3, short_tokens> work;
  static attend::Workspace<Short, 3> over_cache;
  static attend::TokenScales<Short, short_tokens> key_scales, value_scales;
  fill(query, 1);
  fill(key, 2);
  fill(value, 3);
  attend_test::Random random(4);
  for (auto* of_tokens : {&key_scales, &value_scales}) {
    for (auto& head : of_tokens->data) {
      for (auto& number : head) number = static_cast<std::uint16_t>(random.bits() >> 17);
    }
  }
  attend::ScoreOptions<Short> options(attend::causal(short_tokens - 3));
  for (const bool of_keys : {true, false}) {
    options.key_scales = {};
    options.value_scales = {};
    if (of_keys) {
      options.key_scales = key_scales;
    } else {
      options.value_scales = value_scales;
    }
    attend::core::Options o;
    o.output_format = attend::core::Format::int8;
    o.key_scales = options.key_scales.data;
    o.value_scales = options.value_scales.data;
    o.key_scale_stride = o.value_scale_stride = short_tokens;
    const attend::core::Problem problem = {{query[0][0], 128, 32},
                                           {expected[0][0], 96, 24},
                                           {key[0][0], 64, 32},
                                           {value[0][0], 48, 24},
                                           4,
                                           2,
                                           32,
                                           24,
                                           3,
                                           short_tokens,
                                           short_tokens - 3,
                                           0.0f,
                                           true,
                                           false,
                                           1,
                                           attend::integer_chunk,
                                           &work,
                                           scales.scores(),
                                           scales.outputs(),
                                           0};
    attend::core::Integers::run(problem, o);
    REQUIRE(attend::attention(query, key, value, output, work, scales, attend::causal(short_tokens - 3)) == Status::ok);
    CHECK(!same(output, expected));
    REQUIRE(attend::attention(query, key, value, output, work, scales, options) == Status::ok);
    CHECK(same(output, expected));

    attend::KvCache<Short> cache;
    REQUIRE(cache.append(key, value) == Status::ok);
    fill(output, 5);
    REQUIRE(attend::prefill(query, cache, output, over_cache, scales, options) == Status::ok);
    CHECK(same(output, expected));
    attend::State<Short, 3> state;
    for (const int end : {32, short_tokens}) {
      REQUIRE(attend::accumulate(query, cache, state, end, over_cache, scales, options) == Status::ok);
    }
    auto others = options;
    (of_keys ? others.value_scales : others.key_scales) = value_scales;
    CHECK(attend::finish(state, output, scales, others) == Status::other_options);
    fill(output, 6);
    REQUIRE(attend::finish(state, output, scales, options) == Status::ok);
    CHECK(same(output, expected));
  }

  static attend::TokenScales<Short, short_tokens - 1> few;
  options = {};
  options.key_scales = few;
  CHECK(attend::attention(query, key, value, output, work, scales, options) == Status::bad_token_scales);
  options = {};
  options.value_scales = value_scales;
  constexpr attend::Quantisation<Short> moved(0.03, 0.03, {0.02, 1}, 0.01);
  CHECK(attend::attention(query, key, value, output, work, moved, options) == Status::bad_zero_point);
  constexpr attend::Quantisation<Short> moved_keys(0.03, {0.03, 1}, 0.02, 0.01);
  CHECK(attend::attention(query, key, value, output, work, moved_keys, options) == Status::ok);
  options = {};
  options.key_scales = key_scales;
  CHECK(attend::attention(query, key, value, output, work, moved_keys, options) == Status::bad_zero_point);
  auto w = world(100);
  static attend::TokenScales<Talk, 300> of_ring;
  attend::ScoreOptions<Talk> ring_options;
  ring_options.key_scales = of_ring;
  CHECK(attend::decode(w->query, w->ring, w->output, w->work, quantisation, ring_options) == Status::bad_token_scales);
}
