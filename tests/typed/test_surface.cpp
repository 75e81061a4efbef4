// The typed surface: what its calls mean, what they refuse, and that they are the core's bits.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include "../support/typed_objects.h"

using namespace attend_test;
using attend::Status;

namespace {

struct Wake {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 8, value_dim = 5, max_tokens = 40;
};
struct Long {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 4, max_tokens = 1200;
};

static_assert(sizeof(attend::KvCache<Wake>) <= 2 * (48 * 8 + 40 * 5) * 4 + 64, "a cache is its keys, its values and a length");
template <int queries, int keys>
constexpr std::size_t work_floats(int rows, int key_block) {
  return attend::core::scratch_floats(rows, key_block, 8, 5, keys, false);
}
static_assert(attend::config::embedded ||
                  (sizeof(attend::Workspace<Wake, 3, 40>) < 4 * work_floats<3, 40>(6, 64) + attend::config::alignment &&
                   sizeof(attend::Workspace<Wake, 3, 2000>) <
                       4 * work_floats<3, 2000>(6, attend::config::key_block) + attend::config::alignment),
              "work memory is for as many rows and keys as there are, up to a block");
static_assert(attend::default_scale(64) == 0.125f, "");
static_assert(attend::default_scale(1) == 1.0f, "");
static_assert(attend::default_scale(4096) == 0.015625f, "");
static_assert(attend::default_scale(576 * 576) == 1.0f / 576.0f, "");
static_assert(std::is_trivially_destructible<attend::KvCache<Wake>>::value, "");
static_assert(!std::is_same<attend::Key<Wake>, attend::Query<Wake>>::value, "arrays of one shape are still of different types");

// The whole self-attention of `tokens` tokens in one call, by prefill of everything, and token by token.
template <class Shape, int tokens>
void check_ways() {
  const auto query = filled<attend::Query<Shape, tokens>>(1);
  const auto key = filled<attend::Key<Shape, tokens>>(2);
  const auto value = filled<attend::Value<Shape, tokens>>(3);
  auto whole = poisoned<attend::Output<Shape, tokens>>();
  auto work = std::make_unique<attend::Workspace<Shape, tokens, tokens>>();
  CHECK(attend::attention(query, key, value, whole, *work, attend::causal()) == Status::ok);

  auto cache = std::make_unique<attend::KvCache<Shape>>();
  CHECK(cache->append(key, value) == Status::ok);
  auto prefilled = poisoned<attend::Output<Shape, tokens>>();
  auto prefill_work = std::make_unique<attend::Workspace<Shape, tokens>>();
  CHECK(attend::prefill(query, *cache, prefilled, *prefill_work) == Status::ok);
  CHECK(same_array(prefilled, whole));

  cache->clear();
  for (int i = 0; i < tokens; ++i) {
    attend::Query<Shape> q;
    attend::Key<Shape> k;
    attend::Value<Shape> v;
    std::memcpy(&q, query[i], sizeof q);
    std::memcpy(&k, key[i], sizeof k);
    std::memcpy(&v, value[i], sizeof v);
    REQUIRE(cache->append(k, v) == Status::ok);
    auto out = poisoned<attend::Output<Shape>>();
    CHECK(attend::decode(q, *cache, out) == Status::ok);
    CHECK(std::memcmp(&out, whole[i], sizeof out) == 0);
  }
}

struct LastSixteen {
  static constexpr int window = 16, sink_tokens = 0, tokens_at_once = 6;
};

}  // namespace

TEST_CASE("attention, prefill and decode agree in every bit on every backend") {
  for_each_backend([](const char* backend) {
    INFO(std::string(backend));
    check_ways<Wake, 40>();
    check_ways<Wake, 1>();
    check_ways<Long, 530>();
  });
}

TEST_CASE("a cache refuses what does not fit and changes nothing then") {
  attend::KvCache<Wake> cache;
  CHECK(cache.length() == 0);
  const auto key = filled<attend::Key<Wake, 16>>(1);
  const auto value = filled<attend::Value<Wake, 16>>(2);
  CHECK(cache.append(key, value) == Status::ok);
  CHECK(cache.append(key, value) == Status::ok);
  CHECK(cache.length() == 32);
  CHECK(cache.append(key, value) == Status::cache_full);
  CHECK(cache.append(key, value, -1) == Status::bad_count);
  CHECK(cache.append(key, value, 17) == Status::bad_count);
  CHECK(cache.length() == 32);
  CHECK(cache.append(key, value, 0) == Status::ok);
  CHECK(cache.append(key, value, 8) == Status::ok);
  CHECK(cache.length() == cache.max_tokens);
  CHECK(cache.append(key, value, 1) == Status::cache_full);
  CHECK(cache.truncate(41) == Status::bad_length);
  CHECK(cache.truncate(-1) == Status::bad_length);
  CHECK(cache.truncate(5) == Status::ok);
  CHECK(cache.truncate(6) == Status::bad_length);
  CHECK(cache.length() == 5);
  cache.clear();
  CHECK(cache.length() == 0);
}

TEST_CASE("after truncate the cache is as if the tokens had never been there") {
  const auto query = filled<attend::Query<Wake>>(1);
  const auto key = filled<attend::Key<Wake, 20>>(2), other_key = filled<attend::Key<Wake, 20>>(4);
  const auto value = filled<attend::Value<Wake, 20>>(3), other_value = filled<attend::Value<Wake, 20>>(5);
  attend::KvCache<Wake> once, twice;
  CHECK(once.append(key, value, 13) == Status::ok);
  CHECK(twice.append(key, value, 13) == Status::ok);
  CHECK(twice.append(other_key, other_value) == Status::ok);
  CHECK(twice.truncate(13) == Status::ok);
  attend::Output<Wake> a, b;
  (void)attend::decode(query, once, a);
  (void)attend::decode(query, twice, b);
  CHECK(same_array(a, b));
}

TEST_CASE("options: valid lengths, offset, scale, cross-attention over a cache") {
  const auto query = filled<attend::Query<Wake, 6>>(1);
  const auto key = filled<attend::Key<Wake, 20>>(2);
  const auto value = filled<attend::Value<Wake, 20>>(3);
  attend::Workspace<Wake, 6, 20> work;
  attend::Workspace<Wake, 6> prefill_work;
  attend::KvCache<Wake> cache;
  REQUIRE(cache.append(key, value) == Status::ok);
  auto a = poisoned<attend::Output<Wake, 6>>(), b = a;

  attend::Options options = attend::causal(20 - 6);  // bottom-right
  CHECK(attend::attention(query, key, value, a, work, options) == Status::ok);
  CHECK(attend::prefill(query, cache, b, prefill_work) == Status::ok);
  CHECK(same_array(a, b));

  options = {};
  options.causal = false;
  options.key_length = 9;
  options.scale = -0.3f;
  CHECK(attend::attention(query, key, value, a, work, options) == Status::ok);
  CHECK(attend::prefill(query, cache, b, prefill_work, options) == Status::ok);
  CHECK(same_array(a, b));

  attend::Query<Wake> first;
  std::memcpy(&first, query[0], sizeof first);
  auto decoded = poisoned<attend::Output<Wake>>();
  CHECK(attend::decode(first, cache, decoded, options) == Status::ok);
  CHECK(std::memcmp(&decoded, a[0], sizeof decoded) == 0);

  // Fewer queries: the rows after them are not touched.
  auto c = poisoned<attend::Output<Wake, 6>>();
  options.query_length = 2;
  CHECK(attend::attention(query, key, value, c, work, options) == Status::ok);
  CHECK(std::memcmp(&c, &a, sizeof(attend::Output<Wake, 2>)) == 0);
  for (int i = 2; i < 6; ++i) CHECK(std::isnan(c[i][3][4]));

  // The last, partial chunk of a prompt: its queries are the last tokens of the cache.
  options = attend::causal();
  options.query_length = 4;
  CHECK(attend::prefill(query, cache, a, prefill_work, options) == Status::ok);
  options.offset = 16;
  CHECK(attend::prefill(query, cache, b, prefill_work, options) == Status::ok);
  CHECK(std::memcmp(&a, &b, sizeof(attend::Output<Wake, 4>)) == 0);

  // The position of the queries comes from what the cache holds, not from how many keys are valid.
  options = attend::causal();
  options.key_length = 9;
  CHECK(attend::prefill(query, cache, a, prefill_work, options) == Status::ok);
  options.offset = 20 - 6;
  CHECK(attend::prefill(query, cache, b, prefill_work, options) == Status::ok);
  CHECK(same_array(a, b));

  // Fewer tokens held than queries asked: cross-attention, an offset of one's own, and a short chunk are all right.
  attend::KvCache<Wake> few;
  REQUIRE(few.append(key, value, 3) == Status::ok);
  options = {};
  options.causal = false;
  CHECK(attend::prefill(query, few, a, prefill_work, options) == Status::ok);
  options = attend::causal(-2);
  CHECK(attend::prefill(query, few, a, prefill_work, options) == Status::ok);
  for (const float blind : a[1][0]) CHECK(blind == 0.0f);
  options = attend::causal();
  options.query_length = 3;
  CHECK(attend::prefill(query, few, a, prefill_work, options) == Status::ok);

  // What options do not mention stays as it is: prefill is causal with options that do not say otherwise.
  options = {};
  options.scale = attend::default_scale(Wake::head_dim);
  CHECK(attend::prefill(query, cache, a, prefill_work) == Status::ok);
  CHECK(attend::prefill(query, cache, b, prefill_work, options) == Status::ok);
  CHECK(same_array(a, b));
  options.causal = false;
  CHECK(attend::prefill(query, cache, b, prefill_work, options) == Status::ok);
  CHECK_FALSE(same_array(a, b));
}

TEST_CASE("wrong options are refused with a status, and nothing is touched") {
  const auto query = filled<attend::Query<Wake, 6>>(1);
  const auto key = filled<attend::Key<Wake, 20>>(2);
  const auto value = filled<attend::Value<Wake, 20>>(3);
  attend::Workspace<Wake, 6, 20> work;
  attend::Workspace<Wake, 6> prefill_work;
  attend::KvCache<Wake> cache;
  REQUIRE(cache.append(key, value) == Status::ok);
  auto out = poisoned<attend::Output<Wake, 6>>();
  const auto untouched = out;
  const auto refused = [&](const attend::Options& options, Status expected) {
    CHECK(attend::attention(query, key, value, out, work, options) == expected);
    CHECK(attend::prefill(query, cache, out, prefill_work, options) == expected);
    CHECK(same_array(out, untouched));
    CHECK(std::string(attend::status_text(expected)).size() > 10);
  };
  attend::Options options;
  for (const int wrong : {-1, 21, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    options.key_length = wrong;
    refused(options, Status::bad_key_length);
  }
  options = {};
  for (const int wrong : {-1, 7, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    options.query_length = wrong;
    refused(options, Status::bad_query_length);
  }
  options = {};
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, 0x1.000002p127f, -0x1.000002p127f, 3e38f}) {
    options.scale = wrong;
    refused(options, Status::bad_scale);
  }

  REQUIRE(cache.truncate(5) == Status::ok);  // fewer tokens than queries
  CHECK(attend::prefill(query, cache, out, prefill_work) == Status::bad_query_length);
  CHECK(same_array(out, untouched));
}

TEST_CASE("a cache that nothing was appended to is refused by every call, unless key_length says that there are no keys") {
  static attend::KvCache<Wake> floats;
  static attend::KvCache<Wake, attend::int8> bytes;
  static attend::RingCache<Wake, LastSixteen> ring;
  static attend::OptionWorkspace<Wake, 6> work;
  static attend::State<Wake> state;
  const auto one = filled<attend::Query<Wake>>(1);
  const auto query = filled<attend::Query<Wake, 6>>(1);
  auto out = poisoned<attend::Output<Wake, 6>>();
  auto of_one = poisoned<attend::Output<Wake>>();
  const auto untouched = out;
  const auto of_one_untouched = of_one;
  attend::ScoreOptions<Wake> all;
  all.causal = false;
  CHECK(attend::decode(one, floats, of_one) == Status::empty_cache);
  CHECK(attend::decode(one, bytes, of_one, work) == Status::empty_cache);
  CHECK(attend::decode(one, ring, of_one, work) == Status::empty_cache);
  CHECK(attend::decode(one, floats, of_one, work, attend::ScoreOptions<Wake>{}) == Status::empty_cache);
  CHECK(attend::prefill(query, floats, out, work, all) == Status::empty_cache);
  CHECK(attend::prefill(query, bytes, out, work, all) == Status::empty_cache);
  CHECK(attend::accumulate(one, floats, state, 1, work) == Status::bad_query_length);
  CHECK(same_array(out, untouched));
  CHECK(same_array(of_one, of_one_untouched));
  all.key_length = 0;
  CHECK(attend::prefill(query, bytes, out, work, all) == Status::ok);
  CHECK(out[5][0][0] == 0.0f);
}

TEST_CASE("an offset is said where positions matter and arrays do not say them, and nowhere else") {
  const auto query = filled<attend::Query<Wake, 6>>(1);
  const auto key = filled<attend::Key<Wake, 20>>(2);
  const auto value = filled<attend::Value<Wake, 20>>(3);
  static attend::Workspace<Wake, 6, 20> work;
  static attend::OptionWorkspace<Wake, 6> option_work;
  static attend::State<Wake, 6> state;
  attend::KvCache<Wake> cache;
  REQUIRE(cache.append(key, value) == Status::ok);
  auto out = poisoned<attend::Output<Wake, 6>>();
  const auto untouched = out;
  attend::ScoreOptions<Wake> options;
  const auto arrays = [&](Status expected) {
    CHECK(attend::attention(query, key, value, out, option_work, options) == expected);
    CHECK(same_array(out, untouched) == (expected != Status::ok || options.query_length.or_else(6) == 0));
    CHECK(attend::accumulate(query, key, value, state, 20, option_work, options) == expected);
    CHECK((state.next() == 0) == (expected != Status::ok));
    (void)state.begin();
    out = untouched;
    options = {};
  };
  const float slopes[4] = {1.0f, 0.5f, 0.25f, 0.125f};
  static const attend::RelativeBias<1, 3, 3> relative{};
  // Queries of 6 tokens over keys of 20 could be the first or the last.
  options.causal = true, arrays(Status::ambiguous_offset);
  options.window_left = 3, arrays(Status::ambiguous_offset);
  options.window_right = 3, arrays(Status::ambiguous_offset);
  options.alibi_slopes = slopes, arrays(Status::ambiguous_offset);
  options.relative_bias = relative, arrays(Status::ambiguous_offset);
  options.causal = true, options.query_length = 5, arrays(Status::ambiguous_offset);
  options.causal = true, options.key_length = 7, arrays(Status::ambiguous_offset);
  CHECK(attend::attention(query, key, value, out, work, attend::causal()) == Status::ambiguous_offset);
  CHECK(same_array(out, untouched));
  // As many of both; no query; the offset is said; positions do not matter.
  options.causal = true, options.key_length = 6, arrays(Status::ok);
  options.causal = true, options.key_length = options.query_length = 4, arrays(Status::ok);
  options.causal = true, options.query_length = 0, arrays(Status::ok);
  options.causal = true, options.offset = 0, arrays(Status::ok);
  options.window_left = 3, options.offset = 14, arrays(Status::ok);
  options.key_length = 7, arrays(Status::ok);
  const auto few = filled<attend::Key<Wake, 6>>(2);
  const auto few_values = filled<attend::Value<Wake, 6>>(3);
  options = attend::causal();
  options.key_length = 3;  // of as many tokens as queries, the last ones are padding
  CHECK(attend::attention(query, few, few_values, out, option_work, options) == Status::ok);
  out = untouched;

  // An offset that does nothing.
  options = {};
  options.offset = 3, arrays(Status::no_effect);
  options.offset = 0, options.causal = false, arrays(Status::no_effect);
  attend::Options plain;
  plain.offset = 0;
  CHECK(attend::attention(query, key, value, out, work, plain) == Status::no_effect);
  plain.causal = false;
  attend::Workspace<Wake, 6> prefill_work;
  CHECK(attend::prefill(query, cache, out, prefill_work, plain) == Status::no_effect);
  CHECK(same_array(out, untouched));
  attend::Query<Wake> token{};
  auto row = poisoned<attend::Output<Wake>>();
  const auto untouched_row = row;
  plain = {};
  plain.offset = 4;  // decode is not causal
  CHECK(attend::decode(token, cache, row, plain) == Status::no_effect);
  CHECK(same_array(row, untouched_row));
  CHECK(attend::decode(token, cache, row, attend::causal(4)) == Status::ok);

  // Over a cache queries are its last tokens, which it must hold where positions matter.
  REQUIRE(cache.truncate(5) == Status::ok);
  options = {};
  options.causal = false;
  CHECK(attend::prefill(query, cache, out, option_work, options) == Status::ok);
  out = untouched;
  options.window_right = 2;
  CHECK(attend::prefill(query, cache, out, option_work, options) == Status::bad_query_length);
  options.window_right = {};
  options.alibi_slopes = slopes;
  CHECK(attend::prefill(query, cache, out, option_work, options) == Status::bad_query_length);
  CHECK(same_array(out, untouched));
  options.offset = -1;
  CHECK(attend::prefill(query, cache, out, option_work, options) == Status::ok);
  for (const Status status : {Status::ambiguous_offset, Status::no_effect, Status::no_score_stage, Status::other_options}) {
    CHECK(std::string(attend::status_text(status)).size() > 40);
  }
}

TEST_CASE("backends are listed, can be forced, and an unknown name changes nothing") {
  const std::string before = attend::active_backend();
  CHECK(attend::backend_count() >= 1);
  const std::string last = attend::backend_name(attend::backend_count() - 1);  // the one that every processor of the kind has
  CHECK_FALSE(attend::use_backend("abacus"));
  CHECK_FALSE(attend::use_backend(last.substr(0, last.size() - 1).c_str()));
  CHECK_FALSE(attend::use_backend((last + "2").c_str()));
  CHECK(before == attend::active_backend());
  CHECK(attend::use_backend(last.c_str()));
  CHECK(attend::active_backend() == last);
  CHECK(attend::use_backend(before.c_str()));
}
