// Steps of layers that models of today have: factors of queries by position, and a gate behind attention. A layer has the bits
// of the calls that it is made of.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "../support/random.h"
#include "attend/hosted/threads.h"
#include "attend/layers.h"

using attend::Status;
using attend_test::Random;

namespace {

struct Small {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, max_tokens = 80;
};
constexpr int tokens = 40, width = 10;

struct World {
  attend::Weights<32, width> wq;
  attend::Weights<16, width> wk;
  attend::Weights<12, width> wv;
  attend::Weights<width, 24> wo;
  attend::Weights<24, width> gate;
  float gate_bias[24];
  attend::Vectors<tokens, width> x, y, expected;
  attend::KvCache<Small> cache;
  attend::LayerWorkspace<Small, tokens> work;

  explicit World(std::uint64_t seed) {
    Random random(seed);
    const auto draw = [&](auto& array) { random.fill(&array.data[0][0], sizeof array.data / sizeof(float), 0.5f); };
    draw(wq), draw(wk), draw(wv), draw(wo), draw(gate), draw(x);
    random.fill(gate_bias, 24, 0.5f);
  }
  // What the layer's calls do, one after another.
  void by_hand(const float* factors, int count, int period, int shift, bool is_gated) {
    static attend::Query<Small, tokens> query;
    static attend::Key<Small, tokens> key;
    static attend::Value<Small, tokens> value;
    static attend::Output<Small, tokens> output;
    static attend::Vectors<tokens, 24> gates, context;
    static attend::Workspace<Small, tokens> prefill_work;
    static attend::Workspace<attend::Projections> project_work;
    cache.clear();
    REQUIRE(attend::project(x, attend::into(wq, query), attend::into(wk, key), attend::into(wv, value), project_work) ==
            Status::ok);
    for (int i = 0; i < tokens && factors != nullptr; ++i) {
      const int at = (i + shift) / period;
      for (auto& head : query[i]) {
        for (float& number : head) number *= factors[at < count ? at : count - 1];
      }
    }
    REQUIRE(cache.append(key, value) == Status::ok);
    REQUIRE(attend::prefill(query, cache, output, prefill_work) == Status::ok);
    std::memcpy(&context, &output, sizeof context);
    if (is_gated) {
      REQUIRE(attend::project(x, gate, gate_bias, gates, project_work) == Status::ok);
      attend::activate<attend::Activation::sigmoid>(gates, context, context);
    }
    REQUIRE(attend::project(context, wo, expected, project_work) == Status::ok);
  }
};

template <class Array>
bool same(const Array& a, const Array& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

TEST_CASE("layer steps: factors of queries and a gate are those of the calls by hand, whole, token by token and on threads") {
  static World w(11);
  static const float factors[] = {1.0f, 1.25f, 1.5f, 2.0f};
  const auto layer = attend::multi_head<Small>(w.wq, w.wk, w.wv, w.wo, attend::scaled_queries(factors, 9, 2),
                                               attend::gated(attend::biased(w.gate, w.gate_bias)));
  w.by_hand(factors, 4, 9, 2, true);
  w.cache.clear();
  REQUIRE(attend::self_attention(w.x, layer, w.cache, w.y, w.work) == Status::ok);
  CHECK(same(w.y, w.expected));

  static attend::LayerWorkspace<Small, 1> work_of_one;
  w.cache.clear();
  for (int i = 0; i < tokens; ++i) {
    attend::Vectors<1, width> x, y;
    std::memcpy(&x, &w.x[i], sizeof x);
    REQUIRE(attend::self_attention(x, layer, w.cache, y, work_of_one) == Status::ok);
    CHECK(std::memcmp(&y, &w.expected[i], sizeof y) == 0);
  }

  static attend::LayerWorkspace<Small, tokens, attend::over_cache, false, 3> work_of_three;
  w.cache.clear();
  w.y = {};
  attend::Team team(3);
  REQUIRE(team.run([&](attend::TeamPart part) {
    return attend::self_attention(w.x, layer, w.cache, w.y, work_of_three, part);
  }) == Status::ok);
  CHECK(same(w.y, w.expected));

  // In place, where x and y are the same, and with the gate alone.
  const auto gate_alone = attend::multi_head<Small>(w.wq, w.wk, w.wv, w.wo, attend::gated(attend::biased(w.gate, w.gate_bias)));
  w.by_hand(nullptr, 0, 1, 0, true);
  w.cache.clear();
  w.y = w.x;
  REQUIRE(attend::self_attention(w.y, gate_alone, w.cache, w.y, w.work) == Status::ok);
  CHECK(same(w.y, w.expected));
}

TEST_CASE("layer steps: factors of queries are refused where they cannot be meant") {
  static World w(12);
  static const float factors[] = {1.0f, 2.0f};
  const auto call = [&](const auto&... steps) {
    return attend::self_attention(w.x, attend::multi_head<Small>(w.wq, w.wk, w.wv, w.wo, steps...), w.cache, w.y, w.work);
  };
  CHECK(call(attend::scaled_queries(factors, 0)) == Status::bad_position);
  CHECK(call(attend::scaled_queries(factors, 0), attend::gated(w.gate)) == Status::bad_position);
  CHECK(call(attend::scaled_queries(factors, -1)) == Status::bad_position);
  CHECK(call(attend::scaled_queries(factors, 5, -1)) == Status::bad_position);
  CHECK(w.cache.length() == 0);
  CHECK(call(attend::scaled_queries(factors, 5, 0x7fffffff)) == Status::ok);  // always the last
  w.by_hand(factors + 1, 1, 1, 0, false);
  CHECK(same(w.y, w.expected));
}

TEST_CASE("layer steps: logarithmic factors are 1 + beta ln(1 + k)") {
  static float factors[300];
  for (const float beta : {0.1f, 0.0f, -0.25f, 3.0f}) {
    attend::logarithmic_factors(factors, beta);
    CHECK(factors[0] == 1.0f);
    for (int k = 0; k < 300; ++k) {
      const double exact = 1.0 + double(beta) * std::log(1.0 + k);
      CHECK(std::fabs(double(factors[k]) - exact) <= 1.2e-7 * (1.0 + std::fabs(double(beta)) * std::log(1.0 + k)));
    }
  }
}
