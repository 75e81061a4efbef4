// Linear attention of the C surface: the bits of the typed one for every rule, in any strides, parts and cuts; and what it
// refuses.
#include <memory>

#include "../support/typed_objects.h"
#include "attend/attend.h"
#include "attend/linear_attention.h"
#include "refusals_linear_world.h"

namespace attend_test {
namespace refused_linear {

constexpr unsigned run = World::run, append = World::append, run_from = World::run_from, init = World::init;
constexpr unsigned clear = World::clear, count = World::count, numbers = World::numbers, save = World::save, load = World::load;
constexpr unsigned set_numbers = World::set_numbers;
const Refusal<World> rows[] = {
#include "refusals_linear.inc"
};

}  // namespace refused_linear
}  // namespace attend_test

using namespace attend_test;
using attend::LinearRule;
using attend::Status;

namespace {

// Two value heads share each key, and one query head is shared by two states; then two queries read one state.
template <LinearRule of>
struct Shared {
  static constexpr LinearRule rule = of;
  static constexpr int query_heads = 2, kv_heads = 2, value_heads = 4, head_dim = 20, value_dim = 35;
};
template <LinearRule of>
struct Grouped {
  static constexpr LinearRule rule = of;
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 17;
};
template <class Shape>
struct ByKey : Shape {
  static constexpr attend::Decay decay = attend::Decay::per_key;
};

template <LinearRule of>
struct One {
  static constexpr LinearRule rule = of;
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 2, value_dim = 18;
};

constexpr int tokens = 37;
using Init = attend_status (*)(attend_linear_attention*, std::size_t);

template <class Array>
float* first_of(Array& array) {
  return reinterpret_cast<float*>(&array);
}

// The same numbers in arrays of the typed surface, and as a call of C.
template <class Shape>
struct World {
  using Dims = attend::detail::LinearChecked<Shape>;
  static constexpr int out_heads = Dims::query_heads > Dims::value_heads ? Dims::query_heads : Dims::value_heads;
  using State = attend::LinearState<Shape>;
  attend::Query<Shape, tokens> query;
  attend::Key<Shape, tokens> key;
  attend::Value<Shape, tokens> value;
  attend::Gates<Shape, tokens> gates;
  attend::Output<Shape, tokens> output, found;
  State state;
  attend_linear_attention linear;
  Aligned memory{64 + State::saved_bytes};
  attend_linear_state* c_state = nullptr;

  explicit World(Init init) {
    fill_array(query, 1), fill_array(key, 2, 0.25f), fill_array(value, 3);
    CHECK(init(&linear, sizeof linear) == ATTEND_OK);
    linear.query_heads = Dims::query_heads, linear.kv_heads = Dims::kv_heads, linear.head_dim = Dims::head_dim;
    if (Dims::value_heads != Dims::kv_heads) linear.value_heads = Dims::value_heads;
    linear.value_dim = Dims::value_dim, linear.tokens = tokens;
    linear.query.data = &query, linear.key.data = &key, linear.value.data = &value, linear.output.data = &found;
    if constexpr (Dims::rule != LinearRule::linear) fill_array(gates, 4);
    if constexpr (Dims::gated) {
      float* const g = first_of(gates.log_decay);
      for (std::size_t i = 0; i < sizeof gates.log_decay / sizeof(float); ++i) g[i] = g[i] * 0.5f - 0.5f;
      linear.log_decay.data = g;
    }
    if constexpr (attend::core::has_beta(Dims::rule)) linear.beta.data = first_of(gates.beta);
    // Heads of outputs have a gap behind them where their width is not whole, which stays as it is.
    if (sizeof output[0][0] != Dims::value_dim * sizeof(float)) {
      linear.output.head_stride = sizeof output[0][0] / sizeof(float);
      linear.output.token_stride = sizeof output[0] / sizeof(float);
    }
    poison();
    std::memset(memory.data(), 0xff, 64 + State::saved_bytes);
    const std::size_t bytes = attend_linear_state_size(&linear);
    CHECK(bytes == 24 + State::saved_bytes);
    CHECK(attend_linear_state_init(&linear, memory.data(), bytes, &c_state) == ATTEND_OK);
  }
  World(const World&) = delete;
  void poison() {
    std::memset(static_cast<void*>(&output), 0xff, sizeof output);
    found = output;
  }
  bool same_outputs() const { return std::memcmp(&output, &found, sizeof output) == 0; }
  bool same_states() const { return saved_of_cpp() == saved_of_c(c_state); }
  std::vector<unsigned char> saved_of_cpp() const {
    auto bytes = std::make_unique<std::uint8_t[][State::saved_bytes]>(1);
    attend::save(state, bytes[0]);
    return {bytes[0], bytes[0] + State::saved_bytes};
  }
  static std::vector<unsigned char> saved_of_c(const attend_linear_state* from) {
    std::vector<unsigned char> bytes(State::saved_bytes);
    CHECK(attend_linear_save(from, bytes.data(), bytes.size()) == ATTEND_OK);
    return bytes;
  }
};

template <class Shape>
void check_bits(Init init) {
  using Dims = attend::detail::LinearChecked<Shape>;
  const auto w = std::make_unique<World<Shape>>(init);
  INFO("rule ", int(Dims::rule), ", decay ", int(Dims::decay), ", ", int(Dims::query_heads), " query heads");
  // Padding in front and behind, documents, a scale; in three parts.
  attend::Documents<3> documents;
  for (const int length : {9, 0, 24}) CHECK(documents.add(length) == Status::ok);
  attend::LinearOptions options;
  options.first = 2, options.count = 33, options.scale = 0.3f, options.documents = documents;
  CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output, options) == Status::ok);
  const std::int32_t boundaries[] = {0, 9, 9, 33};
  w->linear.first = 2, w->linear.count = 33, w->linear.scale = 0.3f, w->linear.documents = {boundaries, 3}, w->linear.parts = 3;
  for (w->linear.part = 3; w->linear.part-- > 0;) CHECK(attend_linear_run(&w->linear, w->c_state) == ATTEND_OK);
  CHECK(w->same_outputs());
  CHECK(w->same_states());

  // On from there with the usual scale, as drafts and then to stay; keys and gates one token apart from each other.
  w->poison();
  attend::LinearOptions rest;
  rest.first = 33;
  CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output, rest) == Status::ok);
  w->linear.first = 33, w->linear.count = ATTEND_ALL_TOKENS, w->linear.scale = ATTEND_DEFAULT_SCALE;
  w->linear.documents = {nullptr, 0}, w->linear.part = 0, w->linear.parts = 1;
  const int width = Dims::kv_heads * Dims::head_dim;
  std::vector<float> apart(std::size_t(2 * tokens * width), attend_test::nan);
  for (int t = 0; t < tokens; ++t)
    std::memcpy(&apart[std::size_t(2 * t * width)], &w->key[t], std::size_t(width) * sizeof(float));
  w->linear.key = {apart.data(), 0, 2 * width, Dims::head_dim};
  const std::size_t bytes = sizeof(float) * Dims::head_dim * Dims::value_dim;
  Aligned work(bytes);
  std::memset(work.data(), 0xff, bytes);
  const std::vector<unsigned char> before = w->saved_of_c(w->c_state);
  CHECK(attend_linear_run_from(&w->linear, w->c_state, work.data(), bytes) == ATTEND_OK);
  CHECK(w->same_outputs());
  CHECK(w->saved_of_c(w->c_state) == before);
  CHECK(attend_linear_append(&w->linear, w->c_state) == ATTEND_OK);
  CHECK(w->same_states());

  // Bytes of C++ in C and of C in C++; and numbers are those of at().
  std::uint64_t taken = 0;
  CHECK(attend_linear_state_clear(w->c_state) == ATTEND_OK);
  CHECK(w->saved_of_c(w->c_state) != w->saved_of_cpp());
  const std::vector<unsigned char> saved = w->saved_of_cpp();
  CHECK(attend_linear_load(w->c_state, saved.data(), saved.size()) == ATTEND_OK);
  CHECK(w->same_states());
  CHECK(attend_linear_state_tokens(w->c_state, &taken) == ATTEND_OK);
  CHECK(taken == w->state.tokens());
  std::vector<float> numbers(std::size_t(Dims::value_heads * Dims::head_dim * Dims::value_dim));
  CHECK(attend_linear_state_numbers(w->c_state, numbers.data()) == ATTEND_OK);
  bool same = true;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const int n = int(i), d = n / Dims::value_dim;
    const float at = w->state.at(d / Dims::head_dim, d % Dims::head_dim, n % Dims::value_dim);
    same = same && std::memcmp(&numbers[i], &at, sizeof at) == 0;
  }
  CHECK(same);

  // A state that was set goes on with the same bits.
  float cpp_numbers[Dims::value_heads][Dims::head_dim][Dims::value_dim];
  attend::get_numbers(w->state, cpp_numbers);
  CHECK(std::memcmp(cpp_numbers, numbers.data(), sizeof cpp_numbers) == 0);
  const auto fresh = std::make_unique<attend::LinearState<Shape>>();
  attend::set_numbers(*fresh, cpp_numbers);
  CHECK(attend_linear_state_clear(w->c_state) == ATTEND_OK);
  CHECK(attend_linear_state_set_numbers(w->c_state, numbers.data()) == ATTEND_OK);
  CHECK(attend_linear_state_tokens(w->c_state, &taken) == ATTEND_OK);
  CHECK((taken == 0 && fresh->tokens() == 0));
  w->poison();
  CHECK(attend::prefill(w->query, w->key, w->value, w->gates, w->state, w->output, rest) == Status::ok);
  CHECK(attend_linear_run(&w->linear, w->c_state) == ATTEND_OK);
  CHECK(w->same_outputs());
  CHECK(attend::prefill(w->query, w->key, w->value, w->gates, *fresh, w->output, rest) == Status::ok);
  CHECK(w->same_outputs());
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

TEST_CASE("c linear attention: the bits of the typed surface for every rule and decay") {
  check_rule<LinearRule::linear>(attend_linear_rule_init, nullptr);
  check_rule<LinearRule::gated>(attend_gated_rule_init, attend_gated_by_key_rule_init);
  check_rule<LinearRule::delta>(attend_delta_rule_init, nullptr);
  check_rule<LinearRule::gated_delta>(attend_gated_delta_rule_init, attend_gated_delta_by_key_rule_init);
}

TEST_CASE("c refusals: linear attention") {
  check_arguments(check_refusals(refused_linear::rows), ATTEND_ARG_RULE, ATTEND_ARG_STATE);
  refused_linear::World world;
  CHECK(attend_linear_state_size(&world.linear) == world.state_bytes);
  CHECK(attend_linear_state_size(nullptr) == 0);
  world.linear.rule = nullptr;
  CHECK(attend_linear_state_size(&world.linear) == 0);
  CHECK(attend_linear_state_is_finite(nullptr) == -1);
}

TEST_CASE("c linear attention: what does not exist is not read, and calls of no tokens do nothing") {
  refused_linear::World world;
  world.linear.documents = {nullptr, 0};
  world.linear.first = 1, world.linear.count = 3;
  CHECK(attend_linear_state_is_finite(world.state) == 1);
  for (float* each : {world.q, world.k, world.v, world.g, world.b, world.out}) each[0] = attend_test::nan;
  std::fill(std::begin(world.out), std::end(world.out), 7.0f);
  CHECK(attend_linear_run(&world.linear, world.state) == ATTEND_OK);
  CHECK(attend_linear_state_is_finite(world.state) == 1);
  const int row = world.queries * world.value_dim;
  for (const int t : {0, 3, 4}) {
    for (int i = 0; i < row; ++i) CHECK(world.out[t * row + i] == 7.0f);
  }
  CHECK(world.out[row] != 7.0f);
  CHECK(attend_linear_state_tokens(world.state, world.counted) == ATTEND_OK);
  CHECK(world.total == 7);

  world.linear.tokens = 0, world.linear.first = 0, world.linear.count = ATTEND_ALL_TOKENS;
  world.linear.query.data = world.linear.key.data = world.linear.value.data = nullptr;
  world.linear.log_decay.data = world.linear.beta.data = nullptr, world.linear.output.data = nullptr;
  const std::vector<unsigned char> before = world.bytes();
  CHECK(attend_linear_run(&world.linear, world.state) == ATTEND_OK);
  CHECK(attend_linear_append(&world.linear, world.state) == ATTEND_OK);
  CHECK(world.bytes() == before);

  // NaN reaches the state, and goes with all tokens.
  world.linear.tokens = 1, world.linear.key.data = world.k, world.linear.value.data = world.v;
  world.linear.log_decay.data = world.g, world.linear.beta.data = world.b;
  CHECK(attend_linear_append(&world.linear, world.state) == ATTEND_OK);
  CHECK(attend_linear_state_is_finite(world.state) == 0);
  CHECK(attend_linear_state_clear(world.state) == ATTEND_OK);
  CHECK(attend_linear_state_is_finite(world.state) == 1);
}

// What gates would make subnormal is swept before the first token after it was set: gates of 1 leave it as it is.
template <LinearRule rule>
void check_swept(float left) {
  using Shape = One<rule>;
  float numbers[1][2][18] = {};
  numbers[0][1][17] = 0x1p-101f, numbers[0][1][16] = -0x1p-100f, numbers[0][0][0] = 3;
  attend::LinearState<Shape> state;
  attend::set_numbers(state, numbers);
  CHECK(state.at(0, 1, 17) == 0x1p-101f);
  CHECK(state.append(attend::Key<Shape>{}, attend::Value<Shape>{}, attend::Gates<Shape>{}) == Status::ok);
  attend::get_numbers(state, numbers);
  CHECK(numbers[0][1][17] == left);
  CHECK((numbers[0][1][16] == -0x1p-100f && numbers[0][0][0] == 3));
}

TEST_CASE("linear attention: small numbers of a state that was set become 0 before the next token, except by the rule linear") {
  check_swept<LinearRule::gated>(0);
  check_swept<LinearRule::delta>(0);
  check_swept<LinearRule::linear>(0x1p-101f);
}
