// Searches for inputs whose errors in linear attention pass the bound of src/guide/arithmetic.md, and prints the largest part
// of it that each rule reached.
//
//   linear_search [SECONDS] [SEED]
//
// Tokens repeat after a period, so that few numbers make many roundings go the same way. A search begins with random ones, or
// with gates and values where the state stands still, then changes one after another and keeps what makes an error a larger
// part of its bound. It computes by the tests' definition, whose bits every backend has. Ends with status 1 where the bound is
// passed.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../../tests/conformance/linear_definition.h"
#include "../../../tests/support/random.h"

namespace {

using attend_test::Random;

struct Rule {
  const char* name;
  bool gated, by_key, delta;
};
constexpr Rule rules[] = {{"linear", false, false, false},      {"gated", true, false, false},
                          {"gated, by key", true, true, false}, {"delta", false, false, true},
                          {"gated delta", true, false, true},   {"gated delta, by key", true, true, true}};

struct Input {
  Rule rule;
  int keys, tokens, period;
  std::vector<float> query, key, value, gate, beta;

  Input(const Rule& of, Random& random) : rule(of) {
    keys = random.between(0, 2) == 0 ? 1 : random.between(1, 20);
    period = random.between(0, 1) == 0 ? 1 : random.between(1, 8);
    tokens = random.between(0, 3) == 0 ? random.between(200, 20000 / keys) : random.between(1, 200);
    const auto draw = [&](std::vector<float>& to, int count, float low, float high) {
      for (int i = 0; i < count; ++i) to.push_back(low + (high - low) * (random.uniform() * 0.5f + 0.5f));
    };
    const float least = random.between(0, 2) == 0 ? -1.0f : 0.5f, slow = std::ldexp(1.0f, -random.between(0, 12));
    draw(query, keys, least, 1.0f), draw(key, keys * period, least, 1.0f), draw(value, period, least, 1.0f);
    if (rule.gated) draw(gate, period * (rule.by_key ? keys : 1), -slow, -slow * 0.5f);
    if (rule.delta) draw(beta, period, 0.0f, 1.0f);
  }

  // The largest error after any token, as a part of its bound.
  double measure() const {
    attend_test::DefinedLinearHead head(keys, 1);
    attend_test::ExactLinearHead exact(keys, 1);
    double worst = 0.0;
    for (int i = 0; i < tokens; ++i) {
      const std::size_t n = std::size_t(i % period), at = n * std::size_t(keys);
      const float* const gates = rule.gated ? &gate[rule.by_key ? at : n] : nullptr;
      const float* const betas = rule.delta ? &beta[n] : nullptr;
      head.take(&key[at], &value[n], gates, rule.by_key ? 1 : 0, betas);
      exact.take(&key[at], &value[n], gates, rule.by_key ? 1 : 0, betas);
      if (tokens > 300 && i % 16 != 15) continue;
      float output;
      head.read(query.data(), 0.75f, &output);
      const double bound = exact.bound(query.data(), 0.75f, 0);
      if (bound > 1e-30) worst = std::max(worst, std::fabs(double(output) - exact.read(query.data(), 0.75f, 0)) / bound);
    }
    return worst;
  }

  // Whether the bound is one for these numbers: gates are at most 1, and 0 <= beta |k|^2 <= 2.
  bool is_covered() const {
    for (const float g : gate) {
      if (g > 0.0f) return false;
    }
    for (int n = 0; n < period; ++n) {
      double size = 0.0;
      for (int d = 0; d < keys; ++d) size += std::pow(double(key[std::size_t(n * keys + d)]), 2);
      if (rule.delta && !(beta[std::size_t(n)] >= 0.0f && double(beta[std::size_t(n)]) * size <= 2.0)) return false;
    }
    return true;
  }

  void change(Random& random) {
    std::vector<float>* const all[] = {&value, &key, &query, &gate, &beta};
    std::vector<float>* numbers;
    do numbers = all[random.between(0, 4)];
    while (numbers->empty());
    float& number = (*numbers)[std::size_t(random.between(0, int(numbers->size()) - 1))];
    const int digits = random.between(0, 24);
    if (random.between(0, 15) == 0) return void(number = -number);
    number *= 1.0f + random.uniform() * std::ldexp(1.0f, -digits);
    if (std::fabs(number) < 0x1p-40f || std::fabs(number) > 0x1p20f) number = number < 0 ? -1.0f : 1.0f;
  }
};

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 5.0;
  Random random(count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1);
  const auto begin = std::chrono::steady_clock::now();
  double worst[std::size(rules)] = {};
  long tried = 0;
  for (std::size_t r = 0; std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds; ++r) {
    const Rule& rule = rules[r % std::size(rules)];
    Input input(rule, random);
    while (!input.is_covered()) input = Input(rule, random);
    double part = input.measure();
    for (int idle = 0; idle < 100; ++idle, ++tried) {
      Input next = input;
      next.change(random);
      const double now = next.is_covered() ? next.measure() : 0.0;
      if (now > part) part = now, input = next, idle = 0;
    }
    if (part <= worst[r % std::size(rules)]) continue;
    worst[r % std::size(rules)] = part;
    std::printf("%s: %.3f of the bound, %d key dimensions, %d tokens, a period of %d\n", rule.name, part, input.keys,
                input.tokens, input.period);
    std::fflush(stdout);
  }
  std::printf("%ld inputs; %.3f of the bound at most\n", tried, *std::max_element(worst, std::end(worst)));
  return *std::max_element(worst, std::end(worst)) > 1.0;
}
