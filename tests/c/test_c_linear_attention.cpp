// Linear attention of the C surface: the bits of the typed one for every rule, in floats and in integers, in any strides, parts
// and cuts.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "../support/typed_objects.h"
#include "attend/attend.h"
#include "attend/c/linear_attention.h"
#include "attend/linear_attention.h"
#include "c_run.h"

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

constexpr int tokens = 37;
using Init = attend_status (*)(attend_linear_attention*, std::size_t);

template <class Array>
float* first_of(Array& array) {
  return reinterpret_cast<float*>(&array);
}

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

// The same numbers in arrays of the typed surface, and as a call of C. Integers have scales of each head, then one of all.
template <class Shape>
struct World {
  using Dims = attend::detail::LinearChecked<Shape>;
  static constexpr bool integers = attend::detail::is_integer<Shape>;
  using State = attend::LinearState<Shape>;
  attend::Query<Shape, tokens> query;
  attend::Key<Shape, tokens> key;
  attend::Value<Shape, tokens> value;
  attend::Gates<Shape, tokens> gates;
  attend::Output<Shape, tokens> output, found;
  State state;
  attend_linear_attention linear;
  attend_linear_constants of_heads[Dims::value_heads], of_all;
  Aligned memory{64 + State::saved_bytes};
  attend_linear_state* c_state = nullptr;

  explicit World(Init init) {
    fill_array(query, 1), fill_array(key, 2, 0.25f), fill_array(value, 3);
    CHECK(init(&linear, sizeof linear) == ATTEND_OK);
    linear.query_heads = Dims::query_heads, linear.kv_heads = Dims::kv_heads, linear.head_dim = Dims::head_dim;
    if (Dims::value_heads != Dims::kv_heads) linear.value_heads = Dims::value_heads;
    linear.value_dim = Dims::value_dim, linear.tokens = tokens;
    linear.query.data = &query, linear.key.data = &key, linear.value.data = &value, linear.output.data = &found;
    if constexpr (integers) {
      if constexpr (Dims::gated) fill_gates(gates.decay, 4), linear.decay.data = gates.decay;
      if constexpr (attend::core::has_beta(Dims::rule)) fill_gates(gates.beta, 5), linear.beta.data = gates.beta;
      for (attend_linear_constants& each : of_heads) each = constants_of(0.004, 0.02, 0.03, 0.3, Dims::head_dim);
      of_heads[1] = constants_of(0.0031, 0.04, 0.01, 0.5, Dims::head_dim);
      of_all = constants_of(0.004, 0.02, 0.03, 0, Dims::head_dim);
    } else {
      if constexpr (Dims::rule != LinearRule::linear) fill_array(gates, 4);
      if constexpr (Dims::gated) {
        float* const g = first_of(gates.log_decay);
        for (std::size_t i = 0; i < sizeof gates.log_decay / sizeof(float); ++i) g[i] = g[i] * 0.5f - 0.5f;
        linear.log_decay.data = g;
      }
      if constexpr (attend::core::has_beta(Dims::rule)) linear.beta.data = first_of(gates.beta);
    }
    // Heads of outputs have a gap behind them where their width is not whole, which stays as it is.
    using Number = attend::detail::NumberOf<Shape>;
    if (integers || sizeof output[0][0] != Dims::value_dim * sizeof(Number)) {
      linear.output.head_stride = sizeof output[0][0] / sizeof(Number);
      linear.output.token_stride = sizeof output[0] / sizeof(Number);
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
  void prefill(State& of, attend::LinearOptions options, float scale = 0) {
    Status status = Status::ok;
    if constexpr (integers) {
      attend::LinearQuantisation<Shape, Dims::value_heads> heads(1.0 / 127, 0.004, 0.02, 0.03, 0.3);
      heads.set_head(1, 1.0 / 127, 0.0031, 0.04, 0.01, 0.5);
      const attend::LinearQuantisation<Shape> all(1.0 / 127, 0.004, 0.02, 0.03);
      linear.head_constants = scale > 0 ? of_heads : nullptr, linear.constants = scale > 0 ? nullptr : &of_all;
      status = scale > 0 ? attend::prefill(query, key, value, gates, of, output, options, heads)
                         : attend::prefill(query, key, value, gates, of, output, options, all);
    } else {
      if (scale > 0) options.scale = scale;
      linear.scale = scale > 0 ? scale : ATTEND_DEFAULT_SCALE;
      status = attend::prefill(query, key, value, gates, of, output, options);
    }
    CHECK(status == Status::ok);
  }
  bool same_outputs() const { return std::memcmp(&output, &found, sizeof output) == 0; }
  bool same_states() const { return saved_of_cpp() == saved_of_c(); }
  std::vector<unsigned char> saved_of_cpp() const {
    auto bytes = std::make_unique<std::uint8_t[][State::saved_bytes]>(1);
    attend::save(state, bytes[0]);
    return {bytes[0], bytes[0] + State::saved_bytes};
  }
  std::vector<unsigned char> saved_of_c() const {
    std::vector<unsigned char> bytes(State::saved_bytes);
    CHECK(attend_linear_save(c_state, bytes.data(), bytes.size()) == ATTEND_OK);
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
  options.first = 2, options.count = 33, options.documents = documents;
  w->prefill(w->state, options, 0.3f);
  const std::int32_t boundaries[] = {0, 9, 9, 33};
  w->linear.first = 2, w->linear.count = 33, w->linear.documents = {boundaries, 3}, w->linear.parts = 3;
  for (w->linear.part = 3; w->linear.part-- > 0;) CHECK(attend_linear_run(&w->linear, w->c_state) == ATTEND_OK);
  CHECK(w->same_outputs());
  CHECK(w->same_states());

  // On from there with the usual scale, as drafts and then to stay; keys and gates one token apart from each other.
  w->poison();
  attend::LinearOptions rest;
  rest.first = 33;
  w->prefill(w->state, rest);
  w->linear.first = 33, w->linear.count = ATTEND_ALL_TOKENS;
  w->linear.documents = {nullptr, 0}, w->linear.part = 0, w->linear.parts = 1;
  using Number = attend::detail::NumberOf<Shape>;
  const int width = Dims::kv_heads * Dims::head_dim;
  std::vector<Number> apart(std::size_t(2 * tokens * width));
  std::memset(apart.data(), 0xff, apart.size() * sizeof(Number));
  for (int t = 0; t < tokens; ++t)
    std::memcpy(&apart[std::size_t(2 * t * width)], &w->key[t], std::size_t(width) * sizeof(Number));
  w->linear.key = {apart.data(), 0, 2 * width, Dims::head_dim};
  const std::size_t bytes = sizeof(float) * Dims::head_dim * Dims::value_dim;
  Aligned work(bytes);
  std::memset(work.data(), 0xff, bytes);
  const std::vector<unsigned char> before = w->saved_of_c();
  CHECK(attend_linear_run_from(&w->linear, w->c_state, work.data(), bytes) == ATTEND_OK);
  CHECK(w->same_outputs());
  CHECK(w->saved_of_c() == before);
  CHECK(attend_linear_append(&w->linear, w->c_state) == ATTEND_OK);
  CHECK(w->same_states());

  // Bytes of C++ in C and of C in C++; and numbers are those of at().
  std::uint64_t taken = 0;
  CHECK(attend_linear_state_clear(w->c_state) == ATTEND_OK);
  CHECK(w->saved_of_c() != w->saved_of_cpp());
  const std::vector<unsigned char> saved = w->saved_of_cpp();
  CHECK(attend_linear_load(w->c_state, saved.data(), saved.size()) == ATTEND_OK);
  CHECK(w->same_states());
  CHECK(attend_linear_state_is_finite(w->c_state) == 1);
  CHECK(attend_linear_state_tokens(w->c_state, &taken) == ATTEND_OK);
  CHECK(taken == w->state.tokens());
  using OfState = decltype(w->state.at(0, 0, 0));
  std::vector<OfState> numbers(std::size_t(Dims::value_heads * Dims::head_dim * Dims::value_dim));
  CHECK(attend_linear_state_numbers(w->c_state, numbers.data()) == ATTEND_OK);
  bool same = true;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const int n = int(i), d = n / Dims::value_dim;
    const OfState at = w->state.at(d / Dims::head_dim, d % Dims::head_dim, n % Dims::value_dim);
    same = same && std::memcmp(&numbers[i], &at, sizeof at) == 0;
  }
  CHECK(same);

  // A state that was set goes on with the same bits.
  if constexpr (!World<Shape>::integers) {
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
    w->prefill(w->state, rest);
    CHECK(attend_linear_run(&w->linear, w->c_state) == ATTEND_OK);
    CHECK(w->same_outputs());
    w->prefill(*fresh, rest);
    CHECK(w->same_outputs());
  }
}

template <LinearRule rule>
void check_rule(Init init, Init by_key, Init integer_init, Init integer_by_key) {
  check_bits<Shared<rule>>(init);
  check_bits<Grouped<rule>>(init);
  check_bits<attend::Integer<Shared<rule>>>(integer_init);
  check_bits<attend::Integer<Grouped<rule>>>(integer_init);
  if constexpr (attend::core::has_gate(rule)) {
    check_bits<ByKey<Shared<rule>>>(by_key);
    check_bits<ByKey<Grouped<rule>>>(by_key);
    check_bits<attend::Integer<ByKey<Shared<rule>>>>(integer_by_key);
    check_bits<attend::Integer<ByKey<Grouped<rule>>>>(integer_by_key);
  }
}

}  // namespace

TEST_CASE("c linear attention: the bits of the typed surface for every rule and decay") {
  check_rule<LinearRule::linear>(attend_linear_rule_init, nullptr, attend_integer_linear_rule_init, nullptr);
  check_rule<LinearRule::gated>(attend_gated_rule_init, attend_gated_by_key_rule_init, attend_integer_gated_rule_init,
                                attend_integer_gated_by_key_rule_init);
  check_rule<LinearRule::delta>(attend_delta_rule_init, nullptr, attend_integer_delta_rule_init, nullptr);
  check_rule<LinearRule::gated_delta>(attend_gated_delta_rule_init, attend_gated_delta_by_key_rule_init,
                                      attend_integer_gated_delta_rule_init, attend_integer_gated_delta_by_key_rule_init);
}
