// Scaled rotary positions: turns beside the published formulas in long double, ranges, and attention factors.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "attend/layers/rotary.h"

using attend::RotaryScaling;
using attend::Status;

namespace {

using Real = long double;
constexpr Real pi = 3.14159265358979323846264338327950288L;
constexpr int far_position = 1 << 20;
constexpr Real most_off = 1e-6L;  // radians at the far position: include/attend/layers/rotary.h says so

// A published configuration of attention heads; the factors of long_rope stand for its lists.
struct Model {
  const char* name;
  int rotary_dim;
  float base;
  RotaryScaling scaling;
};

std::vector<float> growing_factors(int pairs) {
  std::vector<float> factors;
  for (int i = 0; i < pairs; ++i) factors.push_back(0.9f + 0.37f * float(i) + 0.011f * float(i) * float(i));
  return factors;
}

// The formulas as models are published with them.
std::vector<Real> published(const Model& model) {
  const RotaryScaling& s = model.scaling;
  const int pairs = model.rotary_dim / 2;
  std::vector<Real> frequencies;
  const auto pair_of = [&](Real rotations) {
    return model.rotary_dim * std::log(s.original_positions / (rotations * 2 * pi)) / (2 * std::log(Real(model.base)));
  };
  Real low = pair_of(s.fast), high = pair_of(s.slow);
  if (!s.fractions) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, Real(0)), high = std::min(high, Real(model.rotary_dim - 1));
  if (low == high) high += 0.001L;
  for (int i = 0; i < pairs; ++i) {
    const Real plain = std::pow(Real(model.base), -Real(i) / pairs);
    const Real rotations = s.original_positions * plain / (2 * pi);
    const auto between = [&](Real slow_part) { return slow_part * plain / s.factor + (1 - slow_part) * plain; };
    switch (s.kind) {
      case attend::core::RotaryKind::linear:
        frequencies.push_back(plain / s.factor);
        break;
      case attend::core::RotaryKind::llama3:
        frequencies.push_back(between(1 - std::clamp((rotations - s.slow) / (Real(s.fast) - s.slow), Real(0), Real(1))));
        break;
      case attend::core::RotaryKind::yarn:
        frequencies.push_back(between(std::clamp((i - low) / (high - low), Real(0), Real(1))));
        break;
      case attend::core::RotaryKind::long_rope:
        frequencies.push_back(plain / s.factors[i]);
        break;
      case attend::core::RotaryKind::proportional:
        frequencies.push_back(i < s.turning ? plain : 0);
        break;
    }
  }
  return frequencies;
}

std::vector<std::uint64_t> turns_of(const Model& model) {
  std::vector<std::uint64_t> turns(std::size_t(model.rotary_dim / 2));
  REQUIRE(attend::core::is_rotary_scaling(model.scaling, model.rotary_dim / 2));
  attend::core::rotary_turns(model.base, 1.0f, model.rotary_dim / 2, turns.data());
  attend::core::scale_turns(model.scaling, model.base, model.rotary_dim / 2, turns.data());
  return turns;
}

// How far the angle at the far position is off, in radians, whole turns left out.
Real worst_angle(const std::vector<std::uint64_t>& turns, const std::vector<Real>& frequencies) {
  Real worst = 0;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const Real angle = Real(turns[i] * std::uint64_t(far_position)) * 0x1p-64L;  // of a turn
    const Real off = angle - frequencies[i] * far_position / (2 * pi);
    worst = std::max(worst, std::fabs(off - std::round(off)) * 2 * pi);
  }
  return worst;
}

float attention_factor(const RotaryScaling& scaling) {
  std::uint64_t turns[2];
  attend::core::rotary_turns(10000.0f, 1.0f, 2, turns);
  return attend::core::scale_turns(scaling, 10000.0f, 2, turns);
}

}  // namespace

TEST_CASE("errors of scaled rotary positions: angles are within 1e-6 radians of the formulas at position 1048576") {
  if (sizeof(Real) == sizeof(double)) return;  // too coarse to tell
  const std::vector<float> factors = growing_factors(48);
  RotaryScaling long_rope = RotaryScaling::linear(32.0f);
  long_rope.kind = attend::core::RotaryKind::long_rope, long_rope.original_positions = 4096, long_rope.turning = 48;
  long_rope.factors = factors.data();
  const Model models[] = {
      {"Llama 3.1", 128, 500000.0f, RotaryScaling::llama3(8.0f, 8192)},
      {"Llama 3.2", 64, 500000.0f, RotaryScaling::llama3(32.0f, 8192)},
      {"Qwen 3", 128, 1000000.0f, RotaryScaling::yarn(4.0f, 32768)},
      {"gpt-oss", 64, 150000.0f, RotaryScaling::yarn(32.0f, 4096).with_fractions()},
      {"DeepSeek V3", 64, 10000.0f, RotaryScaling::yarn(40.0f, 4096)},
      {"SmolLM3", 128, 5000000.0f, RotaryScaling::yarn(2.0f, 65536)},
      {"Gemma 3", 256, 1000000.0f, RotaryScaling::linear(8.0f)},
      {"Gemma 4", 512, 1000000.0f, RotaryScaling::proportional(64)},
      {"Phi-4-mini", 96, 10000.0f, long_rope},
      {"most positions", 128, 500000.0f, RotaryScaling::llama3(8.0f, 1 << 24)},
      {"few positions", 64, 10000.0f, RotaryScaling::yarn(2.0f, 64)},
      {"a ramp of one pair", 4, 10000.0f, RotaryScaling::yarn(3.0f, 100, 1.5f, 1.25f)},
      {"slow pairs only", 64, 10000.0f, RotaryScaling::llama3(3.5f, 2)},
  };
  Real worst = 0;
  for (const Model& model : models) {
    CAPTURE(model.name);
    const Real off = worst_angle(turns_of(model), published(model));
    CHECK(off <= most_off);
    worst = std::max(worst, off);
  }
  MESSAGE("worst angle: ", double(worst), " radians");
}

TEST_CASE("errors of rotary frequencies: angles are within 1e-6 radians of those of the list") {
  if (sizeof(Real) == sizeof(double)) return;
  const double frequencies[] = {1.0, 3.999999, 2.0, 0.5, 1e-3, 0.0, 1e-9, 0.7853981633974483, 1e-30, 5e-324, 1.25e-6};
  std::vector<std::uint64_t> turns(std::size(frequencies));
  REQUIRE(attend::core::turns_of_angles(frequencies, int(std::size(frequencies)), turns.data()));
  CHECK(worst_angle(turns, std::vector<Real>(std::begin(frequencies), std::end(frequencies))) <= most_off);
}

TEST_CASE("rotary scaling: attention factors are the published ones, or the caller's") {
  const auto rounded = [](Real number) { return float(number); };
  CHECK(attention_factor(RotaryScaling::yarn(4.0f, 32768)) == rounded(1 + std::log(Real(4)) / 10));
  CHECK(attention_factor(RotaryScaling::yarn(32.0f, 4096)) == rounded(1 + std::log(Real(32)) / 10));
  CHECK(attention_factor(RotaryScaling::yarn(1.0f, 4096)) == 1.0f);
  CHECK(attention_factor(RotaryScaling::yarn(4.0f, 32768).with_attention_factor(1.5f)) == 1.5f);
  const float factors[2] = {1.0f, 2.0f};
  CHECK(attention_factor(RotaryScaling::long_rope(factors, 32.0f, 4096)) ==
        rounded(std::sqrt(1 + std::log(Real(32)) / std::log(Real(4096)))));
  CHECK(attention_factor(RotaryScaling::long_rope(factors, 1.0f, 4096)) == 1.0f);
  CHECK(attention_factor(RotaryScaling::long_rope(factors, 7.826f, 2)) == rounded(std::sqrt(1 + std::log2(Real(7.826f)))));
  CHECK(attention_factor(RotaryScaling::long_rope(factors, 65536.0f, 2)) == rounded(std::sqrt(Real(17))));
  CHECK(attention_factor(RotaryScaling::llama3(8.0f, 8192)) == 1.0f);
  CHECK(attention_factor(RotaryScaling::linear(8.0f)) == 1.0f);
  CHECK(attention_factor(RotaryScaling::proportional(1)) == 1.0f);
}

TEST_CASE("rotary scaling: what turns as without scaling keeps its bits, and a linear scaling is that of init") {
  constexpr int dim = 64;
  attend::Rotary<dim> plain, scaled;
  float x[3][1][dim], y[3][1][dim];
  const auto same_as = [&](float base, float factor, const RotaryScaling& scaling) {
    REQUIRE(plain.init(base, factor) == Status::ok);
    REQUIRE(scaled.init(base, scaling) == Status::ok);
    for (int i = 0; i < 3 * dim; ++i) reinterpret_cast<float*>(&x)[i] = reinterpret_cast<float*>(&y)[i] = float(i % 7) - 3.0f;
    CHECK(plain.rotate<attend::RotaryPairs::halves>(x, 777) == Status::ok);
    CHECK(scaled.rotate<attend::RotaryPairs::halves>(y, 777) == Status::ok);
    return std::memcmp(x, y, sizeof x) == 0;
  };
  CHECK(same_as(10000.0f, 2.5f, RotaryScaling::linear(2.5f)));
  CHECK(same_as(10000.0f, 1.0f, RotaryScaling::llama3(1.0f, 8192)));
  CHECK(same_as(10000.0f, 1.0f, RotaryScaling::proportional(dim / 2)));
  CHECK(!same_as(10000.0f, 1.0f, RotaryScaling::proportional(dim / 2 - 1)));
  CHECK(!same_as(10000.0f, 1.0f, RotaryScaling::yarn(1.0f, 4096).with_attention_factor(0.5f)));
}

TEST_CASE("rotary scaling: tables hold what is computed, times the attention factor") {
  constexpr int dim = 12, tokens = 5;
  attend::Rotary<dim> computed;
  static attend::RotaryTable<dim, 40> table;
  const RotaryScaling scaling = RotaryScaling::yarn(4.0f, 128);
  float x[tokens][2][dim], y[tokens][2][dim];
  CHECK(table.rotate<attend::RotaryPairs::neighbours>(x, 0) == Status::bad_rotary);
  REQUIRE(computed.init(10000.0f, scaling) == Status::ok);
  REQUIRE(table.init(10000.0f, scaling) == Status::ok);
  for (int i = 0; i < tokens * 2 * dim; ++i)
    reinterpret_cast<float*>(&x)[i] = reinterpret_cast<float*>(&y)[i] = float(i % 11) - 5.0f;
  CHECK(computed.rotate<attend::RotaryPairs::neighbours>(x, 35) == Status::ok);
  CHECK(table.rotate<attend::RotaryPairs::neighbours>(y, 35) == Status::ok);
  CHECK(std::memcmp(x, y, sizeof x) == 0);
  CHECK(computed.rotate<attend::RotaryPairs::neighbours>(x, 0) == Status::ok);
}

TEST_CASE("rotary scaling: numbers out of range are refused, and angles stay as they were") {
  attend::Rotary<4> rotary;
  REQUIRE(rotary.init(500.0f) == Status::ok);
  float before[1][1][4] = {{{1, 2, 3, 4}}}, after[1][1][4] = {{{1, 2, 3, 4}}};
  REQUIRE(rotary.rotate<attend::RotaryPairs::halves>(before, 9) == Status::ok);
  const float short_list[1] = {1.0f}, wrong_list[2] = {1.0f, 0.0624f};
  const RotaryScaling wrong[] = {
      RotaryScaling::linear(0.5f),
      RotaryScaling::linear(NAN),
      RotaryScaling::llama3(8.0f, 1),
      RotaryScaling::llama3(8.0f, (1 << 24) + 1),
      RotaryScaling::llama3(8.0f, 8192, 4.0f, 4.0f),
      RotaryScaling::llama3(8.0f, 8192, 0.5f, 4.0f),
      RotaryScaling::yarn(65537.0f, 8192),
      RotaryScaling::yarn(4.0f, 8192, 1.0f, 32.0f),
      RotaryScaling::yarn(4.0f, 8192).with_attention_factor(-1.0f),
      RotaryScaling::long_rope(short_list, 4.0f, 8192),
      RotaryScaling::long_rope(wrong_list, 4.0f, 8192),
      RotaryScaling::proportional(0),
      RotaryScaling::proportional(3),
      RotaryScaling::linear(2.0f).with_fractions(),
  };
  for (const RotaryScaling& scaling : wrong) CHECK(rotary.init(500.0f, scaling) == Status::bad_rotary);
  CHECK(rotary.init(1.0f, RotaryScaling::linear(2.0f)) == Status::bad_rotary);
  for (const double first : {0.0, -1.0, 4.0, double(NAN)}) {
    const double frequencies[2] = {first, 0.5};
    CHECK(rotary.init(frequencies) == Status::bad_rotary);
  }
  const double good[2] = {1.0, 0.5}, second_wrong[2] = {1.0, -0.5};
  CHECK(rotary.init(second_wrong) == Status::bad_rotary);
  CHECK(rotary.init(good, 0.0f) == Status::bad_rotary);
  REQUIRE(rotary.rotate<attend::RotaryPairs::halves>(after, 9) == Status::ok);
  CHECK(std::memcmp(before, after, sizeof before) == 0);
  CHECK(rotary.init(good, 2.0f) == Status::ok);
}
