// Causal convolutions and gates of the C surface: the bits of the typed one in any strides, parts and cuts; and what it
// refuses.
#include <memory>

#include "../support/typed_objects.h"
#include "attend/attend.h"
#include "attend/linear_attention.h"
#include "refusals_conv_world.h"

namespace attend_test {
namespace refused_conv {

constexpr unsigned run = World::run, append = World::append, run_from = World::run_from, init = World::init;
constexpr unsigned decay = World::decay, bounded = World::bounded;
const Refusal<World> rows[] = {
#include "refusals_conv.inc"
};

}  // namespace refused_conv
}  // namespace attend_test

using namespace attend_test;
using attend::ConvActivation;
using attend::Status;

namespace {

constexpr int tokens = 37;

// The same numbers in arrays of the typed surface, and as a call of C, whose tokens lie `stride` apart.
template <int channels, int width, ConvActivation activation, bool has_bias>
struct World {
  using State = attend::ConvState<channels, width>;
  static constexpr int stride = channels + 3;
  float input[tokens][channels], output[tokens][channels], weights[channels][width], bias[channels];
  float apart[tokens][stride], found[tokens][stride], untouched[tokens][stride];
  State state;
  attend_causal_conv conv;
  Aligned memory{64 + State::saved_bytes};
  attend_linear_state* c_state = nullptr;

  World() {
    fill_array(input, 1), fill_array(weights, 2), fill_array(bias, 3);
    poison_array(apart);
    for (int t = 0; t < tokens; ++t) std::memcpy(apart[t], input[t], sizeof input[t]);
    CHECK(attend_causal_conv_init(&conv, sizeof conv) == ATTEND_OK);
    conv.channels = channels, conv.width = width, conv.tokens = tokens;
    conv.input = {apart, ATTEND_DENSE, stride, ATTEND_DENSE}, conv.output = {found, ATTEND_DENSE, stride, ATTEND_DENSE};
    conv.weights = weights[0], conv.bias = has_bias ? bias : nullptr;
    if (activation == ConvActivation::silu) conv.activation = ATTEND_CONV_SILU;
    poison();
    std::memset(memory.data(), 0xff, 64 + State::saved_bytes);
    const std::size_t bytes = attend_conv_state_size(&conv);
    CHECK(bytes == 24 + State::saved_bytes);
    CHECK(attend_conv_state_init(&conv, memory.data(), bytes, &c_state) == ATTEND_OK);
  }
  World(const World&) = delete;
  void poison() { std::memset(output, 0xff, sizeof output), std::memset(found, 0xff, sizeof found); }
  template <class State_, class... More>
  void run(State_& of, const More&... more) {
    Status status = Status::ok;
    if constexpr (has_bias) status = attend::causal_conv<activation>(input, weights, bias, of, output, more...);
    if constexpr (!has_bias) status = attend::causal_conv<activation>(input, weights, attend::none, of, output, more...);
    CHECK(status == Status::ok);
  }
  bool same_outputs() {
    std::memset(untouched, 0xff, sizeof untouched);
    for (int t = 0; t < tokens; ++t) std::memcpy(untouched[t], output[t], sizeof output[t]);
    return std::memcmp(untouched, found, sizeof found) == 0;
  }
  std::vector<unsigned char> saved_of_c() const {
    std::vector<unsigned char> bytes(State::saved_bytes);
    CHECK(attend_linear_save(c_state, bytes.data(), bytes.size()) == ATTEND_OK);
    return bytes;
  }
  std::vector<unsigned char> saved_of_cpp() const {
    std::uint8_t bytes[State::saved_bytes];
    attend::save(state, bytes);
    return {bytes, bytes + sizeof bytes};
  }
};

template <int channels, int width, ConvActivation activation, bool has_bias>
void check_bits() {
  const auto w = std::make_unique<World<channels, width, activation, has_bias>>();
  INFO(channels, " channels, width ", width, ", activation ", int(activation), ", bias ", has_bias);
  // Padding in front and behind, and documents, in three parts.
  attend::Documents<3> documents;
  for (const int length : {9, 0, 24}) CHECK(documents.add(length) == Status::ok);
  attend::LinearOptions options, rest;
  options.first = 2, options.count = 33, options.documents = documents;
  w->run(w->state, options);
  const std::int32_t boundaries[] = {0, 9, 9, 33};
  w->conv.first = 2, w->conv.count = 33, w->conv.documents = {boundaries, 3}, w->conv.parts = 3;
  for (w->conv.part = 3; w->conv.part-- > 0;) CHECK(attend_causal_conv_run(&w->conv, w->c_state) == ATTEND_OK);
  CHECK(w->same_outputs());
  CHECK(w->saved_of_c() == w->saved_of_cpp());

  // On from there as drafts, and then to stay: append looks at the input alone.
  w->poison();
  rest.first = 33;
  w->run(w->state, rest);
  w->conv.first = 33, w->conv.count = ATTEND_ALL_TOKENS, w->conv.documents = {nullptr, 0}, w->conv.part = 0, w->conv.parts = 1;
  const std::vector<unsigned char> before = w->saved_of_c();
  CHECK(attend_causal_conv_run_from(&w->conv, w->c_state) == ATTEND_OK);
  CHECK(w->same_outputs());
  CHECK(w->saved_of_c() == before);
  attend_causal_conv only = w->conv;
  only.weights = only.bias = nullptr, only.output.data = nullptr, only.activation = 7;
  CHECK(attend_causal_conv_append(&only, w->c_state) == ATTEND_OK);
  CHECK(w->saved_of_c() == w->saved_of_cpp());
  std::uint64_t taken = 0;
  CHECK(attend_linear_state_tokens(w->c_state, &taken) == ATTEND_OK);
  CHECK(taken == w->state.tokens());

  // The inputs that it holds are the last ones. Bytes of C++ in C; NaN is found, and goes.
  float held[width - 1][channels];
  CHECK(attend_linear_state_numbers(w->c_state, held[0]) == ATTEND_OK);
  CHECK(std::memcmp(held, w->input[tokens + 1 - width], sizeof held) == 0);
  w->apart[tokens - 1][0] = attend_test::nan;
  CHECK(attend_linear_state_is_finite(w->c_state) == 1);
  CHECK(attend_causal_conv_append(&only, w->c_state) == ATTEND_OK);
  CHECK(attend_linear_state_is_finite(w->c_state) == 0);
  CHECK(attend_linear_state_clear(w->c_state) == ATTEND_OK);
  CHECK(attend_linear_state_is_finite(w->c_state) == 1);
  const std::vector<unsigned char> saved = w->saved_of_cpp();
  CHECK(w->saved_of_c() != saved);
  CHECK(attend_linear_load(w->c_state, saved.data(), saved.size()) == ATTEND_OK);
  CHECK(w->saved_of_c() == saved);

  // From an empty state; strides of dense arrays.
  w->poison();
  w->run(attend::empty_state);
  w->conv.input = {w->input, 0, ATTEND_DENSE, ATTEND_DENSE}, w->conv.first = 0;
  CHECK(attend_causal_conv_run_from(&w->conv, nullptr) == ATTEND_OK);
  CHECK(w->same_outputs());
}

template <int channels, int width>
void check_both() {
  check_bits<channels, width, ConvActivation::identity, false>();
  check_bits<channels, width, ConvActivation::silu, true>();
}

}  // namespace

TEST_CASE("c convolution: the bits of the typed surface") {
  check_both<1, 2>();
  check_both<21, 4>();
  check_both<130, 3>();
  check_both<40, 16>();
}

TEST_CASE("c gates: the bits of the typed surface") {
  float z[tokens][4][6], rates[4], bias[4][6], expected[tokens][4][6], found[tokens][4][6];
  fill_array(z, 1, 6.0f), fill_array(rates, 2, 3.0f), fill_array(bias, 3);
  attend_gate gate = {rates, bias[0], 24, 4};
  attend::decay_gate(z, rates, bias, expected);
  CHECK(attend_decay_gate(&gate, z[0][0], tokens, found[0][0]) == ATTEND_OK);
  CHECK(std::memcmp(expected, found, sizeof found) == 0);
  attend::bounded_gate(z, rates, bias, -5.0f, expected);
  CHECK(attend_bounded_gate(&gate, -5.0f, z[0][0], tokens, found[0][0]) == ATTEND_OK);
  CHECK(std::memcmp(expected, found, sizeof found) == 0);
  // A gate for each head, without a bias, in place; and none.
  float heads[tokens][4], of_heads[tokens][4];
  fill_array(heads, 4, 6.0f);
  attend::decay_gate(heads, rates, attend::none, of_heads);
  gate = {rates, nullptr, 4, 4};
  CHECK(attend_decay_gate(&gate, heads[0], tokens, heads[0]) == ATTEND_OK);
  CHECK(std::memcmp(heads, of_heads, sizeof heads) == 0);
  CHECK(attend_decay_gate(&gate, nullptr, 0, nullptr) == ATTEND_OK);
}

TEST_CASE("c refusals: convolution and gates") {
  check_arguments(check_refusals(refused_conv::rows), ATTEND_ARG_CONV, ATTEND_ARG_LOWER_BOUND);
  refused_conv::World world;
  CHECK(attend_conv_state_size(nullptr) == 0);
  world.conv.width = 17;
  CHECK(attend_conv_state_size(&world.conv) == 0);
}

TEST_CASE("c convolution: bytes and states of linear attention are others; calls of no tokens do nothing") {
  refused_conv::World world;
  attend_linear_attention linear;
  CHECK(attend_linear_rule_init(&linear, sizeof linear) == ATTEND_OK);
  linear.query_heads = linear.kv_heads = 1, linear.head_dim = world.width, linear.value_dim = world.channels;
  Aligned memory{256};
  attend_linear_state* other = nullptr;
  CHECK(attend_linear_state_init(&linear, memory.data(), attend_linear_state_size(&linear), &other) == ATTEND_OK);
  CHECK(attend_causal_conv_run(&world.conv, other) == wrong(ATTEND_MISMATCH, ATTEND_ARG_STATE));
  unsigned char bytes[256];
  CHECK(attend_linear_save(other, bytes, sizeof bytes) == ATTEND_OK);
  CHECK(attend_linear_load(world.state, bytes, sizeof bytes) == wrong(ATTEND_MISMATCH, ATTEND_ARG_STATE));
  linear.tokens = 0;
  CHECK(attend_linear_run(&linear, world.state) == wrong(ATTEND_MISMATCH, ATTEND_ARG_STATE));

  world.conv.tokens = 0, world.conv.documents = {nullptr, 0};
  world.conv.input.data = nullptr, world.conv.output.data = nullptr;
  const std::vector<unsigned char> before = world.bytes();
  CHECK(attend_causal_conv_run(&world.conv, world.state) == ATTEND_OK);
  CHECK(attend_causal_conv_run_from(&world.conv, world.state) == ATTEND_OK);
  CHECK(attend_causal_conv_append(&world.conv, world.state) == ATTEND_OK);
  CHECK(world.bytes() == before);
}
