// Ranges and documents in layers of the typed surface: the bits of masks.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "../support/typed_objects.h"
#include "attend/layers.h"

using namespace attend_test;
using attend::Status;

namespace {

// A layer over 40 tokens, by itself and by hand.
struct Small {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 8, max_tokens = 40;
};

}  // namespace

TEST_CASE("ranges: a layer takes them, in one call and block by block, and documents where no step needs positions") {
  static attend::Weights<16, 16> wq, wo;
  static attend::Weights<8, 16> wk, wv;
  Random random(3);
  for (auto* weights : {&wq, &wo}) random.fill(&weights->data[0][0], 16 * 16, 0.5f);
  for (auto* weights : {&wk, &wv}) random.fill(&weights->data[0][0], 8 * 16, 0.5f);
  static attend::Vectors<40, 16> x, y, expected;
  random.fill(&x.data[0][0], 40 * 16, 1.0f);
  const auto layer = attend::multi_head<Small>(wq, wk, wv, wo);
  static attend::LayerWorkspace<Small, 40, 40, attend::with_options> work;
  static attend::LayerWorkspace<Small, 40, attend::over_cache, attend::with_options> over_cache;
  static attend::Ranges<40> ranges;
  static attend::Mask<40, 1, 40> mask;
  for (int i = 0; i < 40; ++i) {
    ranges.first[i] = i / 11 * 11, ranges.end[i] = i % 7 == 0 ? i + 1 : i / 11 * 11 + 11;
    for (int j = 0; j < 40; ++j) mask[i][0][j] = j >= ranges.first[i] && j < ranges.end[i];
  }
  attend::ScoreOptions<Small> masked;
  masked.mask = mask;
  attend::RangedOptions<Small> ranged;
  ranged.ranges = ranges;
  static attend::Rotary<8> rotary;
  REQUIRE(rotary.init() == Status::ok);
  const auto turning = attend::multi_head<Small>(wq, wk, wv, wo, attend::rotated<attend::RotaryPairs::halves>(rotary));
  const auto check_layer = [&](const auto& any) {
    REQUIRE(attend::self_attention(x, any, expected, work, masked) == Status::ok);
    REQUIRE(attend::self_attention(x, any, y, work, ranged) == Status::ok);
    CHECK(same_array(y, expected));
  };
  check_layer(turning), check_layer(layer);
  static attend::KvCache<Small> cache;
  masked.causal = ranged.causal = false;
  random.fill(&y.data[0][0], 40 * 16, 1.0f);
  REQUIRE(attend::self_attention(x, layer, cache, y, over_cache, ranged) == Status::ok);
  CHECK(same_array(y, expected));

  attend::Documents<4> documents;
  attend::RangedOptions<Small> packed = attend::causal();
  packed.documents = documents;
  for (const int length : {13, 20, 7}) REQUIRE(documents.add(length) == Status::ok);
  for (int i = 0; i < 40; ++i) {
    const int first = i < 13 ? 0 : i < 33 ? 13 : 33;
    for (int j = 0; j < 40; ++j) mask[i][0][j] = j >= first && j <= i;
  }
  masked = {};
  masked.mask = mask;
  REQUIRE(attend::self_attention(x, layer, expected, work, masked) == Status::ok);
  REQUIRE(attend::self_attention(x, layer, y, work, packed) == Status::ok);
  // Chains of 64 keys begin with each document: the last bit may be another.
  for (int i = 0; i < 40; ++i) {
    for (int c = 0; c < 16; ++c) CHECK(y[i][c] == doctest::Approx(double(expected[i][c])).epsilon(1e-5));
  }
  // Steps that take no notice of positions are the same in documents: here with outputs of half of what they were.
  static float gain[8];
  static attend::Weights<16, 16> gate;  // zeros, whose sigmoid is 0.5
  std::fill(gain, gain + 8, 1.0f);
  const auto normed = attend::multi_head<Small>(wq, wk, wv, wo, attend::head_norm(gain, gain));
  const auto halved = attend::multi_head<Small>(wq, wk, wv, wo, attend::head_norm(gain, gain), attend::gated(gate));
  REQUIRE(attend::self_attention(x, normed, expected, work, packed) == Status::ok);
  REQUIRE(attend::self_attention(x, halved, y, work, packed) == Status::ok);
  for (int i = 0; i < 40; ++i) {
    for (int c = 0; c < 16; ++c) CHECK(y[i][c] * 2 == expected[i][c]);
  }
  CHECK(attend::self_attention(x, turning, y, work, packed) == Status::bad_documents);
}
