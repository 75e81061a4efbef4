// Linear attention in integers of the C surface: the bits of the typed one for every rule, with scales of heads, in any
// strides, parts and cuts; and what it refuses.
#include <memory>

#include "../support/typed_objects.h"
#include "attend/attend.h"
#include "attend/linear_attention.h"
#include "refusals_linear_integer_world.h"

namespace attend_test {
namespace refused_linear_integer {

constexpr unsigned run = World::run, append = World::append, run_from = World::run_from, init = World::init;
constexpr unsigned prepare = World::prepare;
const Refusal<World> rows[] = {
#include "refusals_linear_integer.inc"
};

}  // namespace refused_linear_integer
}  // namespace attend_test

using namespace attend_test;
using attend::LinearRule;
using attend::Status;

namespace {

template <LinearRule of>
struct Shared {
  static constexpr LinearRule rule = of;
  static constexpr int query_heads = 2, kv_heads = 2, value_heads = 4, head_dim = 20, value_dim = 35;
  using arithmetic = attend::integer;
};
template <LinearRule of>
struct Grouped {
  static constexpr LinearRule rule = of;
  static constexpr int query_heads = 4, kv_heads = 2, value_heads = 2, head_dim = 17, value_dim = 8;
  using arithmetic = attend::integer;
};
template <class Shape>
struct ByKey : Shape {
  static constexpr attend::Decay decay = attend::Decay::per_key;
};

constexpr int tokens = 37;
using Init = attend_status (*)(attend_linear_attention*, std::size_t);

template <class Array>
void fill_gates(Array& array, std::uint64_t seed) {
  Random random(seed);
  auto* const numbers = reinterpret_cast<std::uint16_t*>(&array);
  for (std::size_t i = 0; i < sizeof array / 2; ++i) numbers[i] = std::uint16_t(random.between(0, 1 << 15));
}

attend_linear_constants constants_of(double key_scale, double value_scale, double output_scale, double scale, int head_dim) {
  attend_integer_scales scales;
  CHECK(attend_integer_scales_init(&scales, sizeof scales) == ATTEND_OK);
  scales.query_scale = 1.0 / 127, scales.key_scale = key_scale, scales.value_scale = value_scale;
  scales.output_scale = output_scale;
  if (scale > 0) scales.scale = scale;
  attend_linear_constants constants;
  CHECK(attend_linear_prepare(&scales, head_dim, &constants) == ATTEND_OK);
  return constants;
}

template <class Shape>
void check_bits(Init init) {
  using Dims = attend::detail::LinearChecked<Shape>;
  using State = attend::LinearState<Shape>;
  INFO("rule ", int(Dims::rule), ", decay ", int(Dims::decay), ", ", int(Dims::query_heads), " query heads");
  struct Arrays {
    attend::Query<Shape, tokens> query;
    attend::Key<Shape, tokens> key;
    attend::Value<Shape, tokens> value;
    attend::Gates<Shape, tokens> gates;
    attend::Output<Shape, tokens> output, found;
    State state;
  };
  const auto w = std::make_unique<Arrays>();
  fill_array(w->query, 1), fill_array(w->key, 2), fill_array(w->value, 3);
  std::memset(static_cast<void*>(&w->output), 0x55, sizeof w->output);
  w->found = w->output;
  attend_linear_attention linear;
  CHECK(init(&linear, sizeof linear) == ATTEND_OK);
  linear.query_heads = Dims::query_heads, linear.kv_heads = Dims::kv_heads, linear.value_heads = Dims::value_heads;
  linear.head_dim = Dims::head_dim, linear.value_dim = Dims::value_dim, linear.tokens = tokens;
  linear.query.data = &w->query, linear.key.data = &w->key, linear.value.data = &w->value, linear.output.data = &w->found;
  if constexpr (Dims::gated) fill_gates(w->gates.decay, 4), linear.decay.data = w->gates.decay;
  if constexpr (attend::core::has_beta(Dims::rule)) fill_gates(w->gates.beta, 5), linear.beta.data = w->gates.beta;
  linear.output.head_stride = sizeof w->output[0][0], linear.output.token_stride = sizeof w->output[0];

  // Scales of each head; then one of all, with the usual scale.
  attend::LinearQuantisation<Shape, Dims::value_heads> of_heads(1.0 / 127, 0.004, 0.02, 0.03, 1.0);
  of_heads.set_head(1, 1.0 / 127, 0.0031, 0.04, 0.01, 0.5);
  attend_linear_constants by[Dims::value_heads];
  for (attend_linear_constants& each : by) each = constants_of(0.004, 0.02, 0.03, 1.0, Dims::head_dim);
  by[1] = constants_of(0.0031, 0.04, 0.01, 0.5, Dims::head_dim);
  const attend::LinearQuantisation<Shape> of_all(1.0 / 127, 0.004, 0.02, 0.03);
  const attend_linear_constants all = constants_of(0.004, 0.02, 0.03, 0, Dims::head_dim);

  const std::size_t bytes = attend_linear_state_size(&linear);
  CHECK(bytes == 24 + State::saved_bytes);
  Aligned memory(bytes), work(4 * Dims::head_dim * Dims::value_dim);
  std::memset(memory.data(), 0xff, bytes);
  attend_linear_state* state = nullptr;
  CHECK(attend_linear_state_init(&linear, memory.data(), bytes, &state) == ATTEND_OK);
  const auto of_cpp = [&] {
    auto saved = std::make_unique<std::uint8_t[][State::saved_bytes]>(1);
    attend::save(w->state, saved[0]);
    return std::vector<unsigned char>(saved[0], saved[0] + State::saved_bytes);
  };
  const auto of_c = [&] {
    std::vector<unsigned char> saved(State::saved_bytes);
    CHECK(attend_linear_save(state, saved.data(), saved.size()) == ATTEND_OK);
    return saved;
  };
  const auto same_outputs = [&] { return std::memcmp(&w->output, &w->found, sizeof w->output) == 0; };

  // Padding in front and behind, documents; in three parts.
  attend::Documents<3> documents;
  for (const int length : {9, 0, 24}) CHECK(documents.add(length) == Status::ok);
  attend::LinearOptions options, rest;
  options.first = 2, options.count = 33, options.documents = documents;
  CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output, options, of_heads) == Status::ok);
  const std::int32_t boundaries[] = {0, 9, 9, 33};
  linear.first = 2, linear.count = 33, linear.documents = {boundaries, 3}, linear.parts = 3, linear.head_constants = by;
  for (linear.part = 3; linear.part-- > 0;) CHECK(attend_linear_run(&linear, state) == ATTEND_OK);
  CHECK(same_outputs());
  CHECK(of_c() == of_cpp());

  // On from there as drafts, and then to stay.
  rest.first = 33;
  CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output, rest, of_all) == Status::ok);
  linear.first = 33, linear.count = ATTEND_ALL_TOKENS, linear.documents = {nullptr, 0}, linear.part = 0, linear.parts = 1;
  linear.constants = &all, linear.head_constants = nullptr;
  const std::vector<unsigned char> before = of_c();
  CHECK(attend_linear_run_from(&linear, state, work.data(), 4 * Dims::head_dim * Dims::value_dim) == ATTEND_OK);
  CHECK(same_outputs());
  CHECK(of_c() == before);
  CHECK(attend_linear_append(&linear, state) == ATTEND_OK);
  CHECK(of_c() == of_cpp());

  // Bytes of C++ in C; numbers are those of at().
  CHECK(attend_linear_state_clear(state) == ATTEND_OK);
  const std::vector<unsigned char> saved = of_cpp();
  CHECK(of_c() != saved);
  CHECK(attend_linear_load(state, saved.data(), saved.size()) == ATTEND_OK);
  CHECK(of_c() == saved);
  CHECK(attend_linear_state_is_finite(state) == 1);
  std::vector<std::int32_t> numbers(std::size_t(Dims::value_heads * Dims::head_dim * Dims::value_dim));
  CHECK(attend_linear_state_numbers(state, numbers.data()) == ATTEND_OK);
  bool same = true;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const int n = int(i), d = n / Dims::value_dim;
    same = same && numbers[i] == w->state.at(d / Dims::head_dim, d % Dims::head_dim, n % Dims::value_dim);
  }
  CHECK(same);
}

template <LinearRule rule>
void check_rule(Init init, Init by_key) {
  check_bits<Shared<rule>>(init);
  check_bits<Grouped<rule>>(init);
  if constexpr (attend::core::has_gate(rule)) {
    check_bits<ByKey<Shared<rule>>>(by_key);
    check_bits<ByKey<Grouped<rule>>>(by_key);
  }
}

}  // namespace

TEST_CASE("c linear attention in integers: the bits of the typed surface for every rule and decay") {
  check_rule<LinearRule::linear>(attend_integer_linear_rule_init, nullptr);
  check_rule<LinearRule::gated>(attend_integer_gated_rule_init, attend_integer_gated_by_key_rule_init);
  check_rule<LinearRule::delta>(attend_integer_delta_rule_init, nullptr);
  check_rule<LinearRule::gated_delta>(attend_integer_gated_delta_rule_init, attend_integer_gated_delta_by_key_rule_init);
}

TEST_CASE("c refusals: linear attention in integers") {
  check_arguments(check_refusals(refused_linear_integer::rows), ATTEND_ARG_DECAY, ATTEND_ARG_DECAY);
  refused_linear_integer::World world;
  world.linear.head_dim = 257;
  CHECK(attend_linear_state_size(&world.linear) == 0);
}

TEST_CASE("c linear attention in integers: a state that diverges is found") {
  refused_linear_integer::World world;
  CHECK(attend_linear_state_is_finite(world.state) == 1);
  const std::int32_t least = attend::core::least_linear_exponent;  // which only such states have
  std::memcpy(static_cast<char*>(world.memory.data()) + 64 + 4 * world.heads * world.key_dim * world.value_dim, &least, 4);
  CHECK(attend_linear_state_is_finite(world.state) == 0);
}
