// Batches: each row has the bits of a call of its own, in one call and in parts; and one wrong row refuses them all.
#include <doctest/doctest.h>

#include <string>

#include "../support/rounds.h"
#include "../support/typed_objects.h"

using namespace attend_test;
using attend::Status;

namespace {

struct Chat {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 12, value_dim = 7, max_tokens = 640;
};
using Integers = attend::Integer<Chat>;
constexpr attend::Quantisation<Integers> quantisation(0.03, 0.03, 0.02, {0.01, -3});
constexpr int batch = 3, tokens = 4;

template <class Array>
void draw_all(Array& rows, Random& random) {
  auto* const bytes = reinterpret_cast<std::int8_t*>(&rows);
  if constexpr (alignof(Array) == alignof(float)) {
    random.fill(reinterpret_cast<float*>(bytes), std::size_t(sizeof rows) / alignof(float), 2.0f);
  } else {
    fill_bytes(rows, random);
  }
}
template <class Array>
void clear(Array& rows) {
  std::memset(static_cast<void*>(&rows), 0x55, sizeof rows);
}

// Gives a cache more room, if it needs some.
template <class Cache>
void make_room(Cache&, int) {}
template <class Pool, int page_tokens, int pages>
void make_room(attend::PagedCache<Pool, page_tokens, pages>& cache, int row) {
  static Pool pool;
  while (cache.room() < tokens) REQUIRE(cache.add_page(pool, cache.pages() * batch + row) == Status::ok);
}

// Caches of different lengths, or of one.
template <class Shape, class Cache, class Work, class... Quantisation>
void check_caches(Cache (&caches)[batch], Work& work, bool alike, std::uint64_t seed, const Quantisation&... scales) {
  static attend::Query<Shape, tokens> queries[batch];
  static attend::Query<Shape> one_query[batch];
  static attend::Output<Shape, tokens> expected[batch], found[batch];
  static attend::Output<Shape> one_expected[batch], one_found[batch];
  Random random(seed);
  draw_all(queries, random);
  draw_all(one_query, random);
  const int length = tokens * random.between(1, 40);
  for (int row = 0; row < batch; ++row) {
    caches[row].clear();
    const int of_row = alike ? length : tokens * random.between(1, 40);
    while (caches[row].length() < of_row) {
      static attend::Key<Shape, tokens> key;
      static attend::Value<Shape, tokens> value;
      draw_all(key, random);
      draw_all(value, random);
      make_room(caches[row], row);
      REQUIRE(caches[row].append(key, value) == Status::ok);
    }
  }
  attend::ScoreOptions<Shape> options[batch];
  for (auto& of_row : options) {
    of_row.query_length = random.between(0, tokens);
    of_row.window_left = random.between(0, 30);
  }
  clear(expected);
  for (int row = 0; row < batch; ++row) {
    REQUIRE(attend::prefill(queries[row], caches[row], expected[row], work, scales..., options[row]) == Status::ok);
    REQUIRE(attend::decode(one_query[row], caches[row], one_expected[row], work, scales...) == Status::ok);
  }
  clear(found);
  CHECK(attend::prefill(queries, caches, found, work, scales..., options) == Status::ok);
  CHECK(same_array(found, expected));
  clear(one_found);
  CHECK(attend::decode(one_query, caches, one_found, work, scales...) == Status::ok);
  CHECK(same_array(one_found, one_expected));
  for (const int parts : {1, 2, 3, 4, 7}) {
    clear(found);
    clear(one_found);
    for (int i = parts - 1; i >= 0; --i) {
      const attend::Part part = {i, parts};
      CHECK(attend::prefill(queries, caches, found, work, scales..., options, part) == Status::ok);
      CHECK(attend::decode(one_query, caches, one_found, work, scales..., attend::Options(), part) == Status::ok);
    }
    CHECK(same_array(found, expected));
    CHECK(same_array(one_found, one_expected));
  }

  // The last row is wrong: no row is touched.
  options[batch - 1].query_length = tokens + 1;
  clear(found);
  clear(expected);
  CHECK(attend::prefill(queries, caches, found, work, scales..., options) == Status::bad_query_length);
  CHECK(attend::prefill(queries, caches, found, work, scales..., options, attend::Part{0, 2}) == Status::bad_query_length);
  caches[1].clear();
  CHECK(attend::prefill(queries, caches, found, work, scales...) != Status::ok);
  options[batch - 1].query_length = tokens;
  CHECK(attend::prefill(queries, caches, found, work, scales..., options, attend::Part{2, 2}) == Status::bad_part);
  CHECK(attend::prefill(queries, caches, found, work, scales..., options, attend::Part{0, 0}) == Status::bad_part);
  CHECK(same_array(found, expected));
}

using Ring = RingOf<40, 3, tokens>;

}  // namespace

TEST_CASE("batches: rows of caches of every kind have the bits of their own calls") {
  for_each_backend([](const char* backend) {
    CAPTURE(std::string(backend));
    static attend::OptionWorkspace<Chat, tokens, attend::over_ring<Ring>> work;
    static attend::Workspace<Integers, tokens> integer_work;
    static attend::KvCache<Chat> floats[batch];
    static attend::RingCache<Chat, Ring, attend::int8> rings[batch];
    using Pool = attend::KvCache<Chat, attend::float16>;
    static attend::PagedCache<Pool, 16, 10> paged[batch];
    static attend::KvCache<Integers> integers[batch];
    static attend::PagedCache<attend::KvCache<Integers>, 32, 6> paged_integers[batch];
    for (const int round : each_round(20)) {
      const bool alike = round % 2 == 0;
      check_caches<Chat>(floats, work, alike, std::uint64_t(round));
      check_caches<Chat>(paged, work, alike, std::uint64_t(round));
      check_caches<Integers>(integers, integer_work, alike, std::uint64_t(round), quantisation);
      check_caches<Integers>(paged_integers, integer_work, alike, std::uint64_t(round), quantisation);
      check_caches<Chat>(rings, work, alike, std::uint64_t(round));
    }
  });
}

TEST_CASE("batches: rows of arrays, and plain calls without work memory") {
  static attend::Query<Chat, tokens> queries[batch];
  static attend::Key<Chat, 30> keys[batch];
  static attend::Value<Chat, 30> values[batch];
  static attend::Output<Chat, tokens> expected[batch], found[batch];
  static attend::Workspace<Chat, tokens, 30> work;
  Random random(3);
  draw_all(queries, random);
  draw_all(keys, random);
  draw_all(values, random);
  for (int row = 0; row < batch; ++row) {
    REQUIRE(attend::attention(queries[row], keys[row], values[row], expected[row], work, attend::causal(26)) == Status::ok);
  }
  CHECK(attend::attention(queries, keys, values, found, work, attend::causal(26)) == Status::ok);
  CHECK(same_array(found, expected));
  clear(found);
  for (int i = 0; i < 5; ++i) {
    CHECK(attend::attention(queries, keys, values, found, work, attend::causal(26), attend::Part{i, 5}) == Status::ok);
  }
  CHECK(same_array(found, expected));

  static attend::KvCache<Chat> caches[batch];
  static attend::Query<Chat> one[batch];
  static attend::Output<Chat> one_expected[batch], one_found[batch];
  draw_all(one, random);
  for (int row = 0; row < batch; ++row) {
    REQUIRE(caches[row].append(keys[row], values[row]) == Status::ok);
    REQUIRE(attend::decode(one[row], caches[row], one_expected[row]) == Status::ok);
  }
  CHECK(attend::decode(one, caches, one_found) == Status::ok);
  CHECK(same_array(one_found, one_expected));
}
