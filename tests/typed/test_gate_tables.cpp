// Tables of gates and beta: beside float64, the same in every rounding mode, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "../support/random.h"
#include "attend/linear_attention.h"

using attend::GateTable;
using attend::Status;

TEST_CASE("tables of gates and beta are at most 0.501 steps from float64") {
  attend_test::Random random(1);
  double worst = 0, lowest = 1, highest = 0;
  for (int round = 0; round < 400; ++round) {
    const double scale = std::exp2(-3 - 9.0 * (random.uniform() + 1) / 2), bias = random.uniform() * (round % 8 == 0 ? 64 : 6);
    const double rate = -32 * std::pow((random.uniform() + 1) / 2, 4);
    const GateTable gates(rate, bias, scale);
    const GateTable beta = GateTable::sigmoid(scale, bias);
    CHECK((gates.status() == Status::ok && beta.status() == Status::ok));
    for (int z = -128; z < 128; ++z) {
      const double x = z * scale + bias, softplus = std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
      const double gate = 32768 * std::exp(rate * softplus), sigmoid = 32768 / (1 + std::exp(-x));
      worst = std::max({worst, std::fabs(gates[z] - gate), std::fabs(beta[z] - sigmoid)});
      lowest = std::min(lowest, gate / 32768), highest = std::max(highest, gate / 32768);
    }
  }
  MESSAGE("largest error of a table: ", worst, " steps");
  CHECK((worst <= 0.501 && worst > 0.49 && lowest < 1e-5 && highest > 0.9999));
}

TEST_CASE("tables that are made while a program runs have the bits of constants, in every rounding mode") {
  static constexpr GateTable constant(-1.7, 0.3, 0.037);
  static constexpr GateTable constant_beta = GateTable::sigmoid(0.037);
  static_assert(constant[-128] > constant[127] && constant_beta[0] == 16384, "");
  const volatile double rate = -1.7, bias = 0.3, scale = 0.037;
  for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const GateTable gates(rate, bias, scale);
    const GateTable beta = GateTable::sigmoid(scale);
    std::fesetround(FE_TONEAREST);
    CHECK(std::memcmp(&gates, &constant, sizeof gates) == 0);
    CHECK(std::memcmp(&beta, &constant_beta, sizeof beta) == 0);
  }
}

TEST_CASE("look_up takes a table for all heads, or one for each") {
  static constexpr GateTable tables[] = {{-1.5, 0.2, 0.05}, {-0.3, -1.0, 0.05}};
  static constexpr GateTable beta = GateTable::sigmoid(0.04);
  const std::int8_t z[3][2][2] = {{{-128, 127}, {0, 1}}, {{5, 6}, {7, 8}}, {{-1, -2}, {-3, -4}}};
  std::uint16_t gates[3][2][2], all[3][4];
  attend::look_up(z, tables, gates);
  attend::look_up(z, beta, all);
  for (int t = 0; t < 3; ++t) {
    for (int i = 0; i < 4; ++i) {
      CHECK(gates[t][i / 2][i % 2] == tables[i / 2][z[t][i / 2][i % 2]]);
      CHECK(all[t][i] == beta[z[t][i / 2][i % 2]]);
    }
  }
}

TEST_CASE("tables refuse what is out of range, and are 0 then") {
  const volatile double one = 1, nan = std::nan("");
  const auto refused = [](const auto& table) {
    bool is_zero = true;
    for (int z = -128; z < 128; ++z) is_zero = is_zero && table[z] == 0;
    return is_zero && table.status() == Status::bad_quantisation;
  };
  for (const double bad : {0.1 * one, -32.1 * one, double(nan)}) CHECK(refused(GateTable(bad, 0, 0.1)));
  for (const double bad : {64.1 * one, -64.1 * one, double(nan)}) {
    CHECK(refused(GateTable(-1, bad, 0.1)));
    CHECK(refused(GateTable::sigmoid(0.1, bad)));
  }
  for (const double bad : {0.0 * one, -0.1 * one, 0.126 * one, double(nan)}) {
    CHECK(refused(GateTable(-1, 0, bad)));
    CHECK(refused(GateTable::sigmoid(bad)));
  }
  CHECK((GateTable(0 * one, 64, 0.125)[127] == 32768 && GateTable(-32 * one, 64, 0.125)[127] == 0));
}
