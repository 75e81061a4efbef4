// Linear attention: the bits of the definition on every backend, for every rule, in any cut into calls and parts.
#include <doctest/doctest.h>

#include "../support/instance.h"
#include "../support/rounds.h"
#include "linear_attention_world.h"

using namespace attend_test;
TEST_CASE("linear attention of random shapes has the bits of its definition, in any cut into calls and parts") {
  for (const int round : each_round(120)) {
    Random random(std::uint64_t(round) + 1);
    const auto& kind = linear_kinds[round % 6];
    const int kv = random.between(1, 2), value = kv * random.between(1, 3);
    const int query = random.between(0, 1) == 0 ? value * random.between(1, 3) : kv;
    const int dims[] = {1, 5, 16, 17, 32, 40, 130}, columns[] = {1, 7, 15, 16, 17, 31, 32, 33, 48, 70};
    const LinearWorld defined_by({kind.rule, kind.decay, query, kv, value, dims[random.between(0, 6)],
                                  columns[random.between(0, 9)], random.between(1, 70)},
                                 std::uint64_t(round));
    const std::vector<float> defined = defined_by.defined(0, defined_by.c.tokens);
    const int tokens = random.between(1, defined_by.c.tokens), parts = random.between(1, 7);
    for_each_backend([&](const char* backend) {
      LinearWorld w(defined_by.c, std::uint64_t(round));
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

// A call of so many tokens, drawn anew, cut into calls of as many: the bits of its definition, none of which is NaN, on every
// backend, where `then` looks at it.
template <class Draw, class Then = void (*)(LinearWorld&, const std::vector<float>&)>
void has_bits_of_definition(
    const LinearAttentionCase& c, int in_a_call, Draw draw, Then then = [](LinearWorld&, const std::vector<float>&) {}) {
  LinearWorld defined_by(c);
  draw(defined_by);
  const std::vector<float> defined = defined_by.defined(0, c.tokens);
  CHECK(std::none_of(defined.begin(), defined.end(), [](float x) { return std::isnan(x); }));
  for_each_backend([&](const char* backend) {
    LinearWorld w(c);
    draw(w);
    run_in_calls(w, 0, c.tokens, in_a_call);
    INFO(std::string(backend), ": ", w.text());
    CHECK(are_same(w.found(), defined));
    then(w, defined);
  });
}

TEST_CASE("linear attention with gates up to the largest float has the bits of its definition") {
  for (const float most : {20.0f, 87.9f, 88.3f, 88.72f}) {
    for (const auto& kind : linear_kinds) {
      if (!attend::core::has_gate(kind.rule)) continue;
      has_bits_of_definition({kind.rule, kind.decay, 2, 2, 2, 19, 18, 3}, 3, [&](LinearWorld& w) {
        const std::size_t width = token_floats(w.c).gates, values = token_floats(w.c).value;
        for (std::size_t i = 0; i < 3 * values; ++i) w.d.value[i] *= 1e-34f;
        for (std::size_t i = 0; i < width; ++i) w.d.gates[width + i] = i % 3 == 0 ? most : most - 0.01f * float(i);
      });
    }
  }
}

TEST_CASE("linear attention with gates at the edges of their range has the bits of its definition") {
  const float least = -16.635532f, infinity = std::numeric_limits<float>::infinity();
  const float edges[] = {-0.0f, 0.5f, least, std::nextafter(least, 0.0f), std::nextafter(least, -20.0f), -infinity, 1e-30f};
  for (const auto& kind : linear_kinds) {
    if (!attend::core::has_gate(kind.rule)) continue;
    has_bits_of_definition({kind.rule, kind.decay, 2, 2, 2, 19, 18, 50}, 21, [&](LinearWorld& w) {
      const std::size_t width = token_floats(w.c).gates;
      for (std::size_t i = 0; i < std::size_t(w.c.tokens) * width; ++i) {  // each edge in each lane, ordinary tokens between
        if (i / width % 3 == 0) w.d.gates[i] = edges[(i / width + i % width) % 7];
      }
    });
  }
}

TEST_CASE("linear attention whose factors no buffer holds has the bits of its definition") {
  for (const auto& kind : linear_kinds) {
    has_bits_of_definition(
        {kind.rule, kind.decay, 1, 1, 1, 4099, 65, 3}, 3, [](LinearWorld&) {},
        [](LinearWorld& w, const std::vector<float>& defined) {
          w.clear();  // then the state alone
          attend::core::LinearAttention call = linear_call(w.c, w.d, 0, 3);
          call.query.data = nullptr, call.output.data = nullptr;
          run_linear_case(w.c, call);
          CHECK(are_same(w.found(), defined));
        });
  }
}

TEST_CASE("linear attention of drafts leaves the state, and what is appended then has the bits of prefill") {
  for (const auto& kind : linear_kinds) {
    const LinearAttentionCase c = {kind.rule, kind.decay, 2, 2, 4, 33, 40, 50};
    const std::vector<float> defined = LinearWorld(c).defined(0, c.tokens);
    for_each_backend([&](const char* backend) {
      LinearWorld w(c);
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
  for (const auto& kind : linear_kinds) {
    const LinearAttentionCase c = {kind.rule, kind.decay, 4, 2, 2, 20, 35, 60};
    const LinearTokenFloats t = token_floats(c);
    const int first = 6, end = 52;
    const std::int32_t boundaries[] = {0, 9, 9, 30, 31, end};
    const std::vector<float> defined = LinearWorld(c).defined(first, end, {9, 30, 31});
    for_each_backend([&](const char* backend) {
      LinearWorld w(c);
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
  for (const auto& kind : linear_kinds) {
    const LinearAttentionCase c = {kind.rule, kind.decay, 1, 1, 2, 9, 20, 8};
    const struct {
      int first, count, documents;
      std::int32_t boundaries[4];
      bool clears;
    } calls[] = {{0, 8, 2, {0, 8, 8}, true},    {0, 0, 2, {0, 0, 0}, true}, {8, 8, 2, {0, 4, 8}, true},
                 {8, 8, 3, {0, 0, 4, 8}, true}, {0, 0, 1, {0, 0}, false},   {8, 8, 1, {0, 8}, false}};
    for_each_backend([&](const char* backend) {
      for (const auto& of : calls) {
        LinearWorld w(c);
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
  for (const auto& kind : linear_kinds) {
    if (!attend::core::has_gate(kind.rule)) continue;
    const LinearAttentionCase c = {kind.rule, kind.decay, 1, 1, 2, 18, 33, 200};
    const LinearTokenFloats t = token_floats(c);
    for_each_backend([&](const char* backend) {
      LinearWorld w(c);
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
  for (const auto& kind : linear_kinds) {
    if (kind.rule == LinearRule::linear) continue;
    const auto draw = [](LinearWorld& w) {
      const LinearTokenFloats t = token_floats(w.c);
      for (int i = 0; i < w.c.tokens; ++i) {
        const std::size_t n = std::size_t(i);
        make_unit(w.d.key + n * t.key, t.key);
        if (i >= 10) std::fill_n(w.d.value + n * t.value, t.value, 0.0f);
        std::fill_n(w.d.gates + n * t.gates, t.gates, w.c.rule == LinearRule::gated ? -0.1f : -0.001f);
      }
    };
    LinearWorld defined_by({kind.rule, kind.decay, 1, 1, 2, 3, 18, 2000});
    draw(defined_by);
    std::vector<float> defined = defined_by.defined(0, defined_by.c.tokens);
    leave_out_small(defined.data(), defined.size());
    for_each_backend([&](const char* backend) {
      LinearWorld w(defined_by.c);
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
  for (const auto& kind : linear_kinds) {
    if (!attend::core::has_gate(kind.rule)) continue;
    for_each_backend([&](const char* backend) {
      LinearWorld w({kind.rule, kind.decay, 1, 1, 1, 1, 1, 66});
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

TEST_CASE("linear attention: a number below 0 is swept to +0") {
  const auto draw = [](LinearWorld& w) {
    std::fill_n(w.d.key, w.c.tokens, -1.0f), std::fill_n(w.d.value, w.c.tokens, 0.0f),
        std::fill_n(w.d.gates, w.c.tokens, -1.0f);
    w.d.value[0] = 1.0f;
  };
  has_bits_of_definition(
      {LinearRule::gated, Decay::per_head, 1, 1, 1, 1, 1, 120}, 7, draw,
      [](const LinearWorld& w, const std::vector<float>&) { CHECK((w.d.state[0] == 0.0f && !std::signbit(w.d.state[0]))); });
}

#if !ATTEND_EMBEDDED
TEST_CASE("linear attention over plain arrays has the bits of states that are set, move on and are read") {
  for (const auto& kind : linear_kinds) {
    const int extents[][2] = {{33, 40}, {5, 7}, {128, 131}};
    for (const auto& of : extents) {
      const int head_dim = of[0], value_dim = of[1];
      const LinearAttentionCase c = {kind.rule, kind.decay, 2, 2, 4, head_dim, value_dim, 9};
      const attend::core::LinearHead head = {
          0, 0, 0, std::uint32_t(c.rule), std::uint32_t(c.decay), c.value_heads, head_dim, value_dim, {0, 0}};
      std::vector<float> start(std::size_t(c.value_heads * head_dim * value_dim)), numbers, found;
      Random(3).fill(start.data(), start.size());
      for (std::size_t i = 0; i < start.size(); i += 3) start[i] *= 0x1p-101f;
      for_each_backend([&](const char* backend) {
        LinearWorld w(c);
        INFO(std::string(backend), ": ", w.text());
        // A key dimension without keys, whose numbers stay small.
        for (int i = 0; i < c.tokens * c.kv_heads; ++i) w.d.key[i * head_dim] = 0;
        attend::core::LinearAttention nothing = linear_call(c, w.d, 5, 5);
        nothing.is_plain = true, nothing.from = start.data(), found = std::vector<float>(start.size());
        nothing.state = found.data();
        run_linear_case(c, nothing);
        CHECK(found == start);
        for (const bool is_empty : {false, true}) {
          numbers = is_empty ? std::vector<float>(start.size()) : start, found = start;
          const float* from = is_empty ? nullptr : start.data();
          w.clear();
          for (const int i : {0, 5}) {  // the second call in place
            const int end = i == 0 ? 5 : c.tokens;
            if (from != nullptr) attend::core::set_numbers(head, numbers.data(), w.d.state);
            run_linear_case(c, linear_call(c, w.d, i, end));
            attend::core::get_numbers(head, w.d.state, numbers.data());
            const std::vector<float> outputs(w.d.output, w.d.output + w.outputs());
            w.poison_outputs();
            attend::core::LinearAttention call = linear_call(c, w.d, i, end);
            call.is_plain = true, call.from = from, call.state = found.data(), from = found.data();
            for (int part = 3; part-- > 0;) run_linear_case(c, call, part, 3);
            CHECK(std::memcmp(found.data(), numbers.data(), sizeof(float) * found.size()) == 0);
            const std::size_t row = token_floats(c).output;
            CHECK(std::memcmp(w.d.output + std::size_t(i) * row, &outputs[std::size_t(i) * row],
                              std::size_t(end - i) * row * 4) == 0);
          }
        }
      });
    }
  }
}
#endif
