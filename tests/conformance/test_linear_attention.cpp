// Linear attention: the bits of the definition on every backend, for every rule, in any cut into calls and parts; and the
// error.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "../support/rounds.h"
#include "linear_attention_digest.h"
#include "linear_definition.h"

using namespace attend_test;

namespace {

constexpr struct {
  LinearRule rule;
  Decay decay;
} rules[] = {{LinearRule::linear, Decay::per_head},      {LinearRule::gated, Decay::per_head},
             {LinearRule::gated, Decay::per_key},        {LinearRule::delta, Decay::per_head},
             {LinearRule::gated_delta, Decay::per_head}, {LinearRule::gated_delta, Decay::per_key}};

// A case with its data, and what its definition makes of it: all outputs, then S[head][key][column].
struct World {
  explicit World(const LinearAttentionCase& of, std::uint64_t seed = 1)
      : c(of),
        memory(digest_bytes(of) / sizeof(float), std::numeric_limits<float>::quiet_NaN()),
        d(linear_data(of, memory.data())) {
    draw_linear(c, d, seed);
    clear();
  }
  World(const World&) = delete;
  void clear() { std::fill_n(d.state, state_floats(c), 0.0f); }
  void poison_outputs() { std::fill_n(d.output, outputs(), std::numeric_limits<float>::quiet_NaN()); }
  std::size_t outputs() const { return std::size_t(c.tokens) * token_floats(c).output; }

  // What was computed, with the state as the definition has it.
  std::vector<float> found() const {
    std::vector<float> all(d.output, d.output + outputs());
    const int panels = (c.value_dim + 15) / 16;
    for (int h = 0; h < c.value_heads; ++h) {
      for (int k = 0; k < c.head_dim; ++k) {
        for (int v = 0; v < c.value_dim; ++v) {
          const int width = std::min(16, c.value_dim - v / 16 * 16);
          all.push_back(d.state[(h * c.value_dim + v / 16 * 16) * c.head_dim + k * width + v % 16]);
        }
      }
    }
    const float* const decayed = d.state + c.value_heads * c.head_dim * c.value_dim;
    for (int i = 0; i < c.value_heads * panels; ++i) all.push_back(decayed[i]);
    return all;
  }

  // Tokens whose number is in `starts` begin with an empty state; the others than first … end - 1 are not there.
  std::vector<float> defined(int first, int end, const std::vector<int>& starts = {}) const {
    const LinearTokenFloats t = token_floats(c);
    std::vector<float> all(outputs(), std::numeric_limits<float>::quiet_NaN()), states, decayed;
    const int readers = std::max(c.query_heads / c.value_heads, 1), width = int(gate_width(c));
    for (int h = 0; h < c.value_heads; ++h) {
      DefinedLinearHead head(c.head_dim, c.value_dim);
      for (int i = first; i < end; ++i) {
        if (std::count(starts.begin(), starts.end(), i) > 0) head = DefinedLinearHead(c.head_dim, c.value_dim);
        const std::size_t n = std::size_t(i);
        const float* const gates = t.gates == 0 ? nullptr : d.gates + n * t.gates + std::size_t(h * width);
        head.take(d.key + n * t.key + h / (c.value_heads / c.kv_heads) * c.head_dim, d.value + n * t.value + h * c.value_dim,
                  gates, c.decay == Decay::per_key ? 1 : 0, t.beta == 0 ? nullptr : d.beta + n * t.beta + h);
        for (int r = 0; r < readers; ++r) {
          const int query = c.query_heads >= c.value_heads ? h * readers + r : h / (c.value_heads / c.query_heads);
          head.read(d.query + n * t.query + query * c.head_dim, 0.75f,
                    &all[n * t.output + std::size_t((h * readers + r) * c.value_dim)]);
        }
      }
      if (std::count(starts.begin(), starts.end(), end) > 0) head = DefinedLinearHead(c.head_dim, c.value_dim);
      states.insert(states.end(), head.state.begin(), head.state.end());
      decayed.insert(decayed.end(), std::size_t((c.value_dim + 15) / 16), head.decayed);
    }
    all.insert(all.end(), states.begin(), states.end());
    all.insert(all.end(), decayed.begin(), decayed.end());
    return all;
  }

  std::string text() const {
    return "rule " + std::to_string(int(c.rule)) + (c.decay == Decay::per_key ? " by key, " : ", ") +
           std::to_string(c.query_heads) + " " + std::to_string(c.kv_heads) + " " + std::to_string(c.value_heads) +
           " heads of " + std::to_string(c.head_dim) + " x " + std::to_string(c.value_dim) + ", " + std::to_string(c.tokens) +
           " tokens";
  }

  LinearAttentionCase c;
  std::vector<float> memory;
  LinearData d;
};

// All equal, where outputs that nobody wrote are NaN.
bool are_same(const std::vector<float>& a, const std::vector<float>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
  return same;
}

// The tokens first … end - 1 in calls of so many, and parts.
void run_in_calls(World& w, int first, int end, int tokens, int parts = 1) {
  for (int i = first; i < end; i += tokens) {
    for (int part = parts; part-- > 0;) run_linear_case(w.c, linear_call(w.c, w.d, i, std::min(i + tokens, end)), part, parts);
  }
}

// A key of norm 1, or a little less.
void make_unit(float* key, std::size_t count) {
  double size = 1e-30;
  for (std::size_t n = 0; n < count; ++n) size += double(key[n]) * double(key[n]);
  for (std::size_t n = 0; n < count; ++n) key[n] = float(double(key[n]) / std::sqrt(size) * 0.999999);
}

}  // namespace

TEST_CASE("linear attention of random shapes has the bits of its definition, in any cut into calls and parts") {
  for (const int round : each_round(120)) {
    Random random(std::uint64_t(round) + 1);
    const auto& kind = rules[round % 6];
    const int kv = random.between(1, 2), value = kv * random.between(1, 3);
    const int query = random.between(0, 1) == 0 ? value * random.between(1, 3) : kv;
    const int dims[] = {1, 5, 16, 17, 32, 40, 130}, columns[] = {1, 7, 15, 16, 17, 31, 32, 33, 48, 70};
    const World defined_by({kind.rule, kind.decay, query, kv, value, dims[random.between(0, 6)], columns[random.between(0, 9)],
                            random.between(1, 70)},
                           std::uint64_t(round));
    const std::vector<float> defined = defined_by.defined(0, defined_by.c.tokens);
    const int tokens = random.between(1, defined_by.c.tokens), parts = random.between(1, 7);
    for_each_backend([&](const char* backend) {
      World w(defined_by.c, std::uint64_t(round));
      INFO(std::string(backend), ": ", w.text(), ", calls of ", tokens, ", parts ", parts);
      w.poison_outputs();
      run_in_calls(w, 0, w.c.tokens, w.c.tokens);
      CHECK(are_same(w.found(), defined));
      w.clear(), w.poison_outputs();
      run_in_calls(w, 0, w.c.tokens, tokens, parts);
      CHECK(are_same(w.found(), defined));
      w.poison_outputs();  // the state is as it should be
      attend::core::LinearAttention call = linear_call(w.c, w.d, 0, w.c.tokens);
      call.state = nullptr, call.work = w.d.work;
      run_linear_case(w.c, call);
      CHECK(are_same(w.found(), defined));
    });
  }
}

TEST_CASE("linear attention with gates at the edges of their range has the bits of its definition") {
  const float least = -16.635532f, infinity = std::numeric_limits<float>::infinity();
  const float edges[] = {-0.0f, 0.5f, least, std::nextafter(least, 0.0f), std::nextafter(least, -20.0f), -infinity, 1e-30f};
  for (const auto& kind : rules) {
    if (!attend::core::has_gate(kind.rule)) continue;
    const auto draw = [&](World& w) {
      const std::size_t width = token_floats(w.c).gates;
      for (std::size_t i = 0; i < std::size_t(w.c.tokens) * width; ++i) {  // each edge in each lane, ordinary tokens between
        if (i / width % 3 == 0) w.d.gates[i] = edges[(i / width + i % width) % 7];
      }
    };
    World defined_by({kind.rule, kind.decay, 2, 2, 2, 19, 18, 50});
    draw(defined_by);
    const std::vector<float> defined = defined_by.defined(0, 50);
    CHECK(std::none_of(defined.begin(), defined.end(), [](float x) { return std::isnan(x); }));
    for_each_backend([&](const char* backend) {
      World w(defined_by.c);
      draw(w);
      run_in_calls(w, 0, 50, 21);
      CHECK_MESSAGE(are_same(w.found(), defined), std::string(backend), ": ", w.text());
    });
  }
}

TEST_CASE("linear attention whose factors no buffer holds has the bits of its definition") {
  for (const auto& kind : rules) {
    const World defined_by({kind.rule, kind.decay, 1, 1, 1, 4099, 17, 3});
    const std::vector<float> defined = defined_by.defined(0, 3);
    for_each_backend([&](const char* backend) {
      World w(defined_by.c);
      run_in_calls(w, 0, 3, 3);
      CHECK_MESSAGE(are_same(w.found(), defined), std::string(backend), ": ", w.text());
    });
  }
}

TEST_CASE("linear attention of drafts leaves the state, and what is appended then has the bits of prefill") {
  for (const auto& kind : rules) {
    const LinearAttentionCase c = {kind.rule, kind.decay, 2, 2, 4, 33, 40, 50};
    const std::vector<float> defined = World(c).defined(0, c.tokens);
    for_each_backend([&](const char* backend) {
      World w(c);
      INFO(std::string(backend), ": ", w.text());
      w.poison_outputs();
      for (int i = 0; i < c.tokens; i += 5) {
        const std::vector<float> before(w.d.state, w.d.state + state_floats(c));
        for (int part = 0; part < 3; ++part) {
          // Drafts: 8 tokens, of which the first 5 are right. What stands behind them must not matter.
          attend::core::LinearAttention call = linear_call(c, w.d, i, std::min(i + 8, c.tokens));
          call.from = i == 0 ? nullptr : w.d.state, call.state = nullptr, call.work = w.d.work;
          run_linear_case(c, call, part, 3);
        }
        CHECK(same_bits(before, std::vector<float>(w.d.state, w.d.state + state_floats(c))));
        attend::core::LinearAttention call = linear_call(c, w.d, i, i + 5);
        call.query.data = nullptr, call.output.data = nullptr;
        run_linear_case(c, call);
      }
      CHECK(are_same(w.found(), defined));
    });
  }
}

TEST_CASE("documents side by side have the bits of single runs, and tokens that do not exist change no bit") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& kind : rules) {
    const LinearAttentionCase c = {kind.rule, kind.decay, 4, 2, 2, 20, 35, 60};
    const LinearTokenFloats t = token_floats(c);
    const int first = 6, end = 52;
    const std::int32_t boundaries[] = {0, 9, 9, 30, 31, end};
    const std::vector<float> defined = World(c).defined(first, end, {9, 30, 31});
    for_each_backend([&](const char* backend) {
      World w(c);
      INFO(std::string(backend), ": ", w.text());
      w.poison_outputs();
      for (int i = 0; i < c.tokens; ++i) {
        if (i >= first && i < end) continue;
        const std::size_t n = std::size_t(i);
        std::fill_n(w.d.query + n * t.query, t.query, nan), std::fill_n(w.d.key + n * t.key, t.key, nan);
        std::fill_n(w.d.value + n * t.value, t.value, nan), std::fill_n(w.d.gates + n * t.gates, t.gates, nan);
        std::fill_n(w.d.beta + n * t.beta, t.beta, nan);
      }
      attend::core::LinearAttention call = linear_call(c, w.d, 0, end);
      call.first = first, call.boundaries = boundaries, call.documents = 5;
      run_linear_case(c, call);
      CHECK(are_same(w.found(), defined));
    });
  }
}

TEST_CASE("a document behind the last token leaves an empty state, whatever tokens the call has") {
  for (const auto& kind : rules) {
    const LinearAttentionCase c = {kind.rule, kind.decay, 1, 1, 2, 9, 20, 8};
    const struct {
      int first, count, documents;
      std::int32_t boundaries[4];
      bool clears;
    } calls[] = {{0, 8, 2, {0, 8, 8}, true},    {0, 0, 2, {0, 0, 0}, true}, {8, 8, 2, {0, 4, 8}, true},
                 {8, 8, 3, {0, 0, 4, 8}, true}, {0, 0, 1, {0, 0}, false},   {8, 8, 1, {0, 8}, false}};
    for_each_backend([&](const char* backend) {
      for (const auto& of : calls) {
        World w(c);
        INFO(std::string(backend), ": ", w.text(), ", from ", of.first, " to ", of.count, ", documents ", of.documents);
        run_in_calls(w, 0, 5, 5);
        const std::vector<float> before(w.d.state, w.d.state + state_floats(c)), empty(before.size());
        attend::core::LinearAttention call = linear_call(c, w.d, 0, of.count);
        call.first = of.first, call.boundaries = of.boundaries, call.documents = of.documents;
        for (int part = 3; part-- > 0;) run_linear_case(c, call, part, 3);
        CHECK(same_bits(std::vector<float>(w.d.state, w.d.state + state_floats(c)), of.clears ? empty : before));
      }
    });
  }
}

TEST_CASE("a silence makes states exactly 0, and NaN stays in its head") {
  for (const auto& kind : rules) {
    if (!attend::core::has_gate(kind.rule)) continue;
    const LinearAttentionCase c = {kind.rule, kind.decay, 1, 1, 2, 18, 33, 200};
    const LinearTokenFloats t = token_floats(c);
    for_each_backend([&](const char* backend) {
      World w(c);
      INFO(std::string(backend), ": ", w.text());
      for (int i = 10; i < c.tokens; ++i) {
        const std::size_t n = std::size_t(i);
        std::fill_n(w.d.key + n * t.key, t.key, 0.0f), std::fill_n(w.d.value + n * t.value, t.value, 0.0f);
        std::fill_n(w.d.gates + n * t.gates, t.gates, i % 2 == 0 ? -0.7f : -1.1f);
      }
      const float* const end = w.d.state + c.value_heads * c.head_dim * c.value_dim;
      bool subnormal = false, begun = false;
      for (int i = 0; i < c.tokens; ++i) {
        run_linear_case(c, linear_call(c, w.d, i, i + 1));
        begun = begun || std::any_of<const float*>(w.d.state, end, [](float x) { return x != 0.0f; });
        subnormal = subnormal ||
                    std::any_of<const float*>(w.d.state, end, [](float x) { return x != 0.0f && std::fabs(x) < 0x1p-126f; });
      }
      CHECK(begun);
      CHECK_FALSE(subnormal);
      CHECK(std::all_of<const float*>(w.d.state, end, [](float x) { return x == 0.0f; }));
      w.d.value[c.value_dim + 3] = std::numeric_limits<float>::quiet_NaN();  // of the second head
      w.clear();
      run_in_calls(w, 0, c.tokens, c.tokens);
      const auto is_nan = [](float x) { return std::isnan(x); };
      const float* const second = w.d.state + c.head_dim * c.value_dim;
      CHECK(std::none_of<const float*>(w.d.state, second, is_nan));
      CHECK(std::any_of(second, end, is_nan));
    });
  }
}

TEST_CASE("keys without values make states exactly 0, and no number stays subnormal for longer than 64 tokens") {
  for (const auto& kind : rules) {
    if (kind.rule == LinearRule::linear) continue;
    const auto draw = [](World& w) {
      const LinearTokenFloats t = token_floats(w.c);
      for (int i = 0; i < w.c.tokens; ++i) {
        const std::size_t n = std::size_t(i);
        make_unit(w.d.key + n * t.key, t.key);
        if (i >= 10) std::fill_n(w.d.value + n * t.value, t.value, 0.0f);
        std::fill_n(w.d.gates + n * t.gates, t.gates, w.c.rule == LinearRule::gated ? -0.1f : -0.001f);
      }
    };
    World defined_by({kind.rule, kind.decay, 1, 1, 2, 3, 18, 2000});
    draw(defined_by);
    std::vector<float> defined = defined_by.defined(0, defined_by.c.tokens);
    leave_out_small(defined.data(), defined.size());
    for_each_backend([&](const char* backend) {
      World w(defined_by.c);
      draw(w);
      INFO(std::string(backend), ": ", w.text());
      const std::size_t numbers = std::size_t(w.c.value_heads * w.c.head_dim * w.c.value_dim);
      std::vector<int> subnormal(numbers);
      int longest = 0, last = 0;
      for (int i = 0; i < w.c.tokens; ++i) {
        run_linear_case(w.c, linear_call(w.c, w.d, i, i + 1));
        for (std::size_t n = 0; n < numbers; ++n) {
          const float size = std::fabs(w.d.state[n]);
          if (size != 0.0f) last = i;
          longest = std::max(longest, subnormal[n] = size != 0.0f && size < 0x1p-126f ? subnormal[n] + 1 : 0);
        }
      }
      CHECK(longest <= 64);
      CHECK((attend::core::has_beta(w.c.rule) || longest == 0));  // gates alone make none
      CHECK(last > 100);
      CHECK(last < w.c.tokens - 1);
      std::vector<float> found = w.found();
      leave_out_small(found.data(), found.size());
      CHECK(are_same(found, defined));
    });
  }
}

TEST_CASE("gates so near 1 that their sum in floats would stand still let small numbers become 0") {
  for (const auto& kind : rules) {
    if (!attend::core::has_gate(kind.rule)) continue;
    for_each_backend([&](const char* backend) {
      World w({kind.rule, kind.decay, 1, 1, 1, 1, 1, 66});
      std::fill_n(w.d.key, 66, 0.0f), std::fill_n(w.d.gates, 66, -1e-9f);
      w.d.key[0] = 1.0f, w.d.value[0] = 0x1.01p-100f, w.d.gates[0] = 0.0f, w.d.gates[1] = -16.0f;
      if (attend::core::has_beta(kind.rule)) w.d.beta[0] = 1.0f;
      INFO(std::string(backend), ": ", w.text());
      run_in_calls(w, 0, 2, 2);
      CHECK(w.d.state[0] > 0.0f);
      run_in_calls(w, 2, 66, 64);
      CHECK(w.d.state[0] == 0.0f);
    });
  }
}

TEST_CASE("the gate that linear attention is defined with is within 1.37 u of e^g") {
  double worst = 0;
  for (std::uint32_t step = 0; step < 3000000; ++step) {
    const float g = -16.635532f * float(step) / 3000000.0f, gate = defined_gate(g);
    worst = std::max(worst, std::fabs(double(gate) / std::exp(double(g)) - 1) * 0x1p24);
  }
  MESSAGE("largest error of a gate: ", worst, " u");
  CHECK(worst < 1.37);
  CHECK(worst > 1.2);
}

TEST_CASE("linear attention keeps to its error bound") {
  double worst = 0.0, stationary = 0.0;
  for (const int round : each_round(60)) {
    Random random(std::uint64_t(round) + 500);
    const auto& kind = rules[round % 6];
    const World w({kind.rule, kind.decay, 1, 1, 1, random.between(1, 70), 3, 120}, std::uint64_t(round));
    const LinearTokenFloats t = token_floats(w.c);
    for (int i = 0; i < w.c.tokens; ++i) make_unit(w.d.key + std::size_t(i) * t.key, t.key);
    World run(w.c, std::uint64_t(round));
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
    World w({LinearRule::gated, Decay::per_head, 1, 1, 1, 1, 1, 24000});
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
