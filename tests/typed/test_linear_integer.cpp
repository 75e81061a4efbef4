// Linear attention in integers in the typed surface: what calls, cuts, drafts, scales of heads and saved states give, and what
// is refused.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>

#include "../conformance/linear_integer_digest.h"
#include "attend/linear_attention.h"

using namespace attend_test;
using attend::Status;

namespace {

// 2 key heads and 4 value heads; `of` and `by` are the rule and decay.
template <LinearRule of, Decay by, bool gated = attend::core::has_gate(of)>
struct Talk {
  static constexpr LinearRule rule = of;
  static constexpr Decay decay = by;
  static constexpr int query_heads = 2, kv_heads = 2, value_heads = 4, head_dim = 20, value_dim = 24;
  using arithmetic = attend::integer;
};
template <LinearRule of>
struct Talk<of, Decay::per_head, false> {
  static constexpr LinearRule rule = of;
  static constexpr int query_heads = 2, kv_heads = 2, value_heads = 4, head_dim = 20, value_dim = 24;
  using arithmetic = attend::integer;
};
constexpr int tokens = 30;

template <class Shape>
struct IntegerWorld {
  attend::Query<Shape, tokens> query;
  attend::Key<Shape, tokens> key;
  attend::Value<Shape, tokens> value;
  attend::Gates<Shape, tokens> gates;
  attend::Output<Shape, tokens> output, expected;
  attend::LinearState<Shape> state, other;
  attend::LinearWorkspace<Shape> work;
};

// A scale of each head, and the same as the core has them.
template <class Shape>
constexpr attend::LinearQuantisation<Shape, 4> scales_of_heads() {
  attend::LinearQuantisation<Shape, 4> scales(1.0 / 127, 1.0 / 127, 0.02, 0.03, 1.0);
  scales.set_head(2, 1.0 / 127, 1.0 / 100, 0.04, 0.01, 0.5);
  return scales;
}

template <LinearRule rule, Decay decay>
void check() {
  using Shape = Talk<rule, decay>;
  static constexpr auto scales = scales_of_heads<Shape>();
  const LinearIntegerCase c = linear_integers(rule, decay, 2, 2, 4, 20, 24, tokens);
  auto memory = std::make_unique<char[]>(digest_bytes(c));
  const LinearIntegers d = linear_integer_data(c, memory.get());
  draw_linear(c, d, 3);
  std::memset(d.state, 0, 4 * state_integers(c));
  auto call = linear_call(c, d, 0, tokens);
  call.scales = scales.scales(), call.scale_stride = 1;
  run_linear_case(c, call);

  auto w = std::make_unique<IntegerWorld<Shape>>();
  std::memcpy(&w->query, d.query, sizeof w->query), std::memcpy(&w->key, d.key, sizeof w->key);
  std::memcpy(&w->value, d.value, sizeof w->value), std::memcpy(&w->expected, d.output, sizeof w->expected);
  if constexpr (attend::core::has_gate(rule)) std::memcpy(w->gates.decay, d.gates, sizeof w->gates.decay);
  if constexpr (attend::core::has_beta(rule)) std::memcpy(w->gates.beta, d.beta, sizeof w->gates.beta);
  const auto is_expected = [&] { return std::memcmp(&w->output, &w->expected, sizeof w->output) == 0; };
  const auto are_states_same = [&] {
    static std::uint8_t bytes[2][attend::LinearState<Shape>::saved_bytes];
    attend::save(w->state, bytes[0]), attend::save(w->other, bytes[1]);
    return std::memcmp(bytes[0], bytes[1], sizeof bytes[0]) == 0;
  };
  CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output, scales) == Status::ok);
  CHECK(is_expected());
  CHECK(w->state.tokens() == tokens);
  CHECK(w->state.at(1, 3, 17) == d.state[attend::core::linear_state_index(20, 24, 1, 3, 17)]);
  CHECK(attend::is_finite(w->state));

  // Drafts from a state that stays, of which 11 are accepted, then the others, by two parts.
  std::memset(static_cast<void*>(&w->output), 0, sizeof w->output);
  CHECK(attend::attention(w->query, w->key, w->value, w->gates, attend::empty_state, w->output, w->work, scales) == Status::ok);
  CHECK(is_expected());
  CHECK(w->other.append(w->key, w->value, w->gates, scales, 11) == Status::ok);
  attend::LinearOptions rest;
  rest.first = 11;
  std::memset(static_cast<void*>(w->output.data + 11), 0, sizeof w->output - 11 * sizeof w->output.data[0]);
  for (int part = 0; part < 2; ++part)
    CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->other, w->output, rest, attend::Part{part, 2}, scales) ==
          Status::ok);
  CHECK(is_expected());
  CHECK(are_states_same());

  static std::uint8_t bytes[attend::LinearState<Shape>::saved_bytes];
  attend::save(w->state, bytes);
  w->other.clear();
  CHECK(attend::load(w->other, bytes, sizeof bytes) == Status::ok);
  CHECK(w->other.tokens() == tokens);
  CHECK(are_states_same());
  for (std::size_t byte = 0; byte < sizeof bytes; byte += byte < 60 ? 1 : 7) {
    bytes[byte] ^= 0x10;
    w->other.clear();
    REQUIRE(attend::load(w->other, bytes, sizeof bytes) != Status::ok);
    REQUIRE(w->other.at(0, 0, 0) == 0);
    bytes[byte] ^= 0x10;
  }
}

}  // namespace

TEST_CASE("typed linear attention in integers has the bits of the core, also of drafts, parts and saved states") {
  check<LinearRule::linear, Decay::per_head>();
  check<LinearRule::gated, Decay::per_head>();
  check<LinearRule::gated, Decay::per_key>();
  check<LinearRule::delta, Decay::per_head>();
  check<LinearRule::gated_delta, Decay::per_head>();
  check<LinearRule::gated_delta, Decay::per_key>();
}

TEST_CASE("typed linear attention in integers refuses scales that are out of range, and changes nothing") {
  using Shape = Talk<LinearRule::gated_delta, Decay::per_head>;
  using Scales = attend::LinearQuantisation<Shape>;
  auto w = std::make_unique<IntegerWorld<Shape>>();
  w->key.data[0][0][0] = 100, w->value.data[0][0][0] = 100;
  const volatile double one = 1.0, zero = 0.0;
  const auto status = [&](const Scales& scales) {
    const Status of_append = w->state.append(w->key, w->value, w->gates, scales);
    CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output, scales) == of_append);
    return of_append;
  };
  CHECK(Scales(one, one, one, one).status() == Status::bad_quantisation);
  for (const double bad : {1.0, 1e-6, 0.0, -0.5, one / zero, zero / zero}) {
    CHECK(status(Scales(0.01, bad, 0.01, 1)) == Status::bad_quantisation);
    CHECK(status(Scales(bad == 1.0 ? 1e9 : bad == 1e-6 ? 1e-9 : bad, 0.01, 0.01, 1)) == Status::bad_quantisation);
  }
  CHECK(status(Scales(0.01, 0.01, 0.01, 0.0 * one)) == Status::bad_quantisation);
  const Scales right(1.0 / 127, 1.0 / 127, 0.02, 0.03);
  attend::LinearOptions options;
  options.scale = 0.5f;
  CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output, right, options) == Status::bad_scale);
  options = {};
  options.count = tokens + 1;
  CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output, right, options) == Status::bad_count);
  CHECK(w->state.append(w->key, w->value, w->gates, right, -1) == Status::bad_count);
  CHECK(w->state.tokens() == 0);
  CHECK(w->state.at(0, 0, 0) == 0);
  CHECK(status(right) == Status::ok);
  CHECK(w->state.tokens() == 2 * tokens);
}

TEST_CASE("saved states of linear attention in integers whose numbers no state can have are refused") {
  const int dims = 3, columns = 21;  // two panels
  attend::core::LinearHead head{0, 0, 0, 1 + attend::core::integer_rule, 0, 1, dims, columns, {0, 0}};
  std::int32_t numbers[dims * columns + 6] = {}, loaded[dims * columns + 6];
  std::uint8_t bytes[sizeof head + sizeof numbers];
  const auto loads = [&](int place, std::int32_t number) {
    const std::int32_t before = numbers[place];
    numbers[place] = number;
    attend::core::save(head, numbers, bytes);
    numbers[place] = before;
    return attend::core::load(head, bytes, sizeof bytes, loaded) == attend::core::LinearLoaded::ok;
  };
  std::int32_t *const scaled = numbers + dims * columns, *const exponent = scaled, *const bound = scaled + 1;
  *bound = 1000, *exponent = scaled[3] = 3, scaled[2] = 1;
  const int end = dims * columns;
  CHECK((loads(4, 1000) && loads(4, -1001) && loads(end, 10) && loads(end, -16) && loads(end + 2, 7)));
  CHECK_FALSE((loads(4, 1001) || loads(4, -1002) || loads(14, INT32_MIN) || loads(14, INT32_MAX)));
  CHECK_FALSE((loads(end, 11) || loads(end, -17) || loads(end + 2, 8) || loads(end + 2, -1) || loads(end + 1, -1)));
  CHECK(loads(end + 1, (1 << 29) + (1 << 26)));
  CHECK_FALSE(loads(end + 1, (1 << 29) + (1 << 26) + 1));
  scaled[2] = 0;
  CHECK(loads(end + 1, 1 << 30));
  CHECK_FALSE(loads(end + 1, (1 << 30) + 1));
  *bound = 1 << 30;
  CHECK((loads(4, (1 << 30) - 1) && loads(4, -(1 << 30))));
  CHECK_FALSE((loads(4, 1 << 30) || loads(4, -(1 << 30) - 1)));
}
