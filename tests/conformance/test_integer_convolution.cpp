// Causal convolution in integers: the bits of the definition in any cut into calls and parts; the typed surface, its table of
// silu beside float64, saved states, and what is refused.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "../support/rounds.h"
#include "attend/linear_attention.h"
#include "integer_convolution_definition.h"
#include "integer_convolution_digest.h"

using namespace attend_test;
using attend::Status;

namespace {

struct IntegerConvolutions {
  explicit IntegerConvolutions(const IntegerConvolutionCase& of, std::uint64_t seed = 1)
      : c(of), memory(digest_bytes(of) / 4 + 1), d(integer_convolution_data(of, memory.data())) {
    draw_convolution(c, d, seed);
    std::fill_n(d.output, rows_floats(c), std::int8_t(77));
  }
  IntegerConvolutions(const IntegerConvolutions&) = delete;
  std::vector<std::int8_t> found() const {
    std::vector<std::int8_t> all(d.output, d.output + rows_floats(c));
    all.insert(all.end(), d.state, d.state + state_floats(c));
    return all;
  }
  // Tokens whose number is in `starts` begin with an empty state; the others than first … end - 1 are not there.
  std::vector<std::int8_t> defined(int first, int end, const std::vector<int>& starts = {}) const {
    std::vector<std::int8_t> all(rows_floats(c) + state_floats(c), std::int8_t(77));
    for (int i = 0; i < c.channels; ++i) {
      DefinedIntegerConvolution of(d.weights + i * c.width, c.width, c.bias ? d.bias[i] : 0, d.scales[i].factor,
                                   31 + d.scales[i].right, c.activation == ConvActivation::silu ? d.table : nullptr);
      const auto begins = [&](int t) { return std::count(starts.begin(), starts.end(), t) > 0; };
      for (int t = first; t < end; ++t) {
        if (begins(t)) of.clear();
        all[std::size_t(t * c.channels + i)] = of.take(d.input[t * c.channels + i]);
      }
      if (begins(end)) of.clear();
      for (int j = 0; j < c.width - 1; ++j) all[rows_floats(c) + std::size_t(j * c.channels + i)] = of.inputs[std::size_t(j)];
    }
    return all;
  }

  IntegerConvolutionCase c;
  std::vector<std::int32_t> memory;
  IntegerConvolutionData d;
};

constexpr int tokens = 23, channels = 21, width = 4;
using State = attend::ConvState<channels, width, attend::integer>;
using Silu = attend::ConvQuantisation<1, ConvActivation::silu>;

struct TypedWorld {
  std::int8_t input[tokens][channels], output[tokens][channels], expected[tokens][channels], weights[channels][width];
  std::int32_t bias[channels];
  State state, other;

  TypedWorld() {
    Random random(5);
    for (auto& row : input)
      for (std::int8_t& x : row) x = std::int8_t(random.between(-128, 127));
    for (auto& row : weights)
      for (std::int8_t& x : row) x = std::int8_t(random.between(-128, 127));
    for (std::int32_t& x : bias) x = random.between(-5000, 5000);
    std::memset(output, 77, sizeof output), std::memset(expected, 77, sizeof expected);
  }
  template <class Scales>
  void define(const Scales& scales, int begin, int end) {
    attend::core::IntegerConvolution call{};
    scales.set(call);
    for (int i = 0; i < channels; ++i) {
      const attend::core::ConvScale& by = call.scales[i * call.scale_stride];
      DefinedIntegerConvolution of(weights[i], width, bias[i], by.factor, 31 + by.right, call.table);
      for (int t = begin; t < end; ++t) expected[t][i] = of.take(input[t][i]);
    }
  }
  bool is_expected() const { return std::memcmp(output, expected, sizeof output) == 0; }
  bool are_states_same() const {
    std::uint8_t bytes[2][State::saved_bytes];
    attend::save(state, bytes[0]), attend::save(other, bytes[1]);
    return std::memcmp(bytes[0], bytes[1], sizeof bytes[0]) == 0;
  }
};

}  // namespace

TEST_CASE("causal convolution in integers of random shapes has the bits of its definition, in any cut into calls and parts") {
  for (const int round : each_round(150)) {
    Random random(std::uint64_t(round) + 1);
    const int sizes[] = {1, 3, 15, 16, 17, 40, 130}, widths[] = {2, 3, 4, 4, 4, 5, 16};
    IntegerConvolutions w({{round % 2 == 0 ? ConvActivation::identity : ConvActivation::silu, sizes[random.between(0, 6)],
                            widths[random.between(0, 6)], random.between(0, 1) == 1, random.between(1, 40)}},
                          std::uint64_t(round));
    if (round % 5 == 0) {  // the largest sums
      std::fill_n(w.d.input, rows_floats(w.c), std::int8_t(-128));
      std::fill_n(w.d.weights, w.c.channels * w.c.width, std::int8_t(-128));
      for (int i = 0; i < w.c.channels; ++i) w.d.bias[i] = i % 2 ? attend::core::most_conv_bias : -attend::core::most_conv_bias;
      for (int i = 0; i < w.c.channels; ++i) w.d.scales[i] = {0x7fffffff, 1 + i % 31};
    }
    const int calls = random.between(1, w.c.tokens), parts = random.between(1, 7);
    const std::vector<std::int8_t> defined = w.defined(0, w.c.tokens);
    for (const bool drafts : {false, true}) {
      run_convolution_way(w.c, w.d, calls, parts, drafts);
      CHECK(w.found() == defined);
    }
  }
}

TEST_CASE(
    "causal convolution in integers: documents have the bits of single runs, and tokens that do not exist change no bit") {
  for (const int documents : {5, 6}) {  // the last one is still empty
    const int first = 6, end = 33;
    const std::int32_t boundaries[] = {0, first, 9, 30, 31, end, end};  // the first is what the state had before
    IntegerConvolutions defined(integer_convolution(ConvActivation::silu, 37, 4, true, 40)), w(defined.c);
    std::fill_n(w.d.input, first * 37, std::int8_t(99)), std::fill_n(w.d.input + end * 37, (40 - end) * 37, std::int8_t(99));
    attend::core::IntegerConvolution call = convolution_call(w.c, w.d, 0, end);
    std::fill_n(w.d.state, state_floats(w.c), std::int8_t(55));
    call.first = first, call.boundaries = boundaries, call.documents = documents;
    for (int part = 3; part-- > 0;) run_convolution_case(w.c, call, part, 3);
    CHECK(w.found() ==
          defined.defined(first, end, documents == 5 ? std::vector<int>{9, 30, 31} : std::vector<int>{9, 30, 31, end}));
  }
}

TEST_CASE(
    "causal_conv in integers: whole, token by token, in parts, from drafts and from nothing has the bits of the definition") {
  static constexpr Silu scales(0.02, 0.003, 0.03, 0.04);
  TypedWorld w;
  w.define(scales, 0, tokens);
  CHECK(attend::causal_conv(w.input, w.weights, w.bias, w.state, w.output, scales) == Status::ok);
  CHECK((w.is_expected() && w.state.tokens() == tokens));
  for (int t = 0; t < tokens; ++t) {
    std::int8_t one[channels];
    for (int part = 2; part-- > 0;)
      CHECK(attend::causal_conv(w.input[t], w.weights, w.bias, w.other, one, scales, attend::TeamPart{{part, 2}}) ==
            Status::ok);
    CHECK(std::memcmp(one, w.expected[t], sizeof one) == 0);
  }
  CHECK(w.are_states_same());
  const State& stays = w.other;
  w.other.clear();
  CHECK((w.other.append(w.input, 2) == Status::ok && w.other.append(w.input, 0) == Status::ok && w.other.tokens() == 2));
  attend::LinearOptions options;
  options.first = 2;
  std::memset(w.output[2], 77, sizeof w.output - 2 * sizeof w.output[0]);
  CHECK(attend::causal_conv(w.input, w.weights, w.bias, stays, w.output, scales, options) == Status::ok);
  CHECK((w.is_expected() && w.other.tokens() == 2));
  w.other.clear();
  CHECK(w.other.append(w.input) == Status::ok);
  CHECK(w.are_states_same());

  // A scale of each channel, no bias, Vectors.
  double each[channels];
  for (int i = 0; i < channels; ++i) each[i] = 0.001 * (i + 1);
  const attend::ConvQuantisation<channels> of_channels(0.02, each, 0.05);
  std::memset(w.bias, 0, sizeof w.bias);
  w.define(of_channels, 0, tokens);
  attend::Vectors<tokens, channels, std::int8_t> in, out;
  std::memcpy(in.data, w.input, sizeof w.input);
  CHECK(attend::causal_conv(in, w.weights, attend::none, attend::empty_state, out, of_channels) == Status::ok);
  CHECK(std::memcmp(out.data, w.expected, sizeof w.expected) == 0);
}

TEST_CASE("causal_conv in integers: saved states go on, damaged ones and those of floats change nothing") {
  TypedWorld w;
  CHECK(w.state.append(w.input) == Status::ok);
  std::uint8_t bytes[State::saved_bytes];
  CHECK(sizeof bytes == 40 + 64);
  attend::save(w.state, bytes);
  CHECK(attend::load(w.other, bytes, sizeof bytes) == Status::ok);
  CHECK(w.are_states_same());
  for (std::size_t i = 0; i < sizeof bytes; ++i) {
    bytes[i] = std::uint8_t(bytes[i] ^ 1u << i % 8);
    REQUIRE(attend::load(w.other, bytes, sizeof bytes) != Status::ok);
    bytes[i] = std::uint8_t(bytes[i] ^ 1u << i % 8);
  }
  CHECK(w.are_states_same());
  attend::ConvState<channels, width> floats;
  CHECK(attend::load(floats, bytes, sizeof bytes) == Status::other_shape);
}

TEST_CASE("causal_conv in integers: silu is at most 0.502 steps from float64") {
  Random random(1);
  double worst = 0;
  for (int round = 0; round < 200; ++round) {
    const double sums = std::exp2(-3 - 6.0 * (random.uniform() + 1) / 2),
                 output = sums / 16 * std::exp2(6 * (random.uniform() + 1) / 2);
    const Silu scales(0.25, sums, output, sums);
    REQUIRE(scales.status() == Status::ok);
    attend::core::IntegerConvolution call{};
    scales.set(call);
    for (int z = -128; z < 128; ++z) {
      const double exact = z * sums / (1 + std::exp(-z * sums)) / output;
      worst = std::max(worst, std::fabs(call.table[z + 128] - std::min(std::max(exact, -128.0), 127.0)));
    }
  }
  MESSAGE("largest error of silu: ", worst, " steps");
  CHECK((worst <= 0.502 && worst > 0.49));
}

TEST_CASE("causal_conv in integers refuses what is out of range, and changes nothing") {
  TypedWorld w;
  const volatile double one = 1, nan = std::nan("");
  const auto refused = [&](const auto& scales, const attend::LinearOptions& options = {}, const attend::Part& part = {}) {
    const Status status = attend::causal_conv(w.input, w.weights, w.bias, w.state, w.output, scales, options, part);
    CHECK((w.is_expected() && w.are_states_same()));
    return status;
  };
  using Plain = attend::ConvQuantisation<>;
  for (const double bad : {0.0 * one, -1.0 * one, 50 * one, 1e-12 * one, double(nan)}) {
    CHECK(refused(Plain(bad, 0.02, 1)) == Status::bad_quantisation);
    CHECK(refused(Plain(0.02, bad, 1)) == Status::bad_quantisation);
    CHECK(refused(Silu(0.02, 0.02, bad, bad)) == Status::bad_quantisation);
  }
  CHECK(refused(Silu(0.02, 0.02, 0.1, 0.126 * one)) == Status::bad_quantisation);
  CHECK(refused(Silu(0.02, 0.02, 0.005 * one, 0.1)) == Status::bad_quantisation);
  const Plain right(0.02, 0.02, 1.0);
  attend::LinearOptions options;
  options.count = tokens + 1;
  CHECK(refused(right, options) == Status::bad_count);
  CHECK(refused(right, {}, attend::Part{2, 2}) == Status::bad_part);
  CHECK((w.state.append(w.input, -1) == Status::bad_count && w.state.append(w.input, tokens + 1) == Status::bad_count));
  CHECK(w.are_states_same());
}
