// Multi-head layers: the bits of projections and attention one after another, for every kind of call; what they refuse.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>

#include "../support/typed_objects.h"
#include "attend/layers.h"
#include "attend/layers/multi_head.h"

using attend::Status;
using attend::Vectors;
using attend_test::random_floats;
using attend_test::same_array;

namespace {

// More tokens than a layer has under way at a time on any target.
constexpr int tokens = 211, width = 21, memory_width = 13, out_width = 9;

struct Small {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 7, value_dim = 5, max_tokens = 2 * tokens;
};
struct Recent {
  static constexpr int window = 30, tokens_at_once = tokens, sink_tokens = 3;
};

// int8 weights of random numbers.
template <int outputs, int inputs>
std::unique_ptr<attend::Weights<outputs, inputs, attend::int8>> random_bytes(std::uint64_t seed) {
  auto made = std::make_unique<attend::Weights<outputs, inputs, attend::int8>>();
  attend_test::Random random(seed);
  for (auto& row : made->data) {
    for (auto& number : row) number = std::int8_t(random.between(-127, 127));
  }
  random.fill(made->scales, outputs);
  return made;
}

// A step that depends on positions, as rotary ones do.
struct Shifted {
  Status check(int position, int count) const { return position + count > limit ? Status::bad_count : Status::ok; }
  template <class Token>
  static void prepare_query(Token& query, int position) {
    query[0][0][0] += 0.01f * float(position);
  }
  template <class Token>
  static void prepare_key(Token& key, int position) {
    key[0][1][2] -= 0.02f * float(position);
  }
  int limit = 1000;
};

// A layer of matrices of several formats and layouts, with two biases; and what it computes, one call after another.
struct World {
  template <class Layer>
  void project(const Layer&, int position = 0) {
    REQUIRE(attend::project(*x, attend::into(*wq, bq, *query), attend::into(*wk, *key), attend::into(packed, *value)) ==
            Status::ok);
    for (int t = 0; t < tokens; ++t) {
      Shifted::prepare_query(reinterpret_cast<attend::Query<Small>&>((*query)[t]), position + t);
      Shifted::prepare_key(reinterpret_cast<attend::Key<Small>&>((*key)[t]), position + t);
    }
  }
  void end() { REQUIRE(attend::project(*context, *wo, bo, *expected) == Status::ok); }

  World() { attend::pack(*wv, packed); }

  std::unique_ptr<attend::Weights<28, width, attend::int8>> wq = random_bytes<28, width>(1);
  std::unique_ptr<attend::Weights<14, width>> wk = random_floats<attend::Weights<14, width>>(2);
  std::unique_ptr<attend::Weights<10, width>> wv = random_floats<attend::Weights<10, width>>(3);
  std::unique_ptr<attend::Weights<out_width, 20>> wo = random_floats<attend::Weights<out_width, 20>>(4);
  attend::PackedWeights<10, width> packed{};
  float bq[28] = {0.5f, -0.25f, 1.0f}, bo[out_width] = {0.125f, 0.0f, -3.0f};

  std::unique_ptr<Vectors<tokens, width>> x = random_floats<Vectors<tokens, width>>(5);
  std::unique_ptr<Vectors<tokens, out_width>> y = std::make_unique<Vectors<tokens, out_width>>();
  std::unique_ptr<Vectors<tokens, out_width>> expected = std::make_unique<Vectors<tokens, out_width>>();
  std::unique_ptr<attend::Query<Small, tokens>> query = std::make_unique<attend::Query<Small, tokens>>();
  std::unique_ptr<attend::Key<Small, tokens>> key = std::make_unique<attend::Key<Small, tokens>>();
  std::unique_ptr<attend::Value<Small, tokens>> value = std::make_unique<attend::Value<Small, tokens>>();
  std::unique_ptr<attend::Output<Small, tokens>> context = std::make_unique<attend::Output<Small, tokens>>();
  using OptionWork = attend::OptionWorkspace<Small, tokens, attend::over_ring<Recent>>;
  std::unique_ptr<OptionWork> work = std::make_unique<OptionWork>();
  std::unique_ptr<attend::LayerWorkspace<Small, tokens, tokens, attend::with_options>> layer_work =
      std::make_unique<attend::LayerWorkspace<Small, tokens, tokens, attend::with_options>>();
};

attend::ScoreOptions<Small> many_options(const attend::Mask<tokens, 4, tokens>& mask, attend::Lse<Small, tokens>& lse) {
  attend::ScoreOptions<Small> options;
  options.window_left = 50;
  options.soft_cap = 3.0f;
  options.mask = mask;
  options.lse = lse;
  return options;
}

}  // namespace

TEST_CASE("a layer over arrays has the bits of its pieces") {
  World world;
  const auto layer = attend::multi_head<Small>(attend::biased(*world.wq, world.bq), *world.wk, world.packed,
                                               attend::biased(*world.wo, world.bo), Shifted());
  world.project(layer);
  for (const bool is_causal : {false, true}) {
    attend::Options options;
    options.causal = is_causal;
    auto plain = std::make_unique<attend::Workspace<Small, tokens, tokens>>();
    REQUIRE(attend::attention(*world.query, *world.key, *world.value, *world.context, *plain, options) == Status::ok);
    world.end();
    auto work = std::make_unique<attend::LayerWorkspace<Small, tokens, tokens>>();
    CHECK(attend::self_attention(*world.x, layer, *world.y, *work, options) == Status::ok);
    CHECK(same_array(*world.y, *world.expected));
  }
  auto mask = std::make_unique<attend::Mask<tokens, 4, tokens>>();
  attend_test::Random random(9);
  for (auto& of_token : mask->data) {
    for (auto& of_head : of_token) {
      for (auto& visible : of_head) visible = random.between(0, 2) > 0;
    }
  }
  auto lse = std::make_unique<attend::Lse<Small, tokens>>(), expected_lse = std::make_unique<attend::Lse<Small, tokens>>();
  REQUIRE(attend::attention(*world.query, *world.key, *world.value, *world.context, *world.work,
                            many_options(*mask, *expected_lse)) == Status::ok);
  world.end();
  CHECK(attend::self_attention(*world.x, layer, *world.y, *world.layer_work, many_options(*mask, *lse)) == Status::ok);
  CHECK(same_array(*world.y, *world.expected));
  CHECK(same_array(*lse, *expected_lse));
}

TEST_CASE("fewer tokens than the array has are all that a layer reads and writes") {
  World world;
  const auto layer = attend::multi_head<Small>(*world.wq, *world.wk, *world.wv, *world.wo);
  auto work = std::make_unique<attend::LayerWorkspace<Small, tokens, tokens>>();
  auto few = std::make_unique<Vectors<17, width>>();
  std::memcpy(few.get(), world.x.get(), sizeof *few);
  Vectors<17, out_width> expected;
  REQUIRE(attend::self_attention(*few, layer, expected, *work) == Status::ok);
  for (int t = 17; t < tokens; ++t) {
    for (float& number : (*world.x)[t]) number = std::numeric_limits<float>::quiet_NaN();
  }
  attend::Options options;
  options.query_length = 17;
  const auto before = std::make_unique<Vectors<tokens, out_width>>(*world.y);
  CHECK(attend::self_attention(*world.x, layer, *world.y, *work, options) == Status::ok);
  CHECK(std::memcmp(world.y.get(), &expected, sizeof expected) == 0);
  CHECK(std::memcmp(&world.y->data[17], &before->data[17], sizeof(float) * out_width * (tokens - 17)) == 0);
}

TEST_CASE_TEMPLATE("a layer over a cache has the bits of its pieces, whole, in chunks and token by token", Cache,
                   attend::KvCache<Small>, attend::KvCache<Small, attend::float16, attend::int8>,
                   attend::RingCache<Small, Recent>, attend::RingCache<Small, Recent, attend::int8>) {
  World world;
  const auto layer = attend::multi_head<Small>(attend::biased(*world.wq, world.bq), *world.wk, world.packed,
                                               attend::biased(*world.wo, world.bo), Shifted());
  auto cache = std::make_unique<Cache>();
  auto work = std::make_unique<attend::LayerWorkspace<Small, tokens, attend::over_ring<Recent>, attend::with_options>>();
  for (int round = 0; round < 2; ++round) {  // the second after tokens that are there
    const int position = round * tokens;
    auto by_pieces = std::make_unique<Cache>(*cache);
    world.project(layer, position);
    REQUIRE(by_pieces->append(*world.key, *world.value) == Status::ok);
    REQUIRE(attend::prefill(*world.query, *by_pieces, *world.context, *world.work) == Status::ok);
    world.end();

    auto by_token = std::make_unique<Cache>(*cache);
    for (int t = 0; t < tokens; ++t) {
      Vectors<1, width> x;
      std::memcpy(&x, (*world.x)[t], sizeof x);
      Vectors<1, out_width> y;
      auto work_of_one = std::make_unique<attend::LayerWorkspace<Small, 1, attend::over_ring<Recent>, attend::with_options>>();
      REQUIRE(attend::self_attention(x, layer, *by_token, y, *work_of_one) == Status::ok);
      REQUIRE(std::memcmp(&y, (*world.expected)[t], sizeof y) == 0);
    }
    CHECK(attend::self_attention(*world.x, layer, *cache, *world.y, *work) == Status::ok);
    CHECK(same_array(*world.y, *world.expected));
    CHECK(cache->length() == position + tokens);
    // All of them may be prefilled, in however many blocks the layer has appended them.
    CHECK(attend::prefill(*world.query, *cache, *world.context, *world.work) == Status::ok);
  }
  CHECK(same_array(*world.y, *world.expected));
}

TEST_CASE("cross-attention projects the memory once") {
  struct Wide : Small {};
  World world;
  const auto wk = random_floats<attend::Weights<14, memory_width>>(11);
  const auto wv = random_floats<attend::Weights<10, memory_width>>(12);
  const auto memory = random_floats<Vectors<tokens, memory_width>>(13);
  const auto layer = attend::multi_head<Wide>(*world.wq, *wk, *wv, *world.wo);
  auto cache = std::make_unique<attend::KvCache<Wide>>();
  auto work = std::make_unique<attend::LayerWorkspace<Wide, tokens>>();
  CHECK(attend::cross_attention(*world.x, layer, *cache, *world.y, *work) == Status::empty_cache);
  REQUIRE(attend::project_memory(*memory, layer, *cache, *work, 100) == Status::ok);
  CHECK(cache->length() == 100);

  auto query = std::make_unique<attend::Query<Wide, tokens>>();
  auto key = std::make_unique<attend::Key<Wide, tokens>>();
  auto value = std::make_unique<attend::Value<Wide, tokens>>();
  auto context = std::make_unique<attend::Output<Wide, tokens>>();
  REQUIRE(attend::project(*world.x, *world.wq, *query) == Status::ok);
  REQUIRE(attend::project(*memory, attend::into(*wk, *key), attend::into(*wv, *value)) == Status::ok);
  for (const int length : {100, 40, 0}) {
    attend::Options options;
    options.key_length = length;
    auto arrays = std::make_unique<attend::Workspace<Wide, tokens, tokens>>();
    REQUIRE(attend::attention(*query, *key, *value, *context, *arrays, options) == Status::ok);
    REQUIRE(attend::project(*context, *world.wo, *world.expected) == Status::ok);
    CHECK(attend::cross_attention(*world.x, layer, *cache, *world.y, *work, options) == Status::ok);
    CHECK(same_array(*world.y, *world.expected));
  }
  CHECK(cache->length() == 100);
}

TEST_CASE("y may be x") {
  World world;
  const auto wo = random_floats<attend::Weights<width, 20>>(14);
  const auto layer = attend::multi_head<Small>(*world.wq, *world.wk, *world.wv, *wo);
  auto work = std::make_unique<attend::LayerWorkspace<Small, tokens, tokens>>();
  auto y = std::make_unique<Vectors<tokens, width>>();
  REQUIRE(attend::self_attention(*world.x, layer, *y, *work) == Status::ok);
  CHECK(attend::self_attention(*world.x, layer, *world.x, *work) == Status::ok);
  CHECK(same_array(*world.x, *y));
}

TEST_CASE("a layer that refuses touches nothing") {
  World world;
  auto cache = std::make_unique<attend::KvCache<Small>>();
  auto work = std::make_unique<attend::LayerWorkspace<Small, tokens, attend::over_cache, attend::with_options>>();
  const auto layer = attend::multi_head<Small>(*world.wq, *world.wk, *world.wv, *world.wo, Shifted{2 * tokens - 1});
  const auto refuses = [&](Status status, const attend::Options& options) {
    const auto y = std::make_unique<Vectors<tokens, out_width>>(*world.y);
    const int length = cache->length();
    CHECK(attend::self_attention(*world.x, layer, *cache, *world.y, *work, options) == status);
    CHECK(attend::self_attention(*world.x, layer, *cache, *world.y, *work, attend::ScoreOptions<Small>(options)) == status);
    CHECK(same_array(*world.y, *y));
    CHECK(cache->length() == length);
  };
  attend::Options options;
  options.query_length = -1;
  refuses(Status::bad_query_length, options);
  options.query_length = tokens + 1;
  refuses(Status::bad_query_length, options);
  options = {};
  options.scale = std::numeric_limits<float>::infinity();
  refuses(Status::bad_scale, options);
  options = {};
  options.key_length = tokens + 1;
  refuses(Status::bad_key_length, options);
  options = {};
  options.offset = 1;  // the step would be at 0
  refuses(Status::bad_offset, options);
  REQUIRE(attend::self_attention(*world.x, layer, *cache, *world.y, *work) == Status::ok);
  refuses(Status::bad_count, {});  // of the step
  Vectors<1, width> x{};
  Vectors<1, out_width> y{};
  attend::LayerWorkspace<Small, 1> small;
  for (int t = cache->length(); t + 1 < 2 * tokens; ++t)
    REQUIRE(attend::self_attention(x, layer, *cache, y, small) == Status::ok);
  const auto free = attend::multi_head<Small>(*world.wq, *world.wk, *world.wv, *world.wo);
  REQUIRE(attend::self_attention(x, free, *cache, y, small) == Status::ok);
  CHECK(cache->room() == 0);
  CHECK(attend::self_attention(x, free, *cache, y, small) == Status::cache_full);
  CHECK(attend::project_memory(*world.x, free, *cache, *work, 1) == Status::cache_full);
  CHECK(attend::project_memory(*world.x, free, *cache, *work, -1) == Status::bad_count);
}

TEST_CASE("steps of cross-attention turn queries by the offset, and by the last tokens of the memory where that is causal") {
  World world;
  auto cache = std::make_unique<attend::KvCache<Small>>();
  auto work = std::make_unique<attend::LayerWorkspace<Small, tokens>>();
  const auto layer = attend::multi_head<Small>(*world.wq, *world.wk, *world.wv, *world.wo, Shifted());
  REQUIRE(attend::project_memory(*world.x, layer, *cache, *work) == Status::ok);
  Vectors<2, width> x;
  std::memcpy(&x, world.x.get(), sizeof x);
  Vectors<2, out_width> first, later, last, told;
  attend::Options options;
  CHECK(attend::cross_attention(x, layer, *cache, first, *work) == Status::ok);
  options.offset = 0;
  CHECK(attend::cross_attention(x, layer, *cache, told, *work, options) == Status::ok);
  CHECK(same_array(first, told));
  options.offset = 7;
  CHECK(attend::cross_attention(x, layer, *cache, later, *work, options) == Status::ok);
  CHECK(!same_array(first, later));
  options = attend::causal();
  CHECK(attend::cross_attention(x, layer, *cache, last, *work, options) == Status::ok);
  options.offset = tokens - 2;
  CHECK(attend::cross_attention(x, layer, *cache, told, *work, options) == Status::ok);
  CHECK(same_array(last, told));
  const auto free = attend::multi_head<Small>(*world.wq, *world.wk, *world.wv, *world.wo);
  options.causal = false;
  CHECK(attend::cross_attention(x, free, *cache, told, *work, options) == Status::no_effect);
}

TEST_CASE("a layer whose offset nears the largest int sees every key in every block") {
  World world;
  const auto layer = attend::multi_head<Small>(*world.wq, *world.wk, *world.wv, *world.wo);
  auto work = std::make_unique<attend::LayerWorkspace<Small, tokens, tokens>>();
  REQUIRE(attend::self_attention(*world.x, layer, *world.expected, *work) == Status::ok);
  for (const int offset : {tokens, 0x7fffffff - 100, 0x7fffffff}) {
    CHECK(attend::self_attention(*world.x, layer, *world.y, *work, attend::causal(offset)) == Status::ok);
    CHECK(same_array(*world.y, *world.expected));
  }
}

TEST_CASE("layers refuse steps that are not ready, and a y that is a part of x") {
  World world;
  auto cache = std::make_unique<attend::KvCache<Small>>();
  auto work = std::make_unique<attend::LayerWorkspace<Small, tokens>>();
  attend::Rotary<6> rotary;
  static attend::RotaryTable<6, tokens> table;
  const float gain[7] = {1, 1, 1, 1, 1, 1, 1};
  constexpr auto pairs = attend::RotaryPairs::halves;
  const auto call = [&](const auto& step) {
    const auto layer = attend::multi_head<Small>(*world.wq, *world.wk, *world.wv, *world.wo, step);
    return attend::self_attention(*world.x, layer, *cache, *world.y, *work);
  };
  CHECK(call(attend::rotated<pairs>(rotary)) == Status::bad_rotary);
  CHECK(call(attend::rotated<pairs>(table)) == Status::bad_rotary);
  CHECK(call(attend::head_norm(gain, gain, 0.0f)) == Status::bad_epsilon);
  CHECK(call(attend::head_norm(gain, gain, std::numeric_limits<float>::quiet_NaN())) == Status::bad_epsilon);
  const auto wo = random_floats<attend::Weights<width, 20>>(14);
  const auto layer = attend::multi_head<Small>(*world.wq, *world.wk, *world.wv, *wo);
  static float memory[tokens + 1][width];
  auto& x = *reinterpret_cast<float(*)[tokens][width]>(memory);
  auto& y = *reinterpret_cast<float(*)[tokens][width]>(memory + 1);
  CHECK(attend::self_attention(x, layer, *cache, y, *work) == Status::bad_output);
  CHECK(cache->length() == 0);
  REQUIRE(rotary.init() == Status::ok);
  REQUIRE(table.init() == Status::ok);
  CHECK(call(attend::rotated<pairs>(rotary)) == Status::ok);
  const auto y_of_rotary = std::make_unique<Vectors<tokens, out_width>>(*world.y);
  cache->clear();
  CHECK(call(attend::rotated<pairs>(table)) == Status::ok);
  CHECK(same_array(*world.y, *y_of_rotary));
}
