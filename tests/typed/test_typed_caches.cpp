// KvCache and RingCache: the bits of the core over the same numbers, of a plain cache under the same window; their sizes.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "../support/rounds.h"
#include "../support/typed_objects.h"

using namespace attend_test;
using attend::bfloat16;
using attend::float16;
using attend::int4;
using attend::int8;
using attend::Status;

namespace {

struct Wake {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 20, value_dim = 9, max_tokens = 100;
};
struct WholeGroups {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 32, max_tokens = 100;
};
// Enough for a plain cache beside a long ring.
struct Long {
  static constexpr int query_heads = 2, kv_heads = 2, head_dim = 8, value_dim = 5, max_tokens = 20000;
};
struct LongGroups {
  static constexpr int query_heads = 2, kv_heads = 2, head_dim = 32, value_dim = 64, max_tokens = 4000;
};
struct Million {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 3, value_dim = 2, max_tokens = 1000000;
};

constexpr std::size_t alignment = attend::config::alignment;
constexpr std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }
static_assert(sizeof(attend::KvCache<Wake, float16>) == aligned(aligned(112 * 2 * 20 * 2) + 112 * 2 * 9 * 2 + 4), "");
static_assert(sizeof(attend::KvCache<Wake, int8>) == aligned(aligned(112 * 2 * (20 + 4)) + aligned(112 * 2 * (9 + 4)) + 4),
              "int8: a byte for each number, a float for each key and value");
static_assert(sizeof(attend::KvCache<WholeGroups, int4>) == aligned(112 * 2 * (64 + 32) / 32 * 18 + 4),
              "int4: 18 bytes for each 32 numbers");
static_assert(sizeof(attend::KvCache<Wake, int8, float16>) == aligned(aligned(112 * 2 * (20 + 4)) + 112 * 2 * 9 * 2 + 4), "");
static_assert(sizeof(attend::RingCache<Wake, RingOf<17>>) == aligned(aligned(32 * 2 * 20 * 4) + 32 * 2 * 9 * 4 + 4),
              "two groups");
static_assert(sizeof(attend::RingCache<Wake, RingOf<18, 1>, float16>) == aligned(aligned(64 * 2 * 20 * 2) + 64 * 2 * 9 * 2 + 4),
              "three groups, and one of sink tokens");

// Appends some tokens that nobody has seen before.
template <class Shape, int tokens, class... Caches>
void append(std::uint64_t seed, Caches&... caches) {
  attend::Key<Shape, tokens> key;
  attend::Value<Shape, tokens> value;
  fill_array(key, 2 * seed, 2.0f);
  fill_array(value, 2 * seed + 1);
  for (const Status appended : {caches.append(key, value)...}) REQUIRE(appended == Status::ok);
}

// Self-attention of everything, and then decode, over a cache of some formats, and by the core over memory that the test
// filled.
template <class KeyFormat, class ValueFormat, class Shape = Wake>
void check_formats() {
  constexpr int tokens = 93, head_dim = Shape::head_dim, value_dim = Shape::value_dim;
  constexpr attend::core::Format key_format = attend::detail::FormatOf<KeyFormat>::format;
  constexpr attend::core::Format value_format = attend::detail::FormatOf<ValueFormat>::format;
  attend::Query<Shape, tokens> query;
  attend::Key<Shape, tokens> key;
  attend::Value<Shape, tokens> value;
  fill_array(query, 1, 3.0f);
  fill_array(key, 2);
  fill_array(value, 3);
  CoreCall<Shape, tokens, tokens> call(query, key, value);
  std::vector<std::uint8_t> keys(attend::core::format_cache_key_bytes(key_format, 2, head_dim, 100)),
      values(attend::core::format_cache_value_bytes(value_format, 2, value_dim, 100));
  std::vector<float> key_scales(2 * 112), value_scales(2 * 112);
  attend::core::store({keys.data(),
                       values.data(),
                       key_scales.data(),
                       value_scales.data(),
                       key_format,
                       value_format,
                       2,
                       head_dim,
                       value_dim,
                       100,
                       {}},
                      0, tokens, attend_test::numbers_of<float>(call.problem.key),
                      attend_test::numbers_of<float>(call.problem.value));
  call.problem.key = {keys.data(), 0, 112 * head_dim};
  call.problem.value = {values.data(), value_dim, 112 * value_dim};
  call.problem.key_panels = true;
  call.problem.causal = true;
  call.options.key_format = key_format;
  call.options.value_format = value_format;
  if (key_format == attend::core::Format::int8) call.options.key_scales = key_scales.data();
  if (value_format == attend::core::Format::int8) call.options.value_scales = value_scales.data();
  call.options.key_scale_stride = call.options.value_scale_stride = 112;
  attend::Output<Shape, tokens> expected, found;
  call.run(expected);

  static attend::KvCache<Shape, KeyFormat, ValueFormat> cache;
  static attend::OptionWorkspace<Shape, tokens> work;
  cache.clear();
  CHECK(cache.append(key, value) == Status::ok);
  CHECK(cache.length() == tokens);
  poison_array(found);
  CHECK(attend::prefill(query, cache, found, work) == Status::ok);
  CHECK(same_array(found, expected));
  poison_array(found);
  for (int part = 0; part < 4; ++part) {
    CHECK(attend::prefill(query, cache, found, work, attend::causal(), attend::Part{part, 4}) == Status::ok);
  }
  CHECK(same_array(found, expected));

  // Token by token; what is refused changes nothing.
  cache.clear();
  for (int i = 0; i < tokens; ++i) {
    attend::Query<Shape> q;
    attend::Key<Shape> k;
    attend::Value<Shape> v;
    attend::Output<Shape> out, row;
    copy_tokens(query, i, q);
    copy_tokens(key, i, k);
    copy_tokens(value, i, v);
    copy_tokens(expected, i, row);
    CHECK(cache.append(k, v) == Status::ok);
    if (i % 10 == 8) {
      CHECK(cache.append(k, v) == Status::ok);
      CHECK(cache.truncate(i + 1) == Status::ok);
      CHECK(cache.truncate(i + 2) == Status::bad_length);
      CHECK(cache.append(key, value) != Status::ok);
      CHECK(cache.append(k, v, 2) != Status::ok);
      CHECK(cache.append(k, v, -1) != Status::ok);
    }
    CHECK(attend::decode(q, cache, out, work) == Status::ok);
    CHECK(same_array(out, row));
  }
}

// A ring and a plain cache of the same formats, both given the same tokens, a few at a time; compared now and then.
template <class Shape, int window, int sink_tokens, class KeyFormat, class ValueFormat, int at_once>
struct Pair {
  attend::RingCache<Shape, RingOf<window, sink_tokens, at_once>, KeyFormat, ValueFormat> ring;
  attend::KvCache<Shape, KeyFormat, ValueFormat> plain;
  attend::OptionWorkspace<Shape, at_once> work;
  attend::Query<Shape, at_once> query;
  attend::Output<Shape, at_once> found, expected;

  void append(std::uint64_t seed) { ::append<Shape, at_once>(seed, ring, plain); }

  // Under options of the plain cache that begin with the ring's window.
  template <class Change>
  void check(std::uint64_t seed, Change&& change) {
    fill_array(query, seed, 3.0f);
    attend::ScoreOptions<Shape> of_ring = attend::causal(), of_plain = attend::causal();
    of_plain.window_left = window - 1;
    of_plain.sink_tokens = sink_tokens;
    change(of_ring);
    change(of_plain);
    poison_array(found);
    poison_array(expected);  // rows of queries that are not valid stay
    CHECK(attend::prefill(query, ring, found, work, of_ring) == Status::ok);
    CHECK(attend::prefill(query, plain, expected, work, of_plain) == Status::ok);
    CHECK(same_array(found, expected));
  }
  void check(std::uint64_t seed) {
    check(seed, [](auto&) {});
    // The same with Options, and by decode, which is not causal but sees nothing later.
    poison_array(found);
    CHECK(attend::prefill(query, ring, found, work) == Status::ok);
    CHECK(same_array(found, expected));
    attend::Query<Shape> newest;
    attend::Output<Shape> output, last;
    copy_tokens(query, at_once - 1, newest);
    copy_tokens(expected, at_once - 1, last);
    CHECK(attend::decode(newest, ring, output, work) == Status::ok);
    CHECK(same_array(output, last));
  }
};

template <int window, int sink_tokens, class KeyFormat, class ValueFormat, int at_once, class Shape = Long>
void check_ring(int tokens, int one_of) {
  static Pair<Shape, window, sink_tokens, KeyFormat, ValueFormat, at_once> pair;
  CAPTURE(window);
  CAPTURE(sink_tokens);
  Random random(std::uint64_t(window * 100 + sink_tokens));
  pair.ring.clear();
  pair.plain.clear();
  for (int i = 0; i + at_once <= tokens; i += at_once) {
    pair.append(std::uint64_t(i));
    CHECK(pair.ring.length() == i + at_once);
    if (random.between(1, one_of) == 1 || i < 3 * at_once) pair.check(std::uint64_t(i));
  }
}

}  // namespace

TEST_CASE("format caches: every format of keys and values has the core's bits over the numbers that are stored") {
  for_each_backend([](const char* backend) {
    CAPTURE(std::string(backend));
    check_formats<float, float>();
    check_formats<float16, float16>();
    check_formats<bfloat16, bfloat16>();
    check_formats<int8, int8>();
    check_formats<int8, float16>();
    check_formats<float, bfloat16>();
    check_formats<int4, int4, WholeGroups>();
    check_formats<int4, float16, WholeGroups>();
    check_formats<int8, int4, WholeGroups>();
  });
}

TEST_CASE("format caches: floats are those of KvCache") {
  static attend::KvCache<Wake> plain;
  static attend::KvCache<Wake, float> typed;
  append<Wake, 100>(5, plain, typed);
  attend::Query<Wake> query;
  fill_array(query, 1, 3.0f);
  attend::Output<Wake> a, b;
  static attend::OptionWorkspace<Wake> work;
  (void)attend::decode(query, plain, a);
  CHECK(attend::decode(query, typed, b, work) == Status::ok);
  CHECK(same_array(a, b));
}

TEST_CASE("rings: windows and pins around the sizes of groups, token by token and several at once") {
  check_ring<1, 0, float, float, 1>(300, 1);
  check_ring<2, 1, float, float16, 1>(300, 1);
  check_ring<16, 0, float16, float16, 1>(300, 1);
  check_ring<17, 16, float, float, 1>(300, 1);
  check_ring<18, 17, bfloat16, int8, 1>(300, 1);
  check_ring<33, 4, int8, int8, 5>(600, 1);
  check_ring<40, 100, float, float, 7>(600, 1);
  check_ring<1, 0, float, float, 16>(600, 1);
  check_ring<100, 0, int8, float, 37>(900, 1);
}

TEST_CASE("rings: 20,000 tokens, in every format, on every backend") {
  for_each_backend([](const char* backend) {
    CAPTURE(std::string(backend));
    check_ring<256, 4, float, float, 1>(rounds(20000), 400);
    check_ring<250, 20, float16, float16, 3>(rounds(20000), 200);
    check_ring<600, 0, bfloat16, bfloat16, 1>(rounds(20000), 400);
    check_ring<129, 4, int8, int8, 2>(rounds(20000), 300);
    check_ring<129, 4, int8, float16, 1>(rounds(20000), 400);
    check_ring<129, 4, int4, int4, 2, LongGroups>(rounds(4000), 60);
    check_ring<40, 0, float, int4, 1, LongGroups>(rounds(4000), 60);
  });
}

TEST_CASE("rings: a million tokens") {
  static attend::RingCache<Million, RingOf<500, 6, 16>> ring;
  static attend::KvCache<Million> plain;
  static attend::OptionWorkspace<Million> work;
  attend::ScoreOptions<Million> options;
  options.window_left = 499;
  options.sink_tokens = 6;
  Random random(1);
  const int tokens = rounds(Million::max_tokens / 16) * 16;
  int compared = 0, differ = 0;
  for (int i = 0; i < tokens; i += 16) {
    append<Million, 16>(std::uint64_t(i), ring, plain);
    if (i + 16 < tokens && random.between(1, 312) != 1) continue;  // the last one always
    attend::Query<Million> query;
    fill_array(query, std::uint64_t(i), 5.0f);
    attend::Output<Million> a, b;
    REQUIRE(attend::decode(query, ring, a, work) == Status::ok);
    REQUIRE(attend::decode(query, plain, b, work, options) == Status::ok);
    ++compared;
    differ += !same_array(a, b);
  }
  CHECK(ring.length() == tokens);
  CHECK(compared > rounds(150) / 3);
  CHECK(differ == 0);
}

TEST_CASE("rings: options may narrow what a ring shows, and what it cannot show is refused") {
  static Pair<Long, 50, 20, float16, float, 4> pair;
  for (int i = 0; i < 2000; i += 4) pair.append(std::uint64_t(i));
  pair.check(1, [](auto& o) { o.window_left = 11; });
  pair.check(2, [](auto& o) { o.window_left = 0, o.sink_tokens = 0; });
  pair.check(3, [](auto& o) { o.sink_tokens = 7; });
  pair.check(4, [](auto& o) { o.soft_cap = 2.0f, o.window_right = 1, o.causal = false; });
  pair.check(5, [](auto& o) { o.key_length = 1990; });  // in the ring, with keys behind it
  pair.check(6, [](auto& o) { o.key_length = 18; });    // sink tokens only
  pair.check(7, [](auto& o) { o.offset = 2003; });
  pair.check(8, [](auto& o) { o.query_length = 2; });
  const float alibi_slopes[2] = {0.5f, 0.1f};
  pair.check(9, [&](auto& o) { o.alibi_slopes = alibi_slopes; });

  attend::ScoreOptions<Long> options = attend::causal();
  poison_array(pair.found);
  pair.expected = pair.found;
  const auto refused = [&](Status expected) {
    CHECK(attend::prefill(pair.query, pair.ring, pair.found, pair.work, options) == expected);
    CHECK(same_array(pair.found, pair.expected));
    CHECK(std::string(attend::status_text(expected)).size() > 20);
    options = attend::causal();
  };
  options.window_left = 50, refused(Status::bad_window);
  options.sink_tokens = 21, refused(Status::bad_sink_tokens);
  options.offset = 1900, refused(Status::not_in_ring);
  options.offset = 0, refused(Status::not_in_ring);
  options.key_length = 2001, refused(Status::bad_key_length);
  static attend::Scores<Long, 4, 2000> scores;
  options.scores = scores, options.score_stage = attend::ScoreStage::capped, refused(Status::bad_scores);
  options.scores = scores;
  options.score_stage = attend::ScoreStage::biased;
  CHECK(attend::prefill(pair.query, pair.ring, pair.found, pair.work, options) == Status::ok);
  CHECK(scores[0][0][1900] < -1e30f);
  CHECK(std::isfinite(scores[0][0][1990]));
}
