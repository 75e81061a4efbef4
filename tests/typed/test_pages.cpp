// PagedCache: the bits of a KvCache of the same tokens, wherever its pages lie, and in integers those of the model; and the
// table of pages, which takes no wrong one.
#include <doctest/doctest.h>

#include <string>

#include "../conformance/integer_random.h"
#include "../support/rounds.h"
#include "../support/typed_objects.h"

using namespace attend_test;
using attend::Status;

namespace {

struct Paged {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 20, value_dim = 9, max_tokens = 1280;
};
struct Groups {  // of 32 numbers
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 32, value_dim = 64, max_tokens = 1280;
};
using Integers = attend::Integer<Paged>;
constexpr int most_queries = 5, at_once = 37;
attend::Quantisation<Integers> quantisation(0.03, 0.03, 0.02, {0.01, -3});

// Takes pages in any order, none twice, as they are needed.
template <class Cache, class Pool>
void make_room(Cache& cache, Pool& pool, int pages, int tokens, Random& random) {
  while (cache.room() < tokens) {
    const int page = random.between(-1, pages);
    bool is_new = page >= 0 && page < pages;
    for (int i = 0; i < cache.pages(); ++i) is_new = is_new && cache.page(i) != page;
    REQUIRE(cache.add_page(pool, page) == (is_new ? Status::ok : Status::bad_page));
  }
}

template <class Array>
void draw(Array& array, Random& random, float) {
  random.fill(numbers_of(array), sizeof array / sizeof(float), 2.0f);
}
template <class Array>
void draw(Array& array, Random& random, std::int8_t) {
  draw_integers(random, sizeof array, reinterpret_cast<std::int8_t*>(&array));
}
template <class Shape, class Array>
void draw(Array& array, Random& random) {
  draw(array, random, attend::detail::NumberOf<Shape>());
}

template <class Shape>
void draw_further(attend::ScoreOptions<Shape>& options, Random& random) {
  static const float slopes[4] = {0.5f, 0.25f, 0.1f, 0.0f};
  if (random.between(0, 3) == 0) options.alibi_slopes = slopes;
  if (random.between(0, 3) == 0) options.soft_cap = 3.0f;
}
void draw_further(attend::ScoreOptions<Integers>&, Random& random) {
  const int zero = random.between(0, 3) == 0 ? random.between(-128, 127) : 0;
  quantisation = {{0.03, zero}, 0.03, 0.02, {0.01, -3}};
}

// What each kind of shape takes as work memory, and after it.
template <class Shape, class Call>
Status with_work(const Call& call) {
  if constexpr (attend::detail::is_integer<Shape>) {
    static attend::Workspace<Shape, most_queries> work;
    return call(work, quantisation);
  } else {
    static attend::OptionWorkspace<Shape, most_queries> work;
    return call(work);
  }
}

template <class Pool, int page_tokens>
void check_random(int round) {
  using Shape = typename attend::detail::CacheTraits<Pool>::ShapeType;
  constexpr int pages = Pool::max_tokens / page_tokens;
  static Pool pool, plain;
  static attend::PagedCache<Pool, page_tokens, pages> paged, other;
  Random random(std::uint64_t(round + 9) * 100 + page_tokens);  // first a window that begins amid a page
  plain.clear();
  for (auto* cache : {&paged, &other}) {
    cache->clear();
    while (cache->remove_page() == Status::ok) continue;
  }
  const int tokens = random.between(0, 3) == 0 ? random.between(1, 1100) : random.between(1, 130);
  while (plain.length() < tokens) {
    static attend::Key<Shape, at_once> key;
    static attend::Value<Shape, at_once> value;
    draw<Shape>(key, random);
    draw<Shape>(value, random);
    const int count = random.between(0, std::min(at_once, tokens - plain.length()));
    make_room(paged, pool, pages, count, random);
    REQUIRE(plain.append(key, value, count) == Status::ok);
    REQUIRE(paged.append(key, value, count) == Status::ok);
    if (random.between(0, 5) != 0) continue;
    const int kept = random.between(std::max(0, paged.length() - 20), paged.length());
    REQUIRE(plain.truncate(kept) == Status::ok);
    REQUIRE(paged.truncate(kept) == Status::ok);
    while (paged.remove_page() == Status::ok) continue;
  }

  static attend::Query<Shape, most_queries> query;
  static attend::Output<Shape, most_queries> expected, found;
  draw<Shape>(query, random);
  attend::ScoreOptions<Shape> options;
  options.query_length = random.between(1, std::min(most_queries, tokens));
  if (random.between(0, 3) == 0) options.causal = false;
  if (random.between(0, 2) == 0) options.window_left = random.between(0, tokens);
  if (options.window_left.given) options.sink_tokens = random.between(0, 1) * random.between(0, 40);
  const bool positioned = options.causal.or_else(true) || options.window_left.given;
  if (positioned && random.between(0, 3) == 0) options.offset = random.between(0, tokens);
  if (random.between(0, 3) == 0) options.key_length = random.between(0, tokens);
  static attend::Mask<1, 1, Paged::max_tokens> mask;
  for (auto& visible : mask.data[0][0]) visible = random.between(0, 3) != 0;
  if (random.between(0, 2) == 0) options.mask = mask;
  draw_further(options, random);

  const auto clear = [&] { std::memset(static_cast<void*>(&found), 0x55, sizeof found); };
  const auto same = [&](const char* way) {
    CHECK_MESSAGE(same_array(found, expected), std::string(way), " round ", round, " pages of ", page_tokens);
    clear();
  };
  std::memset(static_cast<void*>(&expected), 0x55, sizeof expected);
  clear();
  const auto prefill = [&](const auto& cache, auto& output, const auto& of_call, const auto&... part) {
    return with_work<Shape>([&](auto& work, const auto&... more) {
      return attend::prefill(query, cache, output, work, more..., of_call, part...);
    });
  };
  REQUIRE(prefill(plain, expected, options) == Status::ok);
  REQUIRE(prefill(paged, found, options) == Status::ok);
  same("prefill");
  const int parts = random.between(2, 5);
  for (int i = 0; i < parts; ++i) REQUIRE(prefill(paged, found, options, attend::Part{i, parts}) == Status::ok);
  same("parts");
  static attend::State<Shape, most_queries> state;
  REQUIRE(state.begin() == Status::ok);
  const int keys = options.key_length.or_else(tokens);
  options.key_length = keys;  // queries may lie behind the last key: finish is told that there are no more
  do {
    const int up_to = state.next() + 32 * random.between(1, 20);
    REQUIRE(with_work<Shape>([&](auto& work, const auto&... more) {
              return attend::accumulate(query, paged, state, up_to, work, more..., options);
            }) == Status::ok);
  } while (state.next() < keys);
  if constexpr (attend::detail::is_integer<Shape>) {
    REQUIRE(attend::finish(state, found, quantisation, options) == Status::ok);
  } else {
    REQUIRE(attend::finish(state, found, options) == Status::ok);
  }
  same("a state");

  // With Options alone, which embedded processors compute by other code; and a copy, which shares what is there.
  attend::Options few;
  few.query_length = options.query_length;
  if (!few.query_length.given) return;
  REQUIRE(prefill(plain, expected, few) == Status::ok);
  other = paged;
  paged.clear();
  REQUIRE(prefill(other, found, few) == Status::ok);
  same("a copy, with Options");
}

template <class Pool>
void check_pool(const char* backend) {
  CAPTURE(std::string(backend));
  for (const int round : each_round(60)) {
    check_random<Pool, 32>(round);
    check_random<Pool, 64>(round);
    check_random<Pool, 640>(round);
    if constexpr (!attend::detail::is_integer<typename attend::detail::CacheTraits<Pool>::ShapeType>) {
      check_random<Pool, 16>(round);
    }
  }
}

}  // namespace

TEST_CASE("pages: random problems have the bits of a KvCache, in every format") {
  for_each_backend([](const char* backend) {
    check_pool<attend::KvCache<Paged>>(backend);
    check_pool<attend::KvCache<Paged, attend::float16>>(backend);
    check_pool<attend::KvCache<Paged, attend::int8, attend::bfloat16>>(backend);
    check_pool<attend::KvCache<Groups, attend::int4>>(backend);
  });
}

TEST_CASE("pages: random problems in integers have the bits of a KvCache") {
  for_each_backend([](const char* backend) { check_pool<attend::KvCache<Integers>>(backend); });
}

TEST_CASE("pages: random problems in integers have the bytes of the model") {
  using Pool = attend::KvCache<Integers>;
  static Pool pool;
  for_each_backend([](const char* backend) {
    for (const int round : each_round(150)) {
      Random random(std::uint64_t(round) + 5000);
      IntegerCase c = random_shape(random);
      c.query_heads = Paged::query_heads, c.kv_heads = Paged::kv_heads, c.head_dim = Paged::head_dim;
      c.value_dim = Paged::value_dim, c.queries = random.between(1, most_queries), c.head_scales = false, c.causal = true;
      c.score_step = std::ldexp(1.0 + double(random.uniform()) * 0.5, -random.between(8, 18));
      if (random.between(0, 1) == 0) c.left = random.between(0, c.keys);
      if (c.left >= 0) c.sink_tokens = random.between(0, 1) * random.between(0, 80);
      IntegerRun run(c);
      const attend::Quantisation<Integers> scales(c.score_step / 1.4426950408889634, 1.0, {c.output_steps, c.value_zero},
                                                  {1.0, c.zero}, 1.0);
      REQUIRE(std::memcmp(scales.scores(), run.data.score_scales, sizeof *run.data.score_scales) == 0);
      attend::PagedCache<Pool, 32, 40> cache;
      for (int i = 0; i < c.keys; ++i) {
        attend::Key<Integers> key;
        attend::Value<Integers> value;
        std::memcpy(&key, run.data.key + std::size_t(i) * sizeof key, sizeof key);
        std::memcpy(&value, run.data.value + std::size_t(i) * sizeof value, sizeof value);
        make_room(cache, pool, 40, 1, random);
        REQUIRE(cache.append(key, value) == Status::ok);
      }
      attend::Query<Integers, most_queries> query{};
      std::memcpy(&query, run.data.query, c.rows() * Paged::head_dim);
      attend::ScoreOptions<Integers> options = attend::causal(c.offset);
      options.query_length = c.queries;
      if (c.left >= 0) options.window_left = c.left, options.sink_tokens = c.sink_tokens;
      attend::Output<Integers, most_queries> output;
      static attend::Workspace<Integers, most_queries> work;
      REQUIRE(attend::prefill(query, cache, output, work, scales, options) == Status::ok);
      const std::vector<char> defined = IntegerModel(c, run.data).output();
      CHECK_MESSAGE(std::memcmp(&output, defined.data(), defined.size()) == 0, std::string(backend), ": ", run.text());
    }
  });
}

TEST_CASE("pages: scales of tokens in an array are refused") {
  static attend::KvCache<Integers> pool;
  static attend::PagedCache<attend::KvCache<Integers>, 32, 2> cache;
  static attend::Key<Integers> key;
  static attend::Value<Integers> value;
  static attend::Query<Integers> query;
  static attend::Output<Integers> output;
  static attend::Workspace<Integers> work;
  static attend::TokenScales<Integers, 64> of_tokens;
  REQUIRE(cache.add_page(pool, 1) == Status::ok);
  REQUIRE(cache.append(key, value) == Status::ok);
  constexpr attend::Quantisation<Integers> scales(0.03, 0.03, 0.02, 0.01);
  attend::ScoreOptions<Integers> options;
  CHECK(attend::decode(query, cache, output, work, scales, options) == Status::ok);
  options.key_scales = of_tokens;
  CHECK(attend::decode(query, cache, output, work, scales, options) == Status::bad_token_scales);
  options = {};
  options.value_scales = of_tokens;
  CHECK(attend::decode(query, cache, output, work, scales, options) == Status::bad_token_scales);
}

TEST_CASE("pages: a table takes no wrong page, and no token without one") {
  using Pool = attend::KvCache<Paged>;
  static Pool pool, another;
  attend::PagedCache<Pool, 64, 3> cache;
  static_assert(sizeof cache <= 48, "a table, and nothing of the pool");
  static attend::Key<Paged, 65> key;
  static attend::Value<Paged, 65> value;
  static attend::Query<Paged> query;
  static attend::Output<Paged> output;
  static attend::OptionWorkspace<Paged> work;
  CHECK(cache.room() == 0);
  CHECK(cache.remove_page() == Status::bad_page);
  CHECK(cache.append(key, value) == Status::cache_full);
  CHECK(attend::decode(query, cache, output, work) == Status::empty_cache);
  attend::Options none;
  none.key_length = 0;
  poison_array(output);
  CHECK(attend::decode(query, cache, output, work, none) == Status::ok);
  CHECK(output[0][3][8] == 0.0f);
  for (const int page : {-1, 20, 1 << 30}) CHECK(cache.add_page(pool, page) == Status::bad_page);
  CHECK(cache.add_page(pool, 19) == Status::ok);
  CHECK(cache.add_page(pool, 19) == Status::bad_page);
  CHECK(cache.add_page(another, 3) == Status::bad_page);
  CHECK(cache.append(key, value) == Status::cache_full);
  CHECK(cache.length() == 0);
  CHECK(cache.append(key, value, 64) == Status::ok);
  CHECK(cache.remove_page() == Status::bad_page);
  CHECK(cache.add_page(pool, 0) == Status::ok);
  CHECK(cache.append(key, value) == Status::cache_full);
  CHECK(cache.add_page(pool, 7) == Status::ok);
  CHECK(cache.add_page(pool, 8) == Status::bad_page);
  CHECK(cache.append(key, value) == Status::ok);
  CHECK(cache.room() == 63);
  CHECK(cache.pages() == 3);
  CHECK(cache.page(0) == 19);
  CHECK(cache.page(3) == -1);
  CHECK(cache.page(-1) == -1);
  CHECK(cache.truncate(128) == Status::ok);
  CHECK(cache.remove_page() == Status::ok);
  CHECK(cache.pages() == 2);
  cache.clear();
  CHECK(cache.room() == 128);
  CHECK(std::string(attend::status_text(Status::bad_page)).find("pool") != std::string::npos);
}
