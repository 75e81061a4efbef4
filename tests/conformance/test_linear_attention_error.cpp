// Linear attention beside its error bound.
#include <doctest/doctest.h>

#include "../support/rounds.h"
#include "linear_attention_world.h"

using namespace attend_test;
TEST_CASE("errors of gates: the definition is within 1.37 u of e^g") {
  double worst = 0;
  for (std::uint32_t step = 0; step < 3000000; ++step) {
    const float g = -16.635532f * float(step) / 3000000.0f, gate = defined_gate(g);
    worst = std::max(worst, std::fabs(double(gate) / std::exp(double(g)) - 1) * 0x1p24);
  }
  MESSAGE("largest error of a gate: ", worst, " u");
  CHECK(worst < 1.37);
  CHECK(worst > 1.2);
}

TEST_CASE("errors of linear attention keep to their bound") {
  double worst = 0.0, stationary = 0.0;
  for (const int round : each_round(60)) {
    Random random(std::uint64_t(round) + 500);
    const auto& kind = linear_kinds[round % 6];
    const LinearWorld w({kind.rule, kind.decay, 1, 1, 1, random.between(1, 70), 3, 120}, std::uint64_t(round));
    const LinearTokenFloats t = token_floats(w.c);
    for (int i = 0; i < w.c.tokens; ++i) make_unit(w.d.key + std::size_t(i) * t.key, t.key);
    LinearWorld run(w.c, std::uint64_t(round));
    std::copy_n(w.d.key, t.key * std::size_t(w.c.tokens), run.d.key);
    run_in_calls(run, 0, w.c.tokens, 40);
    ExactLinearHead exact(w.c.head_dim, w.c.value_dim);
    for (int i = 0; i < w.c.tokens; ++i) {
      const std::size_t n = std::size_t(i);
      exact.take(w.d.key + n * t.key, w.d.value + n * t.value, t.gates == 0 ? nullptr : w.d.gates + n * t.gates,
                 w.c.decay == Decay::per_key ? 1 : 0, t.beta == 0 ? nullptr : w.d.beta + n * t.beta);
      for (int v = 0; v < w.c.value_dim; ++v) {
        const float* const query = w.d.query + n * t.query;
        const double off = std::fabs(double(run.d.output[n * t.output + std::size_t(v)]) - exact.read(query, 0.75f, v));
        worst = std::max(worst, off / std::max(exact.bound(query, 0.75f, v), 1e-40));
      }
    }
  }
  // A constant gate, key and value: where S no longer changes, each token rounds it in the same direction. These gates and
  // values are the worst of a search. And a gate that counts as 0 where nothing new comes.
  const struct { float gate, value; } constant[] = {{-0.00114754098f, 0.00115150097f}, {-0.000876900507f, 0.000877438812f}};
  for (const auto& each : constant) {
    LinearWorld w({LinearRule::gated, Decay::per_head, 1, 1, 1, 1, 1, 24000});
    std::fill_n(w.d.query, w.c.tokens, 1.0f), std::fill_n(w.d.key, w.c.tokens, 1.0f);
    std::fill_n(w.d.value, w.c.tokens, each.value), std::fill_n(w.d.gates, w.c.tokens, each.gate);
    w.d.value[w.c.tokens - 1] = 0.0f, w.d.gates[w.c.tokens - 1] = -17.0f;
    run_in_calls(w, 0, w.c.tokens, 4000);
    ExactLinearHead exact(1, 1);
    for (int i = 0; i < w.c.tokens; ++i) {
      exact.take(w.d.key + i, w.d.value + i, w.d.gates + i, 0, nullptr);
      const double off = std::fabs(double(w.d.output[i]) - exact.read(w.d.query, 0.75f, 0));
      stationary = std::max(stationary, off / exact.bound(w.d.query, 0.75f, 0));
    }
  }
  MESSAGE("largest error of linear attention: ", worst, " of its bound, where the state stands still ", stationary);
  CHECK(stationary < 1.0);
  CHECK(stationary > 0.5);
  CHECK(worst < 1.0);
  CHECK(worst > 0.01);  // or it was not measured
}
