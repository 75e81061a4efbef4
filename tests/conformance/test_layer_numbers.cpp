// What stands around attention against PyTorch's numbers: layer_numbers.py made them.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../support/instance.h"
#include "attend/layers.h"

using namespace attend_test;

namespace {

using attend::Activation, attend::RotaryPairs, attend::Status;

const std::vector<double> expected[] = {
#include "layer_numbers.inc"
};
// Which is which; activations come in the order of the enumeration.
constexpr int rms_norm = 0, layer_norm = 1, first_activation = 2, gated = 10, rotary = 11;

constexpr int tokens = 2, width = 12;
using Array = float[tokens][1][width];

// Multiples of 2^-10, as the script makes them.
void make_numbers(std::uint64_t seed, float* to, int count, float spread) {
  for (std::uint64_t state = seed; count > 0; --count) {
    state = (state * 1103515245u + 12345u) % 0x80000000u;
    *to++ = float(int(state / 2048 % 2049) - 1024) / 1024.0f * spread;
  }
}

void check(const char* backend, int which, const float* found, std::size_t count = tokens * width) {
  REQUIRE(expected[which].size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    const double wanted = expected[which][i], error = std::fabs(double(found[i]) - wanted);
    CHECK_MESSAGE(error <= 1e-6 * std::fabs(wanted) + 2e-6, std::string(backend), " numbers ", which, " at ", i, ": ",
                  found[i]);
  }
}

template <Activation activation>
void check_activation(const char* backend, const Array& x) {
  Array y;
  attend::activate<activation>(x, y);
  check(backend, first_activation + int(activation), y[0][0]);
}

template <RotaryPairs pairs, int rotary_dim>
void check_rotary(const char* backend, int which, const Array& x, float base, float scaling_factor, int position) {
  Array y;
  std::memcpy(y, x, sizeof y);
  attend::Rotary<rotary_dim> computed;
  REQUIRE(computed.init(base, scaling_factor) == Status::ok);
  REQUIRE(computed.template rotate<pairs>(y, position) == Status::ok);
  check(backend, which, y[0][0]);
}

}  // namespace

TEST_CASE("normalisation, activations and rotary positions give PyTorch's numbers") {
  for_each_backend([](const char* backend) {
    Array x, y;
    float weight[width], bias[width];
    make_numbers(1, x[0][0], tokens * width, 4.0f), make_numbers(2, weight, width, 2.0f), make_numbers(3, bias, width, 2.0f);
    REQUIRE(attend::rms_norm(x, weight, y, 0x1p-17f) == Status::ok);
    check(backend, rms_norm, y[0][0]);
    REQUIRE(attend::layer_norm(x, weight, bias, y, 0x1p-17f) == Status::ok);
    check(backend, layer_norm, y[0][0]);
    check_activation<Activation::relu>(backend, x);
    check_activation<Activation::silu>(backend, x);
    check_activation<Activation::gelu>(backend, x);
    check_activation<Activation::gelu_tanh>(backend, x);
    check_activation<Activation::sigmoid>(backend, x);
    check_activation<Activation::tanh>(backend, x);
    check_activation<Activation::exp>(backend, x);
    check_activation<Activation::erf>(backend, x);
    attend::activate<Activation::silu>(x[0], x[1], y[0]);
    check(backend, gated, y[0][0], width);
    check_rotary<RotaryPairs::neighbours, 12>(backend, rotary, x, 10000.0f, 1.0f, 3);
    check_rotary<RotaryPairs::halves, 12>(backend, rotary + 1, x, 10000.0f, 1.0f, 3);
    check_rotary<RotaryPairs::neighbours, 8>(backend, rotary + 2, x, 500000.0f, 4.0f, 1048575);
    check_rotary<RotaryPairs::halves, 8>(backend, rotary + 3, x, 500000.0f, 4.0f, 1048575);
  });
}
