// Additive attention: what masks hide cannot leak, and what is refused touches nothing. Its numbers: tests/conformance.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include "../support/random.h"
#include "attend/layers.h"

using namespace attend;

namespace {

constexpr int tokens = 3, keys = 37, hidden = 11, width = 7;
using Shape = AdditiveShape<hidden, width>;

struct World {
  World() {
    attend_test::Random random(1);
    random.fill(queries[0], tokens * hidden);
    random.fill(key[0], keys * hidden);
    random.fill(values[0], keys * width);
    random.fill(v, hidden);
    random.fill(context[0], tokens * width);
  }
  template <class... More>
  Status run(const More&... more) {
    return additive_attention(queries, key, v, values, context, work, more...);
  }
  Vectors<tokens, hidden> queries;
  Vectors<keys, hidden> key;
  Vectors<keys, width> values;
  Vectors<tokens, width> context;
  Workspace<Shape, tokens, keys> work;
  float v[hidden];
};

template <class Array>
bool same(const Array& a, const Array& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

TEST_CASE("additive attention: the first keys alone, by length and by mask, with NaN behind") {
  World few, masked;
  constexpr int length = 20;
  Mask<1, 1, keys> mask{};
  for (int j = 0; j < length; ++j) mask[0][0][j] = 1;
  for (int j = length; j < keys; ++j) {
    for (float& number : few.key[j]) number = std::numeric_limits<float>::quiet_NaN();
    for (float& number : few.values[j]) number = std::numeric_limits<float>::infinity();
    for (float& number : masked.key[j]) number = std::numeric_limits<float>::infinity();
    for (float& number : masked.values[j]) number = std::numeric_limits<float>::quiet_NaN();
  }
  Options options;
  options.key_length = length;
  REQUIRE(few.run(options) == Status::ok);
  ScoreOptions<Shape> with_mask;
  with_mask.mask = mask;
  Scores<Shape, tokens, keys> weights;
  with_mask.scores = weights;
  with_mask.score_stage = ScoreStage::weights;
  REQUIRE(masked.run(with_mask) == Status::ok);
  CHECK(same(few.context, masked.context));
  for (int t = 0; t < tokens; ++t) {
    float sum = 0.0f;
    for (int j = 0; j < keys; ++j) {
      sum += weights[t][0][j];
      CHECK((j < length || weights[t][0][j] == 0.0f));
    }
    CHECK(sum == doctest::Approx(1.0));
  }
}

TEST_CASE("additive attention: one token alone has the bits that it has among others") {
  World all;
  REQUIRE(all.run() == Status::ok);
  for (int t = 0; t < tokens; ++t) {
    World one;
    Vectors<1, width> context;
    Workspace<Shape, 1, keys> work;
    REQUIRE(additive_attention(one.queries[t], one.key, one.v, one.values, context, work) == Status::ok);
    CHECK(std::memcmp(context[0], all.context[t], sizeof context) == 0);
  }
}

TEST_CASE("additive attention: what is refused touches nothing") {
  World world;
  const Vectors<tokens, width> before = world.context;
  Options options;
  options.scale = 2.0f;
  CHECK(world.run(options) == Status::no_effect);
  options = {};
  options.key_length = keys + 1;
  CHECK(world.run(options) == Status::bad_key_length);
  options = {};
  options.query_length = -1;
  CHECK(world.run(options) == Status::bad_query_length);
  ScoreOptions<Shape> capped;
  capped.soft_cap = 2.0f;
  CHECK(world.run(capped) == Status::no_effect);
  Scores<Shape, tokens, keys> shown;
  ScoreOptions<Shape> raw;
  raw.scores = shown;
  raw.score_stage = ScoreStage::raw;
  CHECK(world.run(raw) == Status::no_effect);
  raw.score_stage = ScoreStage::capped;
  CHECK(world.run(raw) == Status::no_effect);
  const Bias<1, 1, keys> bias{};
  ScoreOptions<Shape> with_bias;
  with_bias.bias = bias;
  CHECK(world.run(with_bias) == Status::no_effect);
  CHECK(same(world.context, before));
}
