// Numbers at the end of a format's range: what append, convert and layers refuse, and that nothing is lost then; what
// saturates; infinity and NaN.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "attend/hosted/threads.h"
#include "../support/typed_objects.h"
#include "attend/layers/multi_head.h"

using namespace attend_test;
using attend::bfloat16;
using attend::float16;
using attend::int4;
using attend::int8;
using attend::saturated;
using attend::Status;

namespace {

struct Talk {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 32, value_dim = 64, max_tokens = 400;
};
struct Latent {
  static constexpr int query_heads = 4, kv_heads = 1, head_dim = 24, value_dim = 16, max_tokens = 20;
};
constexpr float infinity = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max(),
                quiet_nan = std::numeric_limits<float>::quiet_NaN();

// The floats on both sides of where a format ends, and its largest number.
template <class Format>
struct EndOf;
template <>
struct EndOf<float16> {
  static constexpr float last = 0x1.ffdffep15f, beyond = 65520.0f, number = 65504.0f;
};
template <>
struct EndOf<int4> {
  static constexpr float last = 0x1.ffdffep18f, beyond = 524160.0f, number = 524032.0f;
};

template <int count>
struct Tokens {
  attend::Key<Talk, count> key = filled<attend::Key<Talk, count>>(1);
  attend::Value<Talk, count> value = filled<attend::Value<Talk, count>>(2);
  float& last_key() { return key[count - 1][Talk::kv_heads - 1][Talk::head_dim - 1]; }
  float& last_value() { return value[count - 1][Talk::kv_heads - 1][Talk::value_dim - 1]; }
};

const auto query = filled<attend::Query<Talk>>(3);
attend::OptionWorkspace<Talk, 24, 4096> work;  // more than any call here needs

template <class Cache>
attend::Output<Talk> decoded(const Cache& cache) {
  auto output = poisoned<attend::Output<Talk>>();
  REQUIRE(attend::decode(query, cache, output, work) == Status::ok);
  return output;
}

// Tokens of which one number is too large are refused, and the cache gives what its twin gives, which never saw them, now and
// after five more tokens.
template <int count, class Cache>
void check_refused(Cache& cache, Cache& twin, float beyond) {
  const auto tokens = std::make_unique<Tokens<count>>();
  const int length = cache.length();
  for (const bool of_key : {true, false}) {
    for (const float sign : {1.0f, -1.0f}) {
      float& number = of_key ? tokens->last_key() : tokens->last_value();
      const float before = number;
      number = sign * beyond;
      CHECK(cache.append(tokens->key, tokens->value) == Status::out_of_range);
      number = before;
    }
  }
  REQUIRE(cache.length() == length);
  if (length > 0) CHECK(same_array(decoded(cache), decoded(twin)));
}

template <class Cache>
void append_both(Cache& cache, Cache& twin, std::uint64_t seed) {
  const auto key = filled<attend::Key<Talk>>(seed);
  const auto value = filled<attend::Value<Talk>>(seed + 1000);
  REQUIRE(cache.append(key, value) == Status::ok);
  REQUIRE(twin.append(key, value) == Status::ok);
}

}  // namespace

TEST_CASE_TEMPLATE("stored range: a number that is too large is refused, and the cache goes on as if nothing had been given",
                   Format, float16, int4) {
  using Cache = attend::KvCache<Talk, Format>;
  auto cache = std::make_unique<Cache>(), twin = std::make_unique<Cache>();
  for (int token = 0; token < 40; ++token) {
    check_refused<1>(*cache, *twin, EndOf<Format>::beyond);
    check_refused<3>(*cache, *twin, largest);
    append_both(*cache, *twin, std::uint64_t(token));
  }
  CHECK(std::string(attend::status_text(Status::out_of_range)).find("saturated") != std::string::npos);
}

TEST_CASE_TEMPLATE("stored range: the last number in range is taken, and saturated is what gives it for all beyond", Format,
                   float16, int4) {
  for (const float sign : {1.0f, -1.0f}) {
    for (const bool of_key : {true, false}) {
      Tokens<2> tokens;
      float& number = of_key ? tokens.last_key() : tokens.last_value();
      auto at_end = std::make_unique<attend::KvCache<Talk, Format>>();
      auto limited = std::make_unique<attend::KvCache<Talk, saturated<Format>>>();
      number = sign * EndOf<Format>::number;
      REQUIRE(at_end->append(tokens.key, tokens.value) == Status::ok);
      const attend::Output<Talk> expected = decoded(*at_end);
      for (const float& each : expected.data[0][0]) REQUIRE(std::isfinite(each));
      at_end->clear();
      number = sign * EndOf<Format>::last;
      REQUIRE(at_end->append(tokens.key, tokens.value) == Status::ok);
      CHECK(same_array(decoded(*at_end), expected));
      for (const float beyond : {EndOf<Format>::last, EndOf<Format>::beyond, 7e5f, 1e30f, largest}) {
        limited->clear();
        number = sign * beyond;
        REQUIRE(limited->append(tokens.key, tokens.value) == Status::ok);
        CHECK(same_array(decoded(*limited), expected));
      }
    }
  }
}

TEST_CASE("stored range: saturated are the formats that say so") {
  Tokens<1> tokens;
  attend::KvCache<Talk, saturated<float16>, float16> keys;
  attend::KvCache<Talk, int8, saturated<int4>> values;
  tokens.last_key() = 1e6f;
  CHECK(keys.append(tokens.key, tokens.value) == Status::ok);
  CHECK(values.append(tokens.key, tokens.value) == Status::ok);
  tokens.last_value() = 1e6f;
  CHECK(keys.append(tokens.key, tokens.value) == Status::out_of_range);
  CHECK(values.append(tokens.key, tokens.value) == Status::ok);
  CHECK(sizeof keys == sizeof(attend::KvCache<Talk, float16>));
}

TEST_CASE_TEMPLATE("stored range: float, bfloat16 and int8 take every finite number, and keep it finite", Format, float,
                   bfloat16, int8) {
  auto cache = std::make_unique<attend::KvCache<Talk, Format>>();
  Tokens<1> tokens;
  tokens.key = {};
  attend::Output<Talk> output;
  for (const float number : {0x1.fefffep127f, 0x1.ffp127f, largest, -largest}) {
    cache->clear();
    for (auto& head : tokens.value[0]) std::fill_n(head, Talk::value_dim, number / 2);
    tokens.last_value() = number;
    REQUIRE(cache->append(tokens.key, tokens.value) == Status::ok);
    attend::Options options;
    REQUIRE(attend::decode(query, *cache, output, work, options) == Status::ok);
    const float found = output[0][Talk::query_heads - 1][Talk::value_dim - 1];
    CHECK(std::fabs(double(found) / double(number) - 1) < 0.004);
  }
}

TEST_CASE_TEMPLATE("stored range: a ring at the moment of overwriting keeps what a query can see", Format, float16, int4) {
  using Ring = attend::RingCache<Talk, RingOf<33, 3>, Format>;
  auto ring = std::make_unique<Ring>(), twin = std::make_unique<Ring>();
  for (int token = 0; token < 120; ++token) {
    check_refused<1>(*ring, *twin, EndOf<Format>::beyond);
    append_both(*ring, *twin, std::uint64_t(token));
  }
}

TEST_CASE_TEMPLATE("stored range: blocks of tokens whose last is refused take nothing from a ring", Format, float16, int4) {
  constexpr int block = 24;  // more than a group of tokens: some of it comes to lie where the oldest are
  using Ring = attend::RingCache<Talk, RingOf<20, 1, block>, Format>;
  auto ring = std::make_unique<Ring>(), twin = std::make_unique<Ring>();
  const auto queries = filled<attend::Query<Talk, block>>(3);
  for (int token = 0; token < 120; ++token) {
    append_both(*ring, *twin, std::uint64_t(token));
    check_refused<block>(*ring, *twin, EndOf<Format>::beyond);
    if (token + 1 < block) continue;
    auto found = poisoned<attend::Output<Talk, block>>(), expected = poisoned<attend::Output<Talk, block>>();
    REQUIRE(attend::prefill(queries, *ring, found, work) == Status::ok);
    REQUIRE(attend::prefill(queries, *twin, expected, work) == Status::ok);
    CHECK(same_array(found, expected));
  }
}

TEST_CASE("stored range: pages, and values in keys") {
  using Pool = attend::KvCache<Talk, float16>;
  using Sequence = attend::PagedCache<Pool, 16, 4>;
  auto pool = std::make_unique<Pool>(), other_pool = std::make_unique<Pool>();
  Sequence sequence, twin;
  for (const int page : {5, 2, 9, 0}) {
    REQUIRE(sequence.add_page(*pool, page) == Status::ok);
    REQUIRE(twin.add_page(*other_pool, page) == Status::ok);
  }
  for (int token = 0; token < 40; ++token) {
    check_refused<24>(sequence, twin, 65520.0f);  // over two pages
    append_both(sequence, twin, std::uint64_t(token));
  }

  attend::KvCache<Latent, float16, attend::in_keys> latents;
  attend::KvCache<Latent, saturated<float16>, attend::in_keys> limited;
  auto latent = filled<attend::Key<Latent, 2>>(1);
  latent[1][0][23] = 65520.0f;
  CHECK(latents.append(latent) == Status::out_of_range);
  CHECK(latents.length() == 0);
  CHECK(limited.append(latent) == Status::ok);
  latent[1][0][23] = 65519.0f;
  CHECK(latents.append(latent) == Status::ok);
}

TEST_CASE("stored range: infinity and NaN are taken by every format, with the same outputs from every backend") {
  const auto check = [](auto format, bool keeps_infinity, int width) {
    using Format = decltype(format);
    auto cache = std::make_unique<attend::KvCache<Talk, Format>>();
    for (const float special : {quiet_nan, infinity, -infinity}) {
      cache->clear();
      Tokens<3> tokens;
      tokens.key = {};
      tokens.value[1][0][40] = special;
      REQUIRE(cache->append(tokens.key, tokens.value) == Status::ok);
      attend::Output<Talk> first;
      bool is_first = true;
      for_each_backend([&](const char*) {
        const attend::Output<Talk> output = decoded(*cache);
        for (int column = 0; column < Talk::value_dim; ++column) {
          const float found = output.data[0][0][column];
          const bool hit = column / width == 40 / width;
          if (!hit) CHECK(std::isfinite(found));
          if (hit && keeps_infinity && !std::isnan(special)) CHECK(found == special);
          if (hit && !(keeps_infinity && !std::isnan(special))) CHECK(std::isnan(found));
          if (!is_first && !std::isnan(found)) CHECK(found == first.data[0][0][column]);
        }
        first = output;
        is_first = false;
      });
      // A key of NaN shows in every output of its head, and in no other's.
      cache->clear();
      tokens.value = filled<attend::Value<Talk, 3>>(2);
      tokens.key[1][0][7] = special;
      REQUIRE(cache->append(tokens.key, tokens.value) == Status::ok);
      for_each_backend([&](const char*) {
        const attend::Output<Talk> output = decoded(*cache);
        if (std::isnan(special)) CHECK(std::isnan(output.data[0][0][0]));
        CHECK(std::isfinite(output.data[0][3][0]));
      });
    }
  };
  check(float(), true, 1);
  check(float16(), true, 1);
  check(bfloat16(), true, 1);
  check(int8(), false, Talk::value_dim);
  check(int4(), false, 32);
  check(saturated<float16>(), true, 1);
  check(saturated<int4>(), false, 32);
}

#if defined(__SSE__)
TEST_CASE("stored range: a row of int8 whose reciprocal would be subnormal, where subnormal results are flushed") {
  Tokens<1> tokens;
  tokens.key[0][1][3] = largest;
  static attend::KvCache<Talk, int8> cache, flushed;  // zero where nothing is stored
  REQUIRE(cache.append(tokens.key, tokens.value) == Status::ok);
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);
  const Status status = flushed.append(tokens.key, tokens.value);
  __builtin_ia32_ldmxcsr(before);
  REQUIRE(status == Status::ok);
  CHECK(std::memcmp(&cache, &flushed, sizeof cache) == 0);
}
#endif

TEST_CASE("stored range: weights that are too large are refused, and nothing is written") {
  auto weights = random_floats<attend::Weights<5, 64>>(1);
  const auto check = [&](auto converted, float end) {
    using Converted = decltype(converted);
    Converted before;
    std::memset(&before, 0x5a, sizeof before);
    converted = before;
    weights->data[4][63] = -end;
    CHECK(attend::convert(*weights, converted) == Status::out_of_range);
    CHECK(same_array(converted, before));
    weights->data[4][63] = std::nextafter(end, 0.0f);
    CHECK(attend::convert(*weights, converted) == Status::ok);
    weights->data[4][63] = infinity;
    CHECK(attend::convert(*weights, converted) == Status::ok);
  };
  check(attend::Weights<5, 64, float16>(), 65520.0f);
  check(attend::Weights<5, 64, int4>(), 524160.0f);
  attend::Weights<5, 64, bfloat16> bfloats;
  weights->data[4][63] = largest;
  CHECK(attend::convert(*weights, bfloats) == Status::ok);
  CHECK(bfloats.data[4][63] == 0x7f7f);
  attend::Weights<5, 64, int8> bytes;
  CHECK(attend::convert(*weights, bytes) == Status::ok);
}

namespace {

// Layers over more tokens than they take at a time.
constexpr int many = 203, width = 8;
struct Heads {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 8, max_tokens = 2 * many;
};
using Vectors = attend::Vectors<many, width>;

template <class Cache>
void check_layer(int threads, bool keeps_blocks) {
  const auto wq = random_floats<attend::Weights<16, width>>(1);
  const auto wk = random_floats<attend::Weights<8, width>>(2), wv = random_floats<attend::Weights<8, width>>(3);
  const auto wo = random_floats<attend::Weights<width, 16>>(4);
  const auto layer = attend::multi_head<Heads>(*wq, *wk, *wv, *wo);
  const auto x = random_floats<Vectors>(5);
  auto large = std::make_unique<Vectors>(*x), y = std::make_unique<Vectors>(), expected = std::make_unique<Vectors>();
  for (float& number : (*large)[many - 1]) number = 1e6f;
  auto work_of_layer = std::make_unique<attend::LayerWorkspace<Heads, many, many, attend::with_options, 3>>();
  auto cache = std::make_unique<Cache>(), twin = std::make_unique<Cache>();
  const auto run = [&](const Vectors& from, Cache& to, Vectors& result) {
    return attend::Team(threads).run([&](attend::TeamPart part) {
      return attend::self_attention(from, layer, to, result, *work_of_layer, attend::Options{}, part);
    });
  };
  REQUIRE(run(*x, *cache, *y) == Status::ok);
  REQUIRE(run(*x, *twin, *y) == Status::ok);
  std::memset(y.get(), 0x5a, sizeof *y);
  *expected = *y;
  CHECK(run(*large, *cache, *y) == Status::out_of_range);
  CHECK(same_array(*y, *expected));
  constexpr int whole_blocks = (many - 1) / attend::config::layer_tokens * attend::config::layer_tokens;
  CHECK(cache->length() == many + (keeps_blocks ? whole_blocks : 0));
  if (keeps_blocks) return;
  auto output = poisoned<attend::Output<Heads>>(), of_twin = output;
  const auto one = filled<attend::Query<Heads>>(3);
  auto small = std::make_unique<attend::OptionWorkspace<Heads, 1, 4096>>();
  REQUIRE(attend::decode(one, *cache, output, *small) == Status::ok);
  REQUIRE(attend::decode(one, *twin, of_twin, *small) == Status::ok);
  CHECK(same_array(output, of_twin));
}

}  // namespace

TEST_CASE(
    "stored range: a layer whose keys are too large writes no output and takes its tokens back; a ring keeps whole blocks") {
  for (const int threads : {1, 3}) {
    check_layer<attend::KvCache<Heads, float16>>(threads, false);
    check_layer<attend::RingCache<Heads, RingOf<40, 0, many>, float16>>(threads, true);
  }
}
