// Layers that share a cache: those that do not append to it attend to what another has put there (Gemma 3n's last layers).
#include <doctest/doctest.h>

#include "../support/typed_objects.h"
#include "attend/layers.h"

using attend::Status;
using attend::Vectors;
using attend_test::random_floats;
using attend_test::same_array;

namespace {

constexpr int prompt = 37, width = 20;

struct Shape {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 6, value_dim = 5, max_tokens = 64;
};
struct Recent {
  static constexpr int window = 12, tokens_at_once = prompt;
};

// Calls of a layer that appends, and after each the same tokens through the layer again, without appending: the same bits.
template <class Cache, class Work>
void check_without_append(Cache& cache, Work& work, const attend::Options& options) {
  const auto wq = random_floats<attend::Weights<24, width>>(1);
  const auto wk = random_floats<attend::Weights<12, width>>(2);
  const auto wv = random_floats<attend::Weights<10, width>>(3);
  const auto wo = random_floats<attend::Weights<width, 20>>(4);
  static attend::Rotary<6> rotary;
  REQUIRE(rotary.init() == Status::ok);
  const auto layer = attend::multi_head<Shape>(*wq, *wk, *wv, *wo, attend::rotated<attend::RotaryPairs::halves>(rotary));
  const auto check = [&](const auto& x) {
    auto expected = x, found = x;  // of the same shape; neither holds what the other does
    attend_test::poison_array(expected);
    CHECK(attend::self_attention(x, layer, cache, expected, work) == Status::ok);
    const int held = cache.length();
    CHECK(attend::cross_attention(x, layer, cache, found, work, options) == Status::ok);
    CHECK(cache.length() == held);
    CHECK(same_array(found, expected));
  };
  check(*random_floats<Vectors<prompt, width>>(5));
  for (int token = 0; token < 5; ++token) check(*random_floats<Vectors<1, width>>(std::uint64_t(6 + token)));
}

}  // namespace

TEST_CASE("a layer that does not append sees the tokens that another has put into the cache, as the last ones there") {
  const auto cache = std::make_unique<attend::KvCache<Shape>>();
  const auto work = std::make_unique<attend::LayerWorkspace<Shape, prompt>>();
  check_without_append(*cache, *work, attend::causal());
}

TEST_CASE("so it does over a ring") {
  const auto ring = std::make_unique<attend::RingCache<Shape, Recent>>();
  const auto work = std::make_unique<attend::LayerWorkspace<Shape, prompt, attend::over_ring<Recent>, attend::with_options>>();
  check_without_append(*ring, *work, attend::causal());
}
