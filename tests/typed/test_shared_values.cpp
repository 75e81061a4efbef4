// Values that are the first numbers of their keys: the bits of two copies, one array.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>

#include "../support/typed_objects.h"

using namespace attend_test;
using attend::Status;

namespace {

constexpr int queries = 7, keys = 700;

struct Latent {
  static constexpr int query_heads = 6, kv_heads = 2, head_dim = 36, value_dim = 20;
};
struct LatentBytes : Latent {
  using arithmetic = attend::integer;
};
struct Whole {  // values as wide as keys
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 16, value_dim = 16;
};

template <class Shape>
struct World {
  attend::Query<Shape, queries> query;
  attend::Key<Shape, keys> key;
  attend::Value<Shape, keys> value;
  attend::Output<Shape, queries> output, expected;
  attend::Workspace<Shape, queries, keys> work;

  explicit World(std::uint64_t seed) {
    fill_array(query, seed), fill_array(key, seed + 1), fill_array(output, seed + 2), fill_array(expected, seed + 3);
    for (int j = 0; j < keys; ++j) {
      for (int h = 0; h < Shape::kv_heads; ++h) std::memcpy(value[j][h], key[j][h], sizeof value[j][h]);
    }
  }

  bool is_same() const { return same_array(output, expected); }
};

}  // namespace

TEST_CASE_TEMPLATE("values in keys: the bits of a copy, plain, causal and in parts", Shape, Latent, Whole) {
  auto w = std::make_unique<World<Shape>>(4);
  for (const bool causal : {false, true}) {
    attend::Options options;
    options.causal = causal;
    if (causal) options.offset = keys - queries;
    REQUIRE(attend::attention(w->query, w->key, w->value, w->expected, w->work, options) == Status::ok);
    REQUIRE(attend::attention(w->query, w->key, attend::values_in(w->key), w->output, w->work, options) == Status::ok);
    CHECK(w->is_same());
    std::memset(&w->output, 0, sizeof w->output);
    for (int part = 0; part < 3; ++part) {
      REQUIRE(attend::attention(w->query, w->key, attend::values_in(w->key), w->output, w->work, options,
                                attend::Part{part, 3}) == Status::ok);
    }
    CHECK(w->is_same());
  }
}

TEST_CASE("values in keys: with options, into a state, and in integers") {
  auto w = std::make_unique<World<Latent>>(5);
  auto work = std::make_unique<attend::OptionWorkspace<Latent, queries>>();
  attend::ScoreOptions<Latent> options;
  options.window_left = 300, options.sink_tokens = 4, options.soft_cap = 2, options.offset = keys - queries;
  REQUIRE(attend::attention(w->query, w->key, w->value, w->expected, *work, options) == Status::ok);
  REQUIRE(attend::attention(w->query, w->key, attend::values_in(w->key), w->output, *work, options) == Status::ok);
  CHECK(w->is_same());

  auto state = std::make_unique<attend::State<Latent, queries>>();
  std::memset(&w->output, 0, sizeof w->output);
  for (const int up_to : {100, 600, keys}) {
    REQUIRE(attend::accumulate(w->query, w->key, attend::values_in(w->key), *state, up_to, *work, options) == Status::ok);
  }
  REQUIRE(attend::finish(*state, w->output, options) == Status::ok);
  CHECK(w->is_same());

  auto b = std::make_unique<World<LatentBytes>>(6);
  constexpr attend::Quantisation<LatentBytes> quantisation(0.03, 0.03, 0.02, 0.01);
  REQUIRE(attend::attention(b->query, b->key, b->value, b->expected, b->work, quantisation) == Status::ok);
  REQUIRE(attend::attention(b->query, b->key, attend::values_in(b->key), b->output, b->work, quantisation) == Status::ok);
  CHECK(b->is_same());
}
