// Calls that used to be taken and gave wrong numbers: the ends of ranges, and padded chunks.
#include <doctest/doctest.h>

#include "../support/typed_objects.h"

using namespace attend_test;
using attend::Status;

namespace {

struct Wake {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 8, value_dim = 5, max_tokens = 40;
};
struct One {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 1, max_tokens = 2;
};
struct Last {
  static constexpr int window = 20, tokens_at_once = 6;
};

}  // namespace

TEST_CASE("the largest scale gives numbers, where one dimension is as small as it can be") {
  attend::KvCache<One> cache;
  const attend::Key<One, 2> key{{{{{1.0f}}, {{-1.0f}}}}};
  const attend::Value<One, 2> value{{{{{3.0f}}, {{5.0f}}}}};
  const attend::Query<One> query{{{{{1.0f}}}}};
  attend::Output<One> out;
  attend::Options options;
  options.scale = 0x1p127f;
  REQUIRE(cache.append(key, value) == Status::ok);
  REQUIRE(attend::decode(query, cache, out, options) == Status::ok);
  CHECK(out[0][0][0] == 3.0f);
}

// Of padded arrays only some tokens are appended: rows of the padding are no queries of the cache.
template <class Cache, class Work, class KeyArray, class ValueArray, class QueryArray, class OutputArray, class... Quantisation>
void check_padding(Cache& cache, Work& work, const KeyArray& key, const ValueArray& value, const QueryArray& query,
                   OutputArray& out, const Quantisation&... quantisation) {
  constexpr int tokens = attend::detail::Traits<KeyArray>::tokens;
  cache.clear();
  const auto prefill = [&](const auto&... options) {
    return attend::prefill(query, cache, out, work, quantisation..., options...);
  };
  REQUIRE(cache.append(key, value) == Status::ok);
  CHECK(prefill() == Status::ok);
  REQUIRE(cache.append(key, value, tokens - 2) == Status::ok);
  CHECK(prefill() == Status::bad_query_length);
  attend::Options options;
  for (const int length : {tokens - 2, tokens}) {
    options.query_length = length;
    CHECK(prefill(options) == Status::ok);
  }
  options = {};
  options.offset = tokens - 2;
  CHECK(prefill(options) == Status::ok);
  if (attend::detail::CacheTraits<Cache>::is_ring) return;
  options = {};
  options.causal = false;
  CHECK(prefill(options) == Status::ok);
  REQUIRE(cache.append(key, value, 0) == Status::ok);
  CHECK(prefill() == Status::bad_query_length);
  REQUIRE(cache.append(key, value, tokens) == Status::ok);
  CHECK(prefill() == Status::ok);
}

TEST_CASE("after the append of a padded chunk a prefill of all its rows needs a query_length") {
  using Integers = attend::Integer<Wake>;
  static attend::Workspace<Wake, 6> work;
  static attend::OptionWorkspace<Wake, 6, attend::over_ring<Last>> option_work;
  static attend::Workspace<Integers, 6> integer_work;
  static attend::KvCache<Wake> floats;
  static attend::KvCache<Wake, attend::float16> halves;
  static attend::RingCache<Wake, Last> ring;
  static attend::KvCache<Integers> integers;
  static attend::RingCache<Integers, Last> integer_ring;
  const auto query = filled<attend::Query<Wake, 6>>(1);
  const auto key = filled<attend::Key<Wake, 6>>(2);
  const auto value = filled<attend::Value<Wake, 6>>(3);
  static attend::Output<Wake, 6> out;
  static attend::Query<Integers, 6> integer_query;
  static attend::Key<Integers, 6> integer_key;
  static attend::Value<Integers, 6> integer_value;
  static attend::Output<Integers, 6> integer_out;
  constexpr attend::Quantisation<Integers> quantisation(0.03, 0.03, 0.02, 0.01);
  check_padding(floats, work, key, value, query, out);
  check_padding(halves, option_work, key, value, query, out);
  check_padding(ring, option_work, key, value, query, out);
  check_padding(integers, integer_work, integer_key, integer_value, integer_query, integer_out, quantisation);
  check_padding(integer_ring, integer_work, integer_key, integer_value, integer_query, integer_out, quantisation);

  // A state alike; and clear and truncate forget what was appended.
  static attend::State<Wake, 6> state;
  floats.clear();
  REQUIRE(floats.append(key, value) == Status::ok);
  REQUIRE(floats.append(key, value, 1) == Status::ok);
  CHECK(attend::accumulate(query, floats, state, 7, option_work) == Status::bad_query_length);
  REQUIRE(floats.truncate(7) == Status::ok);
  CHECK(attend::prefill(query, floats, out, work) == Status::ok);
  floats.clear();
  CHECK(attend::prefill(query, floats, out, work) == Status::bad_query_length);
  for (int token = 0; token < 6; ++token) {
    const auto one_key = filled<attend::Key<Wake>>(4);
    REQUIRE(floats.append(one_key, filled<attend::Value<Wake>>(5)) == Status::ok);
  }
  CHECK(attend::prefill(query, floats, out, work) == Status::ok);
}
