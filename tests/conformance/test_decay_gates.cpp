// Gates from projections: the same bits on every backend, beside the exact functions, and what shares a rate.
#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "../support/instance.h"
#include "activation_error.h"
#include "attend/layers/core_layer.h"
#include "attend/linear_attention.h"
#include "convolution_definition.h"
#include "hash.h"

using namespace attend_test;

namespace {

// ln(1 + e^x) as src/guide/arithmetic.md defines it.
float defined_softplus(float x) {
  const DefinedPower power = defined_power(std::min(std::fabs(x), 128.0f));
  const float p = power.whole < -125 ? 0.0f : std::ldexp(power.digits, power.whole);
  const float s = defined_quotient(p, p + 2.0f);
  const volatile float square = s * s;
  float sum = 0.24246344f;
  for (const float c : {0.21443719f, 0.28615218f, 0.3999895f, 0.66666675f, 2.0f}) sum = std::fma(sum, float(square), c);
  return std::fma(s, sum, std::max(x, 0.0f));
}
double exact_softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

std::vector<float> softplus_of(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  const float one = 1.0f;
  attend::core::decay_gates({x.data(), nullptr, &one, y.data(), 1, int(x.size()), 1, 0.0f});
  return y;
}

}  // namespace

TEST_CASE("softplus has the bits of its definition on every backend, and its error keeps to its bound") {
  std::vector<float> x, expected;
  for (int i = -2200000; i < 2200000; i += 7) x.push_back(float(i) / 20000.0f);
  for (int i = 0; i < 200000; ++i) x.push_back(std::ldexp(i % 2 == 0 ? 1.0f : -1.0f, -i % 60) * (1.0f + float(i) / 200000.0f));
  double worst = 0;
  for (const float a : x) {
    expected.push_back(defined_softplus(a));
    if (exact_softplus(a) > 0x1p-125) worst = std::max(worst, error_in_ulps(expected.back(), exact_softplus(a)));
  }
  MESSAGE("largest error of softplus: ", worst, " units in the last place");
  CHECK(worst < 3.7);
  CHECK(worst > 2.5);
  for_each_backend([&](const char* backend) {
    const std::vector<float> found = softplus_of(x);
    bool same = true;
    for (std::size_t i = 0; i < x.size(); ++i) same = same && promised_bits(found[i]) == promised_bits(expected[i]);
    CHECK_MESSAGE(same, std::string(backend));
    const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> special = softplus_of({infinity, -infinity, 3e38f, -3e38f, nan, 0.0f});
    CHECK(special[0] == infinity);
    CHECK(special[1] == 0.0f);
    CHECK(special[2] == 3e38f);
    CHECK(special[3] == 0.0f);
    CHECK(std::isnan(special[4]));
    CHECK(std::fabs(double(special[5]) - std::log(2.0)) < 1e-7);
  });
}

TEST_CASE("gates have the bits of their parts, with a rate for each number or for several, with and without bias") {
  constexpr int tokens = 5, heads = 3, dims = 21;
  float z[tokens][heads][dims], bias[heads][dims], rates[heads], each[heads * dims];
  float *const numbers = &z[0][0][0], *const biases = &bias[0][0];
  Random random(9);
  random.fill(numbers, tokens * heads * dims, 8.0f), random.fill(biases, heads * dims), random.fill(rates, heads, 3.0f);
  for (int i = 0; i < heads * dims; ++i) each[i] = rates[i / dims];
  for_each_backend([&](const char* backend) {
    INFO(std::string(backend));
    std::vector<float> bare, plain, scaled, defined, bounded;
    for (int i = 0; i < tokens * heads * dims; ++i) {
      const float rate = each[i % (heads * dims)];
      const volatile float sum = numbers[i] + biases[i % (heads * dims)], product = rate * sum;
      bare.push_back(defined_softplus(sum));
      defined.push_back(rate * defined_softplus(sum)), plain.push_back(rate * defined_softplus(numbers[i]));
      scaled.push_back(float(product));
    }
    bounded.resize(scaled.size());
    attend::core::activate<attend::Activation::sigmoid>(scaled.data(), nullptr, int(scaled.size()), bounded.data());
    for (float& g : bounded) g = -5.0f * g;
    float found[tokens][heads][dims];
    attend::decay_gate(z, rates, bias, found);
    CHECK(std::memcmp(found, defined.data(), sizeof found) == 0);
    attend::decay_gate(z, each, bias, found);
    CHECK(std::memcmp(found, defined.data(), sizeof found) == 0);
    attend::decay_gate(z, rates, attend::none, found);
    CHECK(std::memcmp(found, plain.data(), sizeof found) == 0);
    attend::bounded_gate(z, rates, bias, -5.0f, found);
    CHECK(std::memcmp(found, bounded.data(), sizeof found) == 0);
    const float factor[] = {1.0f};  // softplus itself
    attend::decay_gate(z, factor, bias, found);
    CHECK(std::memcmp(found, bare.data(), sizeof found) == 0);
    std::memcpy(found, z, sizeof z);
    attend::bounded_gate(found, each, bias, -5.0f, found);  // in place
    CHECK(std::memcmp(found, bounded.data(), sizeof found) == 0);
    float one[heads * dims];
    attend::decay_gate(*reinterpret_cast<float(*)[heads * dims]>(z[1]), rates, bias, one);
    CHECK(std::memcmp(one, defined.data() + heads * dims, sizeof one) == 0);
  });
}
