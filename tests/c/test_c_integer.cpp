// Integer attention from C has the core's bits, whatever a problem asks for and in however many parts.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "../support/rounds.h"
#include "attend/shape.h"
#include "c_integer_world.h"

using namespace attend_test;

TEST_CASE("c integer: problems of all kinds have the core's bits, and nothing but the output is written") {
  Random random(41);
  int of_floats = 0, of_heads = 0;
  for (int round = 0; round < rounds(600); ++round) {
    IntegerWorld world(random);
    const std::vector<std::int8_t> expected = world.expected();
    const attend_status status = run_integers(world.p);
    INFO(round, " ", explain(status));
    REQUIRE(status == ATTEND_OK);
    REQUIRE(world.output == expected);
    of_floats += world.p.output_format == ATTEND_FLOAT32, of_heads += world.p.head_constants != nullptr;
  }
  CHECK(of_floats > rounds(600) / 10);
  CHECK(of_heads > rounds(600) / 10);
}

TEST_CASE("c integer: parts have the bits of the whole") {
  Random random(42);
  for (int round = 0; round < rounds(200); ++round) {
    IntegerWorld world(random);
    const std::vector<std::int8_t> expected = world.expected();
    const int parts = random.between(2, 9);
    for (int part = parts - 1; part >= 0; --part) REQUIRE(run_integers(world.p, part, parts) == ATTEND_OK);
    REQUIRE(world.output == expected);
  }
}

TEST_CASE("c integer: keys that a wide window shows from a position far before them are too many") {
  const std::vector<std::int8_t> query(1), keys(70000), values(70000);
  std::int8_t output = 0;
  const attend_integer_constants constants = prepared(integer_scales(), 1);
  attend_problem p;
  REQUIRE(attend_integer_problem_init(&p, sizeof p) == ATTEND_OK);
  p.query_heads = p.kv_heads = p.head_dim = p.value_dim = p.queries = 1, p.keys = 70000;
  p.query.data = query.data(), p.key.data = keys.data(), p.value.data = values.data(), p.output.data = &output;
  p.constants = &constants, p.offset = -ATTEND_MAX_TOKENS;
  for (const std::ptrdiff_t beyond : {65535, 65536}) {  // the query at -ATTEND_MAX_TOKENS sees so many keys
    p.window_right = ATTEND_MAX_TOKENS + beyond - 1;
    CHECK(attend_check(&p) == (beyond == 65535 ? int(ATTEND_OK) : wrong(ATTEND_TOO_LARGE, ATTEND_ARG_KEYS)));
  }
}

TEST_CASE("c integer: the bytes of a masked key or value change nothing") {
  Random random(43);
  int masked = 0;
  for (int round = 0; round < rounds(300); ++round) {
    IntegerWorld world(random);
    REQUIRE(run_integers(world.p) == ATTEND_OK);
    const std::vector<std::int8_t> expected = world.output;
    for (int row = 0; row < world.p.batch; ++row) {
      for (int j = 0; j < world.p.keys; ++j) {
        if (world.any_sees(row, j)) continue;
        ++masked;
        const IntegerWorld::Steps &k = world.key_steps, &v = world.value_steps;
        for (int head = 0; head < world.p.kv_heads; ++head) {
          std::memset(world.key.data() + row * k.batch + j * k.token + head * k.head, 0x80, std::size_t(world.p.head_dim));
          std::memset(world.value.data() + row * v.batch + j * v.token + head * v.head, 0x7f, std::size_t(world.p.value_dim));
          const std::ptrdiff_t at = (row * world.p.kv_heads + head) * world.p.keys + j;
          if (!world.key_scales.empty()) world.key_scales[std::size_t(at)] = 0xffff;
          if (!world.value_scales.empty()) world.value_scales[std::size_t(at)] = 0xffff;
        }
      }
    }
    REQUIRE(run_integers(world.p) == ATTEND_OK);
    REQUIRE(world.output == expected);
  }
  CHECK(masked > rounds(300));
}

TEST_CASE("c integer: constants are those that the scales stand for") {
  attend_integer_scales scales = integer_scales();
  scales.query_zero_point = 3, scales.key_zero_point = -4, scales.value_zero_point = 5, scales.output_zero_point = -6;
  for (const int head_dim : {1, 64, 96, 4096}) {
    const attend_integer_constants constants = prepared(scales, head_dim);
    const double scale = attend::default_scale(head_dim);
    const attend::core::ScoreScale score =
        attend::core::score_scale(1.4426950408889634 * scale * scales.query_scale * scales.key_scale);
    const attend::core::OutputScale output = attend::core::output_scale(scales.value_scale / scales.output_scale, 5, -6);
    CHECK(constants.score_factor == score.factor);
    CHECK(constants.score_right == score.right);
    CHECK(constants.score_left == score.left);
    CHECK(constants.score_end == score.end);
    CHECK(constants.output_factor == output.factor);
    CHECK(constants.output_shift == output.shift);
    CHECK(constants.query_zero_point == 3);
    CHECK(constants.key_zero_point == -4);
    CHECK(constants.value_zero_point == 5);
    CHECK(constants.output_zero_point == -6);
    CHECK(constants.output_scale == float(scales.output_scale));
    scales.scale = scale;
    const attend_integer_constants written_out = prepared(scales, head_dim);
    CHECK(std::memcmp(&constants, &written_out, sizeof constants) == 0);
    scales.scale = double(ATTEND_DEFAULT_SCALE);
  }
}

TEST_CASE("c integer: calls take all constants that can be prepared") {
  Random random(44);
  IntegerWorld world(random);
  attend_integer_constants constants;
  world.p.head_constants = nullptr, world.p.constants = &constants, world.p.output_format = ATTEND_INT16;
  world.p.key_scales = world.p.value_scales = {nullptr, ATTEND_DENSE, ATTEND_DENSE};
  world.p.query_format = world.p.key_format = world.p.value_format = ATTEND_INT8;  // which they are anyway
  std::vector<std::int16_t> output(world.output.size() * 2);
  world.p.output.data = output.data();
  for (int left = -160; left <= 0; ++left) {
    for (int right = -10; right <= 18; ++right) {
      attend_integer_scales scales = integer_scales();
      scales.scale = 1, scales.query_scale = 1, scales.key_scale = std::ldexp(0.69, left < -100 ? -100 : left);
      if (left < -100) scales.query_scale = std::ldexp(1.0, left + 100);
      scales.value_scale = std::ldexp(right == 18 ? 1.0 : 1.0 + random.between(0, 4095) / 4096.0, right);
      scales.output_scale = 1, scales.output_zero_point = random.between(-32768, 32767);
      REQUIRE(attend_integer_prepare(&scales, 1, &constants) == ATTEND_OK);
      REQUIRE(attend_check(&world.p) == ATTEND_OK);
    }
  }
}
