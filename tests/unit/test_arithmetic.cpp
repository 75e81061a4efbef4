// Each line of the arithmetic by itself, on the scalar and the AVX2 vocabulary.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "../support/tested.h"

#include "../conformance/definition.h"
#include "../support/random.h"

using namespace attend_test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float not_a_number = std::numeric_limits<float>::quiet_NaN();

float float_of(std::uint32_t bits) { return attend::bits_to<float>(bits); }
std::uint32_t bits_of(float f) { return attend::bits_to<std::uint32_t>(f); }
bool same(float a, float b) { return bits_of(a) == bits_of(b) || (std::isnan(a) && std::isnan(b)); }

// Of a score that is not above the running maximum.
float weight(float score, float max) {
  float scores[16] = {score}, lanes[16] = {}, output[1] = {};
  const float max_before = max;
  attend::row_softmax<attend::Scalar>(scores, 1, max, lanes, output, 1);
  CHECK(same(max, max_before));
  CHECK(same(lanes[0], scores[0]));
  return scores[0];
}

}  // namespace

TEST_CASE("the software fused multiply-add rounds once") {
  Random random(1);
  int wrong = 0;
  for (int i = 0; i < 3000000; ++i) {
    float a = float_of(random.bits()), b = float_of(random.bits()), c = float_of(random.bits());
    if (i % 3 == 1) {  // near cancellation: c close to -(a * b)
      c = -(a * b);
      c = float_of(bits_of(c) + std::uint32_t(random.between(-2, 2)));
    } else if (i % 3 == 2) {  // exponents close enough for ties and sticky bits
      a = float_of(0x3f800000u | (random.bits() & 0x7ff800u));
      b = float_of(0x3f800000u | (random.bits() & 0x7ff800u));
      c = std::ldexp(random.uniform(), random.between(-60, 30));
    }
    if (!same(attend::software_fma(a, b, c), std::fma(a, b, c))) ++wrong;
  }
  CHECK(wrong == 0);
  // A tie that a second rounding would break the wrong way: 1 + 2^-24 exactly between two floats, with 2^-60 below it.
  CHECK(attend::software_fma(0x1.000002p0f, 0x1.fffffep-25f, 1.0f) == std::fma(0x1.000002p0f, 0x1.fffffep-25f, 1.0f));
  const float specials[] = {
      0.0f,     -0.0f,     1.0f,        -1.0f, 0x1p-149f, -0x1p-149f, 0x1p-126f, 0x1.fffffep127f, -0x1.fffffep127f,
      infinity, -infinity, not_a_number};
  for (const float a : specials) {
    for (const float b : specials) {
      for (const float c : specials) CHECK(same(attend::software_fma(a, b, c), std::fma(a, b, c)));
    }
  }
}

TEST_CASE("where_equal tells numbers from smaller and larger ones and from NaN") {
  const float numbers[] = {-infinity, -1.0f, -0.0f, 0.0f, 0x1p-149f, 2.0f, infinity, not_a_number};
  for (const float a : numbers) {
    for (const float b : numbers)
      if (!std::isnan(b)) CHECK(attend::Scalar::where_equal(a, b, 3.0f, 4.0f) == (a == b ? 3.0f : 4.0f));
  }
}

TEST_CASE("scale * log2(e) is rounded once") {
  Random random(2);
  for (int i = 0; i < 200000; ++i) {
    const float scale = std::ldexp(random.uniform(), random.between(-20, 20));
    CHECK(attend::base2_scale(scale) == float(double(scale) * 1.4426950408889634073599));
  }
  CHECK(attend::base2_scale(0.0f) == 0.0f);
}

TEST_CASE("rounding up is exact") {
  Random random(3);
  for (int i = 0; i < 300000; ++i) {
    const float a = i % 2 == 0 ? float_of(random.bits()) : std::ldexp(random.uniform(), random.between(-3, 26));
    if (std::isnan(a)) continue;
    CHECK(attend::round_up(a) == std::ceil(a));
  }
  for (const float a : {infinity, -infinity, 0x1p23f, -0x1p23f, 0x1.fffffep22f, -0x1.fffffep22f}) {
    CHECK(attend::round_up(a) == std::ceil(a));
  }
}

TEST_CASE("a weight's digits do not depend on the maximum, and no weight is subnormal") {
  Random random(4);
  for (int i = 0; i < 200000; ++i) {
    const float score = random.uniform() * 40.0f;
    const float max = std::ceil(score) + float(random.between(0, 200));
    const float found = weight(score, max);
    CHECK(same(found, defined_weight(score, max)));
    CHECK((found == 0.0f || found >= std::numeric_limits<float>::min()));
    CHECK((found == 0.0f) == (std::nearbyint(score) - max < -125.0f));
    if (found > 0.0f) {
      const int moved = int(max - std::ceil(score));
      CHECK(found == std::ldexp(weight(score, std::ceil(score)), -moved));
    }
  }
}

TEST_CASE("weights of extreme scores") {
  CHECK(weight(-infinity, 3.0f) == 0.0f);
  for (const float max :
       {0x1.fffffep20f, -0x1p21f + 1.0f}) {  // the last maxima that are near, and scores that reach past the shift
    for (const float below : {0.0f, 0.5f, 1.25f, 124.5f, 125.5f, 126.0f, 1e3f, 1e7f, 1e30f, 3e38f}) {
      CHECK(weight(std::floor(max) - below, std::floor(max)) == defined_weight(std::floor(max) - below, std::floor(max)));
    }
  }
  // Farther maxima, even and odd, with ties among the scores as long as floats have halves.
  for (const float max :
       {0x1p21f, 0x1p21f + 1.0f, -0x1p21f, -0x1p21f - 1.0f, 0x1p22f - 1.0f, 0x1p22f, 0x1p22f + 1.0f, -0x1p22f - 3.0f,
        0x1p23f + 1.0f, -0x1p23f - 1.0f, 0x1p24f - 1.0f, 0x1p24f, -0x1p24f - 2.0f, 0x1p30f, -0x1p60f}) {
    for (float below = 0.0f; below < 130.0f; below += 0.25f)
      CHECK(weight(max - below, max) == defined_weight(max - below, max));
    for (const float score : {-3e38f, -1e30f, -infinity}) CHECK(weight(score, max) == 0.0f);
  }
  CHECK(weight(-infinity, attend::lowest_max) == 0.0f);
  CHECK(weight(1e30f, 1e30f) == 1.0f);
  CHECK(weight(-1e30f, -1e30f) == 1.0f);
  CHECK(weight(-1e30f, 1e30f) == 0.0f);
  CHECK(std::isnan(weight(not_a_number, 0.0f)));
  CHECK(std::isnan(weight(infinity, infinity)));
}

TEST_CASE("a rising maximum moves the sums by a power of two, exactly") {
  for (const float rise : {0.0f, 1.0f, 7.0f, 125.0f, 126.0f, 1000.0f}) {
    float scores[16] = {};
    for (float& score : scores) score = -infinity;
    scores[3] = rise;
    float max = 0.0f, lanes[16], output[5] = {1.0f, -3.0f, 0x1.234568p9f, 0.0f, 0x1p-3f};
    for (int i = 0; i < 16; ++i) lanes[i] = float(i) * 1.25f;
    attend::row_softmax<attend::Scalar>(scores, 16, max, lanes, output, 5);
    CHECK(max == rise);
    CHECK(scores[3] == 1.0f);
    const auto moved = [&](float a) { return rise > 125.0f ? 0.0f : std::ldexp(a, -int(rise)); };
    for (int i = 0; i < 16; ++i) CHECK(lanes[i] == moved(float(i) * 1.25f) + (i == 3 ? 1.0f : 0.0f));
    CHECK(output[2] == moved(0x1.234568p9f));
  }
}

TEST_CASE("a row that has seen only the lowest scores has no weight, and starts afresh with the first higher one") {
  float max = attend::lowest_max, lanes[16] = {}, output[2] = {};
  float lowest[16], higher[16];
  for (int i = 0; i < 16; ++i) {
    lowest[i] = i % 2 == 0 ? attend::lowest_max : -infinity;
    higher[i] = i == 5 ? -3.0f : attend::lowest_max;
  }
  attend::row_softmax<attend::Scalar>(lowest, 16, max, lanes, output, 2);
  CHECK(max == attend::lowest_max);
  for (const float w : lowest) CHECK(w == 0.0f);
  attend::row_softmax<attend::Scalar>(higher, 16, max, lanes, output, 2);
  CHECK(max == -3.0f);
  for (int i = 0; i < 16; ++i) CHECK(lanes[i] == (i == 5 ? 1.0f : 0.0f));
}

TEST_CASE("the denominator has 16 lanes, added in pairs i and i + 8, then + 4, + 2, + 1") {
  Random random(5);
  float lanes[16];
  random.fill(lanes, 16);
  const auto pair = [&](int i) { return lanes[i] + lanes[i + 8]; };
  const float expected = ((pair(0) + pair(4)) + (pair(2) + pair(6))) + ((pair(1) + pair(5)) + (pair(3) + pair(7)));
  CHECK(attend::add_lanes<attend::Scalar>(lanes) == expected);

  // Key j goes to lane j mod 16, ascending.
  std::vector<float> scores(48), weights(16, 0.0f);
  random.fill(scores.data(), 48, 10.0f);
  for (std::size_t j = 0; j < 41; ++j) weights[j % 16] += defined_weight(scores[j], 11.0f);
  float max = 11.0f, sums[16] = {}, output[1] = {};
  attend::row_softmax<attend::Scalar>(scores.data(), 41, max, sums, output, 1);
  for (std::size_t i = 0; i < 16; ++i) CHECK(sums[i] == weights[i]);
}
