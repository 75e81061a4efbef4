// Calls in whatever floating-point environment their caller is in: right values, and constants of integers. The digests of
// everything in every environment: tests/conformance/test_digests.cpp.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "../support/float_environment.h"
#include "../support/instance.h"
#include "attend/layers.h"
#include "attend/c/integer.h"

using namespace attend_test;

namespace {

struct One {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 1, value_dim = 1;
};

// The weight of the first of two keys, whose values are 1 and 0.
float weight(float q, float first, float second, float scale) {
  attend::Query<One, 1> query;
  attend::Key<One, 2> key;
  attend::Value<One, 2> value;
  attend::Output<One, 1> output;
  query[0][0][0] = q;
  key[0][0][0] = first, key[1][0][0] = second;
  value[0][0][0] = 1.0f, value[1][0][0] = 0.0f;
  static attend::Workspace<One, 1, 2> work;
  attend::Options options;
  options.scale = scale;
  CHECK(attend::attention(query, key, value, output, work, options) == attend::Status::ok);
  return output[0][0][0];
}

template <class Work>
void in_every_environment(const Work& work) {
  for (const FloatEnvironment& environment : float_environments) {
    for_each_backend([&](const char* backend) {
      INFO(std::string(backend), ", ", std::string(environment.name));
      work(environment);
    });
  }
}

// Numbers of which the compiler knows nothing.
double seen_late(double number) {
  volatile double at = number;
  return at;
}

struct Talk {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 24, value_dim = 8;
};
using Quantisation = attend::Quantisation<attend::Integer<Talk>>;

}  // namespace

TEST_CASE("a score of 0.69 has its weight whatever the rounding mode is") {
  in_every_environment([](const FloatEnvironment& environment) {
    float found = 0;
    CHECK(in_environment(environment, [&] { found = weight(1.0f, 0.0f, -0.6924540f, 1.0f); }));
    CHECK(found == 0.6665126f);
  });
}

TEST_CASE("a subnormal query counts where the caller flushes such numbers") {
  if (always_flushes) return;
  in_every_environment([](const FloatEnvironment& environment) {
    float found = 0;
    // A score of 0.1. The scaled query is 1e-29.
    CHECK(in_environment(environment, [&] { found = weight(1e-39f, 1e28f, 0.0f, 1e10f); }));
    CHECK(found == 0.5249792f);
  });
}

TEST_CASE("a signalling NaN is a NaN as any other, and does not trap") {
  in_every_environment([](const FloatEnvironment& environment) {
    float found = 0;
    CHECK(in_environment(environment, [&] { found = weight(1.0f, std::numeric_limits<float>::signaling_NaN(), 0.0f, 1.0f); }));
    CHECK(std::isnan(found));
  });
}

TEST_CASE("constants of integers and default scales do not depend on the caller's rounding mode") {
  Random random(1);
  const auto scale = [&random] { return std::ldexp(1.0 + double(random.bits()) * 0x1p-32, random.between(-9, -5)); };
  for (int i = 0; i < 500; ++i) {
    attend_integer_scales scales;
    REQUIRE(attend_integer_scales_init(&scales, sizeof scales) == ATTEND_OK);
    scales.query_scale = scale(), scales.key_scale = scale(), scales.value_scale = scale(), scales.output_scale = scale();
    if (i % 2 == 0) scales.scale = scale();
    const int head_dim = random.between(1, 4096);
    attend_integer_constants expected, found;
    std::memset(&expected, 0, sizeof expected), std::memset(&found, 0, sizeof found);
    REQUIRE(attend_integer_prepare(&scales, head_dim, &expected) == ATTEND_OK);
    const auto quantisation = [&] {
      return Quantisation(scales.query_scale, scales.key_scale, scales.value_scale, scales.output_scale, seen_late(0.11));
    };
    const auto projection = [&] {
      return attend::ProjectionScales<1>(scales.query_scale, scales.key_scale, scales.value_scale);
    };
    const Quantisation typed = quantisation();
    const attend::ProjectionScales<1> projected = projection();
    for (const FloatEnvironment& environment : float_environments) {
      INFO(std::string(environment.name));
      Quantisation other = typed;
      attend::ProjectionScales<1> other_projected = projected;
      float default_scale = 0;
      CHECK(in_environment(environment, [&] {
        attend_integer_prepare(&scales, head_dim, &found);
        other = quantisation();
        other_projected = projection();
        default_scale = attend::default_scale(head_dim);
      }));
      CHECK(std::memcmp(&found, &expected, sizeof found) == 0);
      CHECK(std::memcmp(&other, &typed, sizeof typed) == 0);
      CHECK(std::memcmp(&other_projected, &projected, sizeof projected) == 0);
      CHECK(default_scale == float(1.0 / std::sqrt(double(head_dim))));
    }
  }
}

TEST_CASE("every bit of the caller's control register is there after a call") {
  if (environment_bits == 0) return;
  in_every_environment([](const FloatEnvironment& environment) {
    uint32_t after = 0;
    in_environment(environment, [&] {
      weight(1.0f, 0.0f, -0.6924540f, 1.0f);
      after = float_register();
    });
    CHECK((after & environment_bits) == environment.bits);
  });
}
