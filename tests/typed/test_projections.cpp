// The typed surface of projections: weights of every format and layout, several in one call, parts, and what is refused.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "../support/instance.h"
#include "attend/layers/linear.h"

using namespace attend_test;
using attend::Status;

namespace {

struct Heads {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 6, value_dim = 5;
};

constexpr attend::Weights<3, 2> small_weights = {{{1, 2}, {3, 4}, {5, 6}}};
constexpr attend::PackedWeights<3, 2> packed_by_compiler = attend::pack(small_weights);
static_assert(packed_by_compiler.data[0][0][1] == 3 && packed_by_compiler.data[0][1][2] == 6, "input by input");
static_assert(packed_by_compiler.data[0][1][3] == 0 && packed_by_compiler.data[0][0][15] == 0, "zeros behind the last output");

constexpr attend::Weights<2, 32, attend::int4> four_bits = {
    {{{{0x00, 0x38}, {0x9a}}}, {{{0x00, 0xc0}, {0xf8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0f}}}}};  // scales 0.5, -2
constexpr attend::PackedWeights<2, 32, attend::int4> packed_four_bits = attend::pack(four_bits);
static_assert(sizeof four_bits == 2 * 18 && sizeof packed_four_bits >= 16 * 18, "18 bytes for 32 inputs");
static_assert(packed_four_bits.data[0][0].scales[0] == 0x3800 && packed_four_bits.data[0][0].scales[1] == 0xc000, "");
static_assert(packed_four_bits.data[0][0].numbers[0][0][0] == 0x9a && packed_four_bits.data[0][0].numbers[3][1][3] == 0x0f, "");
static_assert(packed_four_bits.data[0][0].scales[2] == 0 && packed_four_bits.data[0][0].numbers[0][2][0] == 0, "");

template <class Array>
void fill(Array& array, std::uint64_t seed) {
  Random(seed).fill(reinterpret_cast<float*>(&array), sizeof array / sizeof(float));
}

template <class A, class B>
bool same(const A& a, const B& b) {
  static_assert(sizeof a == sizeof b, "");
  return std::memcmp(&a, &b, sizeof a) == 0;
}

constexpr int tokens = 5, inputs = 20;

}  // namespace

TEST_CASE("projections: numbers that are known") {
  const attend::Vectors<2, 2> x = {{{1, 2}, {3, 4}}};
  attend::Vectors<2, 3> y;
  const float bias[3] = {0.5f, -1.0f, 0.25f};
  REQUIRE(attend::project(x, small_weights, y) == Status::ok);
  CHECK(y[0][0] == 5.0f);
  CHECK(y[0][2] == 17.0f);
  CHECK(y[1][1] == 25.0f);
  REQUIRE(attend::project(x, packed_by_compiler, bias, y) == Status::ok);
  CHECK(y[0][0] == 5.5f);
  CHECK(y[1][2] == 39.25f);
  const attend::Weights<2, 2, attend::int8> bytes = {{{127, -128}, {2, 0}}, {0.5f, 4.0f}};
  attend::Vectors<2, 2> z;
  REQUIRE(attend::project(x, bytes, z) == Status::ok);
  CHECK(z[0][0] == 0.5f * (127 - 256));
  CHECK(z[1][1] == 24.0f);
  const attend::Weights<1, 2, attend::float16> halves = {{{0x3c00, 0xc100}}};    // 1, -2.5
  const attend::Weights<1, 2, attend::bfloat16> bfloats = {{{0x3f80, 0xc020}}};  // the same
  attend::Vectors<2, 1> h, b;
  REQUIRE(attend::project(x, halves, h) == Status::ok);
  REQUIRE(attend::project(x, attend::pack(bfloats), b) == Status::ok);
  CHECK(h[1][0] == -7.0f);
  CHECK(b[1][0] == -7.0f);
}

TEST_CASE("projections: weights of 4 bits that are known") {
  // Of an input at a time: inputs 0 and 16 are in byte 0, 15 and 31 in byte 15.
  const struct {
    int input;
    float first, second;
  } expected[] = {{0, 1.0f, 0.0f}, {16, 0.5f, -14.0f}, {15, -4.0f, -14.0f}, {31, -4.0f, 16.0f}};
  for_each_backend([&](const char*) {
    for (const auto& one : expected) {
      attend::Vectors<1, 32> x{};
      x.data[0][one.input] = 1.0f;
      attend::Vectors<1, 2> rows, packed;
      REQUIRE(attend::project(x, four_bits, rows) == Status::ok);
      REQUIRE(attend::project(x, packed_four_bits, packed) == Status::ok);
      CHECK(rows[0][0] == one.first);
      CHECK(rows[0][1] == one.second);
      CHECK(same(rows, packed));
    }
  });
}

TEST_CASE("projections: weights of floats become groups of 4 bits") {
  constexpr float infinity = __builtin_inff();
  attend::Weights<1, 6 * 32> weights{};
  float* const group = weights.data[0];
  // The scale is -8 / -8: steps of 1, 8 of them down and 7 up, halves up.
  const float first[] = {-8.0f, 8.0f, 7.5f, 6.5f, 6.4990234f, -7.5f, -7.50001f, 0.5f, -0.5f, 0.25f};
  std::memcpy(group, first, sizeof first);
  group[16] = 3.0f, group[31] = -3.0f;
  // The largest magnitude is above 0, and its scale below: of two the first.
  group[32] = 0.75f, group[33] = -0.75f;
  group[64 + 5] = infinity;
  group[96 + 1] = 0x1p-124f;
  group[128] = 524159.0f;
  attend::Weights<1, 6 * 32, attend::int4> found;
  REQUIRE(attend::convert(weights, found) == Status::ok);
  const auto number = [&](int g, int i) { return found.data[0][g].numbers[i % 16] >> (i < 16 ? 0 : 4) & 15; };
  const auto scale = [&](int g) { return found.data[0][g].scale[0] | found.data[0][g].scale[1] << 8; };
  const int expected[] = {0, 15, 15, 15, 14, 1, 0, 9, 8, 8};
  for (int i = 0; i < 10; ++i) CHECK_MESSAGE(number(0, i) == expected[i], i);
  CHECK(number(0, 16) == 11);
  CHECK(number(0, 31) == 5);
  CHECK(scale(0) == 0x3c00);
  CHECK(scale(1) == 0xae00);  // -0.09375
  CHECK(number(1, 0) == 0);
  CHECK(number(1, 1) == 15);
  CHECK(scale(2) == 0x7e00);
  CHECK(scale(3) == 0x8000);
  CHECK(number(3, 1) == 8);
  CHECK(scale(5) == 0x8000);
  CHECK(scale(4) == 0xfbff);  // the largest of float16
  attend::Vectors<1, 6 * 32> x{};
  attend::Vectors<1, 1> y;
  REQUIRE(attend::project(x, found, y) == Status::ok);
  CHECK(y[0][0] != y[0][0]);
}

TEST_CASE("projections: groups of 4 bits are within 0.1255 of the largest magnitude of the floats that they were made from") {
  auto weights = std::make_unique<attend::Weights<16, 64 * 32>>();
  auto found = std::make_unique<attend::Weights<16, 64 * 32, attend::int4>>();
  Random random(4);
  double worst = 0.0;
  for (auto& row : weights->data) {
    for (int i = 0; i < 64 * 32; ++i) row[i] = std::ldexp(random.uniform(), i / 32 % 32 - 13);
  }
  REQUIRE(attend::convert(*weights, *found) == Status::ok);
  for (int o = 0; o < 16; ++o) {
    for (int i = 0; i < 64 * 32; ++i) {
      const attend::core::Int4Group& group = found->data[o][i / 32];
      const int scale = group.scale[0] | group.scale[1] << 8, digits = scale & 0x3ff, exponent = scale >> 10 & 31;
      double step = std::ldexp(exponent == 0 ? digits : digits + 1024, (exponent == 0 ? 1 : exponent) - 25);
      if (scale & 0x8000) step = -step;
      const int number = group.numbers[i % 16] >> (i % 32 < 16 ? 0 : 4) & 15;
      double largest = 0.0;
      for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) largest = std::max(largest, std::fabs(double(weights->data[o][k])));
      worst = std::max(worst, std::fabs((number - 8) * step - double(weights->data[o][i])) / largest);
    }
  }
  MESSAGE("largest error ", worst);
  CHECK(worst < 0.1255);
  CHECK(worst > 0.06);
}

TEST_CASE("projections: weights of floats become halves, bfloats and bytes") {
  constexpr float infinity = __builtin_inff();
  const attend::Weights<4, 3> weights = {
      {{1.0f, -2.0f, 0x1.002p0f}, {0.0f, -0.0f, 0.0f}, {3.0f, infinity, 0x1p-30f}, {127.0f, -0.5f, 1.5f}}};
  attend::Weights<4, 3, attend::float16> halves;
  REQUIRE(attend::convert(weights, halves) == Status::ok);
  const uint16_t expected_halves[4][3] = {
      {0x3c00, 0xc000, 0x3c00}, {0, 0x8000, 0}, {0x4200, 0x7c00, 0}, {0x57f0, 0xb800, 0x3e00}};
  CHECK(std::memcmp(halves.data, expected_halves, sizeof expected_halves) == 0);
  attend::Weights<4, 3, attend::bfloat16> bfloats;
  REQUIRE(attend::convert(weights, bfloats) == Status::ok);
  const uint16_t expected_bfloats[4][3] = {
      {0x3f80, 0xc000, 0x3f80}, {0, 0x8000, 0}, {0x4040, 0x7f80, 0x3080}, {0x42fe, 0xbf00, 0x3fc0}};
  CHECK(std::memcmp(bfloats.data, expected_bfloats, sizeof expected_bfloats) == 0);
  attend::Weights<4, 3, attend::int8> bytes;
  REQUIRE(attend::convert(weights, bytes) == Status::ok);
  const int8_t expected_bytes[4][3] = {
      {64, -127, 64}, {0, 0, 0}, {0, 0, 0}, {127, 0, 2}};  // 63.5 and 63.53; -0.5 and 1.5 to even
  CHECK(std::memcmp(bytes.data, expected_bytes, sizeof expected_bytes) == 0);
  CHECK(bytes.scales[0] == 2.0f * (1.0f / 127.0f));
  CHECK(bytes.scales[1] == 0.0f);
  CHECK(bytes.scales[2] != bytes.scales[2]);
  CHECK(bytes.scales[3] == 127.0f * (1.0f / 127.0f));
}

TEST_CASE("projections: several in one call, with and without work memory, in parts, straight into heads") {
  for_each_backend([](const char*) {
    attend::Vectors<tokens, inputs> x;
    attend::Weights<24, inputs> to_query;
    attend::Weights<12, inputs> to_key;
    attend::Weights<10, inputs> to_value;
    float bias[10];
    fill(x, 1), fill(to_query, 2), fill(to_key, 3), fill(to_value, 4), fill(bias, 5);
    attend::PackedWeights<12, inputs> packed_key;
    attend::pack(to_key, packed_key);
    attend::Query<Heads, tokens> query;
    attend::Key<Heads, tokens> key;
    attend::Value<Heads, tokens> value;
    REQUIRE(attend::project(x, attend::into(to_query, query), attend::into(to_key, key), attend::into(to_value, bias, value)) ==
            Status::ok);
    for (int h = 0; h < 4; ++h) {
      float chain = 0.0f, rest = 0.0f;
      for (int i = 0; i < 16; ++i) chain = std::fma(to_query[h * 6 + 3][i], x[2][i], chain);
      for (int i = 16; i < inputs; ++i) rest = std::fma(to_query[h * 6 + 3][i], x[2][i], rest);
      CHECK(query[2][h][3] == chain + rest);
    }
    attend::Vectors<tokens, 24> one_query;
    attend::Vectors<tokens, 12> one_key;
    attend::Vectors<tokens, 10> one_value;
    const auto work = std::make_unique<attend::Workspace<attend::Projections>>();
    REQUIRE(attend::project(x, to_query, one_query, *work) == Status::ok);
    REQUIRE(attend::project(x, packed_key, one_key) == Status::ok);
    for (int part = 0; part < 3; ++part) {
      REQUIRE(attend::project(x, to_value, bias, one_value, *work, attend::Part{part, 3}) == Status::ok);
    }
    CHECK(same(query, one_query));
    CHECK(same(key, one_key));
    CHECK(same(value, one_value));
  });
}

TEST_CASE("projections: some of an array's tokens have the bits of all, and the rows behind them stay as they are") {
  for_each_backend([](const char*) {
    attend::Vectors<tokens, inputs> x;
    attend::Weights<24, inputs> rows;
    attend::Weights<24, inputs, attend::int8> bytes;
    float bias[24];
    fill(x, 1), fill(rows, 2), fill(bias, 3);
    REQUIRE(attend::convert(rows, bytes) == Status::ok);
    const attend::PackedWeights<24, inputs> packed = attend::pack(rows);
    const auto work = std::make_unique<attend::Workspace<attend::Projections>>();
    attend::Vectors<tokens, 24> all, all_of_bytes;
    REQUIRE(attend::project(x, rows, bias, all) == Status::ok);
    REQUIRE(attend::project(x, bytes, all_of_bytes) == Status::ok);
    attend::Vectors<tokens, 24> guard, y, z;
    fill(guard, 4);
    for (int count = 0; count <= tokens; ++count) {
      CAPTURE(count);
      const auto has_first = [&](const attend::Vectors<tokens, 24>& found, const attend::Vectors<tokens, 24>& expected) {
        for (int t = 0; t < tokens; ++t) CHECK(same(found[t], t < count ? expected[t] : guard[t]));
      };
      y = guard;
      CHECK(attend::project(x, rows, bias, y, count) == Status::ok);
      has_first(y, all);
      y = guard;
      CHECK(attend::project(x, packed, bias, y, *work, count) == Status::ok);
      has_first(y, all);
      y = z = guard;
      for (int part = 0; part < 3; ++part) {
        CHECK(attend::project(x, attend::into(packed, bias, y), attend::into(bytes, z), *work, count, attend::Part{part, 3}) ==
              Status::ok);
      }
      has_first(y, all);
      has_first(z, all_of_bytes);
    }
    for (const int count : {-1, tokens + 1, -2147483647 - 1, 2147483647}) {
      y = z = guard;
      CHECK(attend::project(x, rows, y, count) == Status::bad_count);
      CHECK(attend::project(x, attend::into(rows, y), attend::into(bytes, z), *work, count, attend::Part{0, 2}) ==
            Status::bad_count);
      CHECK(same(y, guard));
      CHECK(same(z, guard));
    }
    float one[24];
    std::memcpy(one, guard[0], sizeof one);
    CHECK(attend::project(x[0], packed, bias, one, 0) == Status::ok);
    CHECK(same(one, guard[0]));
    CHECK(attend::project(x[0], packed, bias, one, 2) == Status::bad_count);
    CHECK(same(one, guard[0]));
    CHECK(attend::project(x[0], packed, bias, one, 1) == Status::ok);
    CHECK(same(one, all[0]));
  });
}

TEST_CASE("projections: what is out of range is refused and changes nothing") {
  attend::Weights<inputs, inputs> weights;
  attend::Vectors<tokens, inputs> x, y, before;
  fill(weights, 1), fill(x, 2), fill(y, 3);
  before = y;
  for (const attend::Part part : {attend::Part{-1, 2}, attend::Part{2, 2}, attend::Part{0, 0}, attend::Part{0, 65536}}) {
    CHECK(attend::project(x, weights, y, part) == Status::bad_part);
  }
  CHECK(same(y, before));
  const attend::Vectors<tokens, inputs> kept = x;
  CHECK(attend::project(x, weights, x) == Status::bad_output);
  CHECK(attend::project(x, attend::into(weights, y), attend::into(weights, x)) == Status::bad_output);
  CHECK(attend::project(x, attend::into(weights, y), attend::into(weights, y)) == Status::bad_output);
  CHECK(same(x, kept));
  CHECK(same(y, before));
  CHECK(std::strstr(attend::status_text(Status::bad_output), "projection") != nullptr);
}
