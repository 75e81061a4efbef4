// Linear attention in integers: the bits of the definition for every rule, in any cut into calls and parts, and how far it is
// from float64.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "../support/rounds.h"
#include "linear_attention_world.h"
#include "linear_integer_definition.h"
#include "linear_integer_digest.h"

using namespace attend_test;
namespace {

// A case with its data, and what must come of it.
struct IntegerWorld {
  explicit IntegerWorld(const LinearAttentionCase& of, std::uint64_t seed = 1)
      : c{of}, memory(digest_bytes(c)), d(linear_integer_data(c, memory.data())) {
    draw_linear(c, d, seed);
  }
  IntegerWorld(const IntegerWorld&) = delete;
  void clear() {
    std::fill_n(d.state, state_integers(c), 0);
    std::fill_n(d.output, outputs(), std::int8_t(77));
  }
  std::size_t outputs() const { return std::size_t(c.tokens) * token_floats(c).output; }
  std::vector<std::int64_t> found() const {
    std::vector<std::int64_t> all(d.output, d.output + outputs());
    all.insert(all.end(), d.state, d.state + state_integers(c));
    return all;
  }
  // Tokens whose number is in `starts` begin with an empty state; the others than first … end - 1 are not there.
  std::vector<std::int64_t> defined(int first, int end, const std::vector<int>& starts = {}) const {
    const LinearTokenFloats t = token_floats(c);
    std::vector<std::int64_t> all(outputs(), 77), scaled;
    const int readers = std::max(c.query_heads / c.value_heads, 1), width = int(gate_width(c));
    for (int h = 0; h < c.value_heads; ++h) {
      for (int column = 0; column < c.value_dim; column += 16) {
        const int columns = std::min(16, c.value_dim - column);
        DefinedIntegerPanel panel(c.head_dim, columns);
        for (int i = first; i < end; ++i) {
          if (std::count(starts.begin(), starts.end(), i) > 0) panel = DefinedIntegerPanel(c.head_dim, columns);
          const std::size_t n = std::size_t(i);
          const std::uint16_t* const gates = t.gates == 0 ? nullptr : d.gates + n * t.gates + std::size_t(h * width);
          panel.take(d.key + n * t.key + h / (c.value_heads / c.kv_heads) * c.head_dim,
                     d.value + n * t.value + h * c.value_dim + column, gates, width > 1 ? 1 : 0,
                     t.beta == 0 ? nullptr : d.beta + n * t.beta + h, linear_digest_scale.retrieved,
                     linear_digest_scale.retrieved_shift);
          for (int r = 0; r < readers; ++r) {
            const int query = c.query_heads >= c.value_heads ? h * readers + r : h / (c.value_heads / c.query_heads);
            std::int8_t output[16];
            panel.read(d.query + n * t.query + query * c.head_dim, linear_digest_scale.output, linear_digest_scale.output_shift,
                       output);
            std::copy_n(output, columns, all.begin() + std::ptrdiff_t(n * t.output) + (h * readers + r) * c.value_dim + column);
          }
        }
        if (std::count(starts.begin(), starts.end(), end) > 0) panel = DefinedIntegerPanel(c.head_dim, columns);
        all.insert(all.end(), panel.state.begin(), panel.state.end());
        scaled.insert(scaled.end(), {panel.exponent, panel.bound, panel.tokens});
      }
    }
    all.insert(all.end(), scaled.begin(), scaled.end());
    return all;
  }
  void run(int first, int end, int tokens, int parts = 1) {
    for (int i = first; i < end; i += tokens) {
      for (int part = parts; part-- > 0;) run_linear_case(c, linear_call(c, d, i, std::min(i + tokens, end)), part, parts);
    }
  }

  LinearIntegerCase c;
  std::vector<char> memory;
  LinearIntegers d;
};

// The outputs in float64, in steps, of a case of one head.
std::vector<double> exact_outputs(const IntegerWorld& w) {
  const LinearIntegerCase& c = w.c;
  const LinearTokenFloats t = token_floats(c);
  std::vector<double> state(t.key * t.value), outputs;
  for (std::size_t i = 0; i < std::size_t(c.tokens); ++i) {
    for (std::size_t column = 0; column < t.value; ++column) {
      double r = 0, o = 0, u = w.d.value[i * t.value + column];
      for (std::size_t k = 0; k < t.key; ++k) {
        double& number = state[k * t.value + column];
        if (t.gates > 0) number *= w.d.gates[i * t.gates + (t.gates > 1 ? k : 0)] / 32768.0;
        r += w.d.key[i * t.key + k] * number;
      }
      if (t.beta > 0) u = w.d.beta[i] / 32768.0 * (u - r / (127.0 * 127.0));
      for (std::size_t k = 0; k < t.key; ++k) {
        state[k * t.value + column] += w.d.key[i * t.key + k] * u;
        o += w.d.query[i * t.query + k] * state[k * t.value + column];
      }
      outputs.push_back(o);
    }
  }
  return outputs;
}

}  // namespace

TEST_CASE("linear attention in integers of random shapes has the bits of its definition, in any cut into calls and parts") {
  for (const int round : each_round(120)) {
    Random random(std::uint64_t(round) + 1);
    const auto& kind = linear_kinds[round % 6];
    const int kv = random.between(1, 2), value = kv * random.between(1, 3);
    const int query = random.between(0, 1) == 0 ? value * random.between(1, 3) : kv;
    const int dims[] = {1, 5, 16, 17, 32, 40, 256}, columns[] = {1, 3, 7, 16, 17, 31, 33, 48};
    IntegerWorld w({kind.rule, kind.decay, query, kv, value, dims[random.between(0, 6)], columns[random.between(0, 7)],
                    random.between(1, 90)},
                   std::uint64_t(round));
    const int tokens = random.between(1, w.c.tokens), parts = random.between(1, 5);
    // Of any size: corrections and outputs that are too large, and exponents below 0.
    if (round % 3 == 0) std::fill_n(w.d.key, std::size_t(w.c.tokens) * token_floats(w.c).key, std::int8_t(-128));
    if (round % 3 == 0)
      std::fill_n(w.d.value, std::size_t(w.c.tokens) * token_floats(w.c).value, std::int8_t(round % 2 ? -128 : 127));
    // Gates above 1, which count as 1, and betas up to 2.
    for (std::size_t i = 0; round % 4 == 1 && i < std::size_t(w.c.tokens) * token_floats(w.c).gates; i += 3)
      w.d.gates[i] |= 0x8000;
    for (std::size_t i = 0; round % 4 == 1 && i < std::size_t(w.c.tokens) * token_floats(w.c).beta; ++i) w.d.beta[i] |= 0x8000;
    INFO("calls of ", tokens, ", parts ", parts);
    const std::vector<std::int64_t> defined = w.defined(0, w.c.tokens);
    w.clear(), w.run(0, w.c.tokens, tokens, parts);
    CHECK(w.found() == defined);
    std::fill_n(w.d.output, w.outputs(), std::int8_t(77));  // the state is as it should be
    attend::core::IntegerLinearAttention call = linear_call(w.c, w.d, 0, w.c.tokens);
    call.state = nullptr, call.work = w.d.work;
    run_linear_case(w.c, call);
    CHECK(w.found() == defined);
  }
}

TEST_CASE("linear attention in integers: documents have the bits of single runs, and tokens that do not exist change no bit") {
  for (const auto& kind : linear_kinds) {
    const int first = 6, end = 52;
    const std::int32_t boundaries[] = {0, 9, 9, 30, 31, end, end};
    IntegerWorld defined({kind.rule, kind.decay, 4, 2, 2, 20, 35, 60}), w(defined.c);
    const LinearTokenFloats t = token_floats(w.c);
    for (std::size_t i = 0; i < 60; ++i) {
      if (i >= std::size_t(first) && i < std::size_t(end)) continue;
      std::fill_n(w.d.key + i * t.key, t.key, std::int8_t(-128)),
          std::fill_n(w.d.value + i * t.value, t.value, std::int8_t(99));
    }
    for (const int documents : {5, 6}) {  // the last one is still empty
      w.clear();
      attend::core::IntegerLinearAttention call = linear_call(w.c, w.d, 0, end);
      call.first = first, call.boundaries = boundaries, call.documents = documents;
      run_linear_case(w.c, call);
      CHECK(w.found() ==
            defined.defined(first, end, documents == 5 ? std::vector<int>{9, 30, 31} : std::vector<int>{9, 30, 31, end}));
    }
  }
}

TEST_CASE("errors of linear attention in integers are at most 0.15 steps of an output beside its own rounding") {
  for (const auto& kind : linear_kinds) {
    for (const int dims : {16, 64, 128}) {
      IntegerWorld w({kind.rule, kind.decay, 1, 1, 1, dims, 16, 3000}, std::uint64_t(dims));
      const LinearTokenFloats t = token_floats(w.c);
      Random random(std::uint64_t(dims) + 5);
      for (std::size_t i = 0; i < 3000; ++i) {  // unit norm, without silence
        std::vector<double> key(t.key), query(t.key);
        double key_size = 0, query_size = 0;
        for (std::size_t k = 0; k < t.key; ++k) {
          key[k] = random.uniform() + random.uniform() + 0.3, query[k] = random.uniform() + random.uniform() + 0.3;
          key_size += key[k] * key[k], query_size += query[k] * query[k];
        }
        for (std::size_t k = 0; k < t.key; ++k) {
          w.d.key[i * t.key + k] = std::int8_t(std::lrint(key[k] / std::sqrt(key_size) * 127));
          w.d.query[i * t.query + k] = std::int8_t(std::lrint(query[k] / std::sqrt(query_size) * 127));
        }
        for (std::size_t n = 0; n < t.value; ++n) w.d.value[i * t.value + n] = std::int8_t(random.between(-100, 120));
        for (std::size_t n = 0; n < t.gates; ++n)
          w.d.gates[i * t.gates + n] = std::uint16_t(32768 - (random.bits() >> 20 >> random.between(0, 9)));
      }
      const std::vector<double> exact = exact_outputs(w);
      double largest = 0, most = 0;
      for (const double o : exact) largest = std::max(largest, std::fabs(o));
      const attend::core::LinearScale scale = attend::core::linear_scale(1.0 / 127, 127 / largest);
      w.clear();
      attend::core::IntegerLinearAttention call = linear_call(w.c, w.d, 0, w.c.tokens);
      call.scales = &scale;
      run_linear_case(w.c, call);
      for (std::size_t i = 0; i < exact.size(); ++i) most = std::max(most, std::fabs(w.d.output[i] - exact[i] * 127 / largest));
      CHECK_MESSAGE(most <= 0.65, int(kind.rule), " ", int(kind.decay), " ", dims, ": ", most);
      CHECK(most > 0.4);
    }
  }
}

TEST_CASE("linear attention in integers: a silence makes states exactly 0") {
  for (const auto& kind : linear_kinds) {
    if (!attend::core::has_gate(kind.rule)) continue;
    IntegerWorld w({kind.rule, kind.decay, 1, 1, 2, 18, 33, 300});
    const LinearTokenFloats t = token_floats(w.c);
    for (std::size_t i = 10; i < 300; ++i) {
      std::fill_n(w.d.key + i * t.key, t.key, std::int8_t(0)), std::fill_n(w.d.value + i * t.value, t.value, std::int8_t(0));
      std::fill_n(w.d.gates + i * t.gates, t.gates, std::uint16_t(29000));
    }
    const std::int32_t* const end = w.d.state + w.c.value_heads * w.c.head_dim * w.c.value_dim;
    const auto is_zero = [](std::int32_t x) { return x == 0; };
    w.clear(), w.run(0, 10, 10);
    CHECK_FALSE(std::all_of<const std::int32_t*>(w.d.state, end, is_zero));
    w.run(10, 300, 290);
    CHECK(std::all_of<const std::int32_t*>(w.d.state, end, is_zero));
  }
}

TEST_CASE("linear attention in integers: the largest sums and states that diverge have the bits of the definition") {
  // 256 products of -128 with the lowest number that is read.
  IntegerWorld largest({LinearRule::linear, Decay::per_head, 1, 1, 1, 256, 1, 9});
  std::fill_n(largest.d.query, 9 * 256, std::int8_t(-128));
  for (int t = 0; t < 9; ++t) {
    std::fill_n(largest.d.key + t * 256, 256, std::int8_t(t < 4 ? -128 : t == 4 ? 7 : 0));
    largest.d.value[t] = std::int8_t(t < 4 ? 127 : t == 4 ? -73 : 0);
  }
  largest.clear(), largest.run(0, 9, 9);
  CHECK(largest.found() == largest.defined(0, 9));
  CHECK(largest.d.output[8] > 0);
  // Keys that are longer than 1 let delta rules grow without end.
  for (const LinearRule rule : {LinearRule::delta, LinearRule::gated_delta}) {
    IntegerWorld w({rule, Decay::per_head, 1, 1, 1, 256, 3, 1000});
    Random random(7);
    for (std::size_t i = 0; i < 1000 * 256; ++i) w.d.key[i] = random.bits() % 2 == 0 ? std::int8_t(127) : std::int8_t(-127);
    std::fill_n(w.d.beta, 1000, std::uint16_t(32768)),
        std::fill_n(w.d.gates, token_floats(w.c).gates * 1000, std::uint16_t(32768));
    w.clear(), w.run(0, 20, 20);
    attend::core::LinearHead head{0, 0, 0, 1 + attend::core::integer_rule, 0, 1, 256, 3, {0, 0}};
    CHECK(attend::core::are_finite(head, w.d.state));
    w.run(20, 1000, 980);
    CHECK(w.found() == w.defined(0, 1000));
    CHECK_FALSE(attend::core::are_finite(head, w.d.state));
    std::vector<std::uint8_t> bytes(sizeof head + 4 * state_integers(w.c));
    std::vector<std::int32_t> loaded(state_integers(w.c));
    attend::core::save(head, w.d.state, bytes.data());
    CHECK(attend::core::load(head, bytes.data(), bytes.size(), loaded.data()) == attend::core::LinearLoaded::ok);
  }
}
