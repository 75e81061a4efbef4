// Caches of attend::in_keys, which hold keys that begin with their values: the bits of two copies of the numbers that are
// stored, in every format, however calls are cut; what a token takes of memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "../support/rounds.h"
#include "../support/typed_objects.h"

using namespace attend_test;
using attend::bfloat16;
using attend::float16;
using attend::in_keys;
using attend::int8;
using attend::Status;

namespace {

struct Latent {  // DeepSeek V3
  static constexpr int query_heads = 128, kv_heads = 1, head_dim = 576, value_dim = 512, max_tokens = 4096;
};
template <class Format>
constexpr std::size_t token_bytes = (sizeof(attend::KvCache<Latent, Format, in_keys>) - attend::config::alignment) / 4096;
template <class Format>
constexpr bool is_whole = (sizeof(attend::KvCache<Latent, Format, in_keys>) - attend::config::alignment) % 4096 == 0;
static_assert(is_whole<float> && token_bytes<float> == 2304, "576 numbers for each token, and what a cache counts");
static_assert(is_whole<float16> && token_bytes<float16> == 1152, "");
static_assert(is_whole<bfloat16> && token_bytes<bfloat16> == 1152, "");
static_assert(is_whole<int8> && token_bytes<int8> == 576 + 4, "and one scale");

constexpr int tokens = 700;

struct Narrow {  // 12 rows for a token's two heads, which are no whole numbers of vectors wide
  static constexpr int query_heads = 12, kv_heads = 2, head_dim = 36, value_dim = 20, max_tokens = 720;
};
struct Grouped {  // many rows share a key, as in the models
  static constexpr int query_heads = 128, kv_heads = 1, head_dim = 40, value_dim = 32, max_tokens = 720;
};
struct Equal {  // values as wide as keys
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 16, value_dim = 16, max_tokens = 720;
};

struct Wide {  // dimensions enough for keys to stay in rows: attention/key_rows.h
  static constexpr int query_heads = 32, kv_heads = 1, head_dim = 162, value_dim = 40, max_tokens = 720;
};

constexpr int queries = 5;

// A cache, the keys that it has, and what the core makes of two copies of their rounded numbers, of which keys lie in panels.
template <class Shape, class Format>
struct World {
  using Dims = attend::detail::Checked<Shape>;
  static constexpr attend::core::Format format = attend::detail::FormatOf<Format>::format;
  static constexpr int rows = (tokens + 15) / 16 * 16;

  attend::Query<Shape, queries> query;
  attend::Key<Shape, tokens> key;
  attend::Value<Shape, tokens> unused;
  attend::Output<Shape, queries> output, expected;
  attend::KvCache<Shape, Format, in_keys> cache;
  attend::OptionWorkspace<Shape, queries> work;
  std::vector<std::uint8_t> keys, values;
  std::vector<float> scales;
  CoreCall<Shape, queries, tokens> call;

  World()
      : query(filled<attend::Query<Shape, queries>>(1)),
        key(filled<attend::Key<Shape, tokens>>(2)),
        keys(attend::core::format_cache_key_bytes(format, Dims::kv_heads, Dims::head_dim, tokens)),
        values(keys.size()),
        scales(std::size_t(Dims::kv_heads * rows)),
        call(query, key, unused) {
    attend::core::store({keys.data(), values.data(), scales.data(), scales.data(), format, format, Dims::kv_heads,
                         Dims::head_dim, Dims::head_dim, tokens, attend::core::Paging()},
                        0, tokens, attend_test::numbers_of<float>(call.problem.key),
                        attend_test::numbers_of<float>(call.problem.key));
    call.problem.key = {keys.data(), 0, rows * Dims::head_dim};
    call.problem.value = {values.data(), Dims::head_dim, rows * Dims::head_dim};
    call.problem.key_panels = true;
    call.problem.causal = true;
    call.problem.offset = tokens - queries;
    call.options.key_format = call.options.value_format = format;
    call.options.key_scales = call.options.value_scales = format == attend::core::Format::int8 ? scales.data() : nullptr;
    call.options.key_scale_stride = call.options.value_scale_stride = rows;
  }

  void fill() {
    cache.clear();
    REQUIRE(cache.append(key) == Status::ok);
  }
  void expect() {
    poison_array(expected);
    call.run(expected);
    poison_array(output);
  }
  void check(Status status) {
    CHECK(status == Status::ok);
    CHECK(same_array(output, expected));
    poison_array(output);
  }
};

// Every way to the same output.
template <class Shape, class Format>
void check_ways() {
  CAPTURE(int(attend::detail::FormatOf<Format>::format));
  CAPTURE(Shape::head_dim);
  auto made = std::make_unique<World<Shape, Format>>();
  auto& w = *made;
  w.expect();

  w.fill();
  CHECK(w.cache.length() == tokens);
  w.check(attend::prefill(w.query, w.cache, w.output, w.work));
  for (int part = 0; part < 4; ++part) {
    REQUIRE(attend::prefill(w.query, w.cache, w.output, w.work, attend::causal(), attend::Part{part, 4}) == Status::ok);
  }
  w.check(Status::ok);

  // Appended in chunks, of which the last is padded, and token by token; and decoded so.
  w.cache.clear();
  attend::Key<Shape, 64> chunk;
  for (int i = 0; i < tokens - queries; i += 64) {
    const int count = std::min(64, tokens - queries - i);
    poison_array(chunk);
    std::memcpy(&chunk, w.key[i], std::size_t(count) * sizeof w.key[0]);
    REQUIRE(w.cache.append(chunk, count) == Status::ok);
  }
  CHECK(w.cache.append(chunk, 65) == Status::bad_count);
  CHECK(w.cache.append(chunk, -1) == Status::bad_count);
  CHECK(w.cache.append(w.key) == Status::cache_full);
  for (int i = 0; i < queries; ++i) {
    attend::Key<Shape> next;
    attend::Query<Shape> newest;
    attend::Output<Shape> out;
    copy_tokens(w.key, tokens - queries + i, next);
    copy_tokens(w.query, i, newest);
    REQUIRE(w.cache.append(next) == Status::ok);
    poison_array(out);
    CHECK(attend::decode(newest, w.cache, out, w.work) == Status::ok);
    CHECK(std::memcmp(&out, w.expected[i], sizeof out) == 0);
  }
  w.check(attend::prefill(w.query, w.cache, w.output, w.work));

  // Into a state, and into states of divided keys.
  auto state = std::make_unique<attend::State<Shape, queries>>();
  for (const int up_to : {1, 100, 513, 600, tokens}) {
    REQUIRE(attend::accumulate(w.query, w.cache, *state, up_to, w.work) == Status::ok);
  }
  w.check(attend::finish(*state, w.output));
  auto later = std::make_unique<attend::State<Shape, queries>>();
  REQUIRE(state->begin() == Status::ok);
  REQUIRE(attend::accumulate(w.query, w.cache, *state, 512, w.work) == Status::ok);
  REQUIRE(later->begin(512) == Status::ok);
  REQUIRE(attend::accumulate(w.query, w.cache, *later, tokens, w.work) == Status::ok);
  REQUIRE(attend::merge(*state, *later) == Status::ok);
  w.check(attend::finish(*state, w.output));
}

template <class Shape, class Format>
void check_options() {
  CAPTURE(int(attend::detail::FormatOf<Format>::format));
  auto made = std::make_unique<World<Shape, Format>>();
  auto& w = *made;
  w.fill();
  attend::ScoreOptions<Shape> options;
  options.window_left = w.call.options.left = 600;
  options.sink_tokens = w.call.options.sink_tokens = 4;
  options.soft_cap = w.call.options.soft_cap = 2;
  w.expect();
  w.check(attend::prefill(w.query, w.cache, w.output, w.work, options));
  auto state = std::make_unique<attend::State<Shape, queries>>();
  for (const int up_to : {100, 600, tokens}) {
    REQUIRE(attend::accumulate(w.query, w.cache, *state, up_to, w.work, options) == Status::ok);
  }
  w.check(attend::finish(*state, w.output, options));

  options.key_length = w.call.problem.keys = 666, options.offset = w.call.problem.offset = 640;
  w.expect();
  w.check(attend::prefill(w.query, w.cache, w.output, w.work, options));
  REQUIRE(w.cache.truncate(666) == Status::ok);
  options.key_length = {};
  w.check(attend::prefill(w.query, w.cache, w.output, w.work, options));
}

// Pages of a pool, in another order than their tokens.
template <class Shape, class Format>
void check_pages() {
  CAPTURE(int(attend::detail::FormatOf<Format>::format));
  auto made = std::make_unique<World<Shape, Format>>();
  auto& w = *made;
  w.expect();
  attend::PagedCache<attend::KvCache<Shape, Format, in_keys>, 48, 15> paged;
  for (int i = 0; i < 15; ++i) REQUIRE(paged.add_page(w.cache, (i * 7 + 3) % 15) == Status::ok);
  REQUIRE(paged.append(w.key) == Status::ok);
  w.check(attend::prefill(w.query, paged, w.output, w.work));
  attend::Query<Shape> newest;
  attend::Output<Shape> out;
  copy_tokens(w.query, queries - 1, newest);
  CHECK(attend::decode(newest, paged, out, w.work) == Status::ok);
  CHECK(std::memcmp(&out, w.expected[queries - 1], sizeof out) == 0);
  auto state = std::make_unique<attend::State<Shape, queries>>();
  for (const int up_to : {100, tokens}) {
    REQUIRE(attend::accumulate(w.query, paged, *state, up_to, w.work) == Status::ok);
  }
  w.check(attend::finish(*state, w.output));
}

// In a quick run of each backend every third of them, which has each format and each shape in it; on emulators every seventh.
int taken = 0;

template <class Check>
void for_formats(Check check) {
  const auto in_turn = [&](auto format) {
    if (taken++ % stride() == 0) check(format);
  };
  in_turn(float()), in_turn(float16()), in_turn(bfloat16()), in_turn(int8());
}

}  // namespace

TEST_CASE("values in the keys of a cache: the bits of two copies, in one call, in chunks, token by token and in parts") {
  taken = 0;
  for_each_backend([](const char* backend) {
    CAPTURE(std::string(backend));
    for_formats([](auto format) { check_ways<Narrow, decltype(format)>(); });
    for_formats([](auto format) { check_ways<Grouped, decltype(format)>(); });
    for_formats([](auto format) { check_ways<Equal, decltype(format)>(); });
    for_formats([](auto format) { check_ways<Wide, decltype(format)>(); });
  });
}

TEST_CASE("values in the keys of a cache: with options, shorter than the cache, and in pages") {
  taken = 0;
  for_each_backend([](const char* backend) {
    CAPTURE(std::string(backend));
    for_formats([](auto format) { check_options<Narrow, decltype(format)>(); });
    for_formats([](auto format) { check_pages<Narrow, decltype(format)>(); });
    for_formats([](auto format) { check_pages<Grouped, decltype(format)>(); });
    for_formats([](auto format) { check_options<Wide, decltype(format)>(); });
    for_formats([](auto format) { check_pages<Wide, decltype(format)>(); });
  });
}

TEST_CASE("values in the keys of a cache: the bits of a KvCache of both, and of arrays") {
  auto made = std::make_unique<World<Narrow, float16>>();
  auto& w = *made;
  w.fill();
  auto value = std::make_unique<attend::Value<Narrow, tokens>>();
  for (int j = 0; j < tokens; ++j) {
    for (int h = 0; h < Narrow::kv_heads; ++h) std::memcpy((*value)[j][h], w.key[j][h], sizeof(*value)[j][h]);
  }
  auto two = std::make_unique<attend::KvCache<Narrow, float16>>();
  REQUIRE(two->append(w.key, *value) == Status::ok);
  REQUIRE(attend::prefill(w.query, *two, w.expected, w.work) == Status::ok);
  w.check(attend::prefill(w.query, w.cache, w.output, w.work));

  auto floats = std::make_unique<attend::KvCache<Narrow, float, in_keys>>();
  REQUIRE(floats->append(w.key) == Status::ok);
  REQUIRE(attend::attention(w.query, w.key, attend::values_in(w.key), w.expected, w.work, attend::causal(tokens - queries)) ==
          Status::ok);
  w.check(attend::prefill(w.query, *floats, w.output, w.work));
}

TEST_CASE("values in the keys of a cache: an empty one is refused, and what no token was written to is not read") {
  auto made = std::make_unique<World<Narrow, int8>>();
  auto& w = *made;
  w.cache.clear();
  CHECK(attend::prefill(w.query, w.cache, w.output, w.work) == Status::bad_query_length);
  attend::Options all;
  all.causal = false;
  CHECK(attend::prefill(w.query, w.cache, w.output, w.work, all) == Status::empty_cache);
  w.fill();
  attend::Key<Narrow, 3> last;
  poison_array(last);
  REQUIRE(w.cache.append(last) == Status::ok);  // scales that are no numbers
  REQUIRE(w.cache.truncate(tokens) == Status::ok);
  w.expect();
  w.check(attend::prefill(w.query, w.cache, w.output, w.work));
}
