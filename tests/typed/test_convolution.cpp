// Causal convolution in the typed surface: arrays, states that move on and states that stay, options, saved states, and what is
// refused.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "../conformance/convolution_definition.h"
#include "../support/typed_objects.h"
#include "attend/attend.h"
#include "attend/layers.h"
#include "attend/linear_attention.h"

using namespace attend_test;
using attend::ConvActivation;
using attend::Status;

namespace {

constexpr int tokens = 23, channels = 21, width = 4;
using State = attend::ConvState<channels, width>;

struct SevenByThree {
  static constexpr int query_heads = 3, kv_heads = 3, head_dim = 7;
};
struct Linear {  // its state has as many floats for each column
  static constexpr attend::LinearRule rule = attend::LinearRule::linear;
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = width, value_dim = channels;
};

struct ConvolutionWorld {
  float input[tokens][channels], output[tokens][channels], expected[tokens][channels];
  float weights[channels][1][width], bias[channels];
  State state, other;

  ConvolutionWorld() {
    fill_array(input, 1), fill_array(weights, 2), fill_array(bias, 3);
    std::memset(output, 0xff, sizeof output);
    std::memset(expected, 0xff, sizeof expected);
  }
  void define(int begin, int end, bool silu = true) {
    for (int c = 0; c < channels; ++c) {
      DefinedConvolution of(weights[c][0], width, &bias[c], silu);
      for (int t = begin; t < end; ++t) expected[t][c] = of.take(input[t][c]);
    }
  }
  template <class... More>
  Status run(const More&... more) {
    return attend::causal_conv<ConvActivation::silu>(input, weights, bias, state, output, more...);
  }
  bool is_expected() const { return std::memcmp(output, expected, sizeof output) == 0; }
  bool are_states_same() const {
    std::uint8_t bytes[2][State::saved_bytes];
    attend::save(state, bytes[0]), attend::save(other, bytes[1]);
    return std::memcmp(bytes[0], bytes[1], sizeof bytes[0]) == 0;
  }
};

}  // namespace

TEST_CASE("causal_conv: whole, token by token, in parts, from drafts and from nothing has the bits of the definition") {
  ConvolutionWorld w;
  w.define(0, tokens);
  CHECK(w.run() == Status::ok);
  CHECK(w.is_expected());
  CHECK(w.state.tokens() == tokens);
  for (int t = 0; t < tokens; ++t) {
    float one[channels];
    for (int part = 2; part-- > 0;) {
      CHECK(attend::causal_conv<ConvActivation::silu>(w.input[t], w.weights, w.bias, w.other, one,
                                                      attend::TeamPart{{part, 2}}) == Status::ok);
    }
    CHECK(std::memcmp(one, w.expected[t], sizeof one) == 0);
  }
  CHECK(w.are_states_same());

  std::memset(w.output, 0xff, sizeof w.output);
  CHECK(attend::causal_conv<ConvActivation::silu>(w.input, w.weights, w.bias, attend::empty_state, w.output) == Status::ok);
  CHECK(w.is_expected());
  w.other.clear();
  CHECK(w.other.tokens() == 0);
  const State& stays = w.other;
  std::memset(w.output, 0xff, sizeof w.output);
  CHECK(attend::causal_conv<ConvActivation::silu>(w.input, w.weights, w.bias, stays, w.output) == Status::ok);
  CHECK(w.is_expected());
  CHECK(w.other.tokens() == 0);
  CHECK(w.other.append(w.input, 2) == Status::ok);  // fewer than the state keeps
  CHECK(w.other.append(w.input, 0) == Status::ok);
  CHECK(w.other.tokens() == 2);
  std::memset(w.output, 0xff, sizeof w.output);
  attend::LinearOptions options;
  options.first = 2;
  CHECK(attend::causal_conv<ConvActivation::silu>(w.input, w.weights, w.bias, stays, w.output, options) == Status::ok);
  CHECK(std::memcmp(w.output[2], w.expected[2], sizeof w.output - sizeof w.output[0] * 2) == 0);
  w.other.clear();
  CHECK(w.other.append(w.input) == Status::ok);
  CHECK(w.are_states_same());

  // No activation, no bias; Vectors, and the arrays of a shape.
  attend::Vectors<tokens, channels> vectors, out;
  std::memcpy(vectors.data, w.input, sizeof w.input);
  std::memset(w.bias, 0, sizeof w.bias);
  w.define(0, tokens, false);
  w.state.clear();
  CHECK(attend::causal_conv(vectors, w.weights, attend::none, w.state, out) == Status::ok);
  CHECK(std::memcmp(out.data, w.expected, sizeof w.expected) == 0);
  attend::Query<SevenByThree, tokens> query;
  CHECK(attend::causal_conv(vectors, w.weights, w.bias, attend::empty_state, query) == Status::ok);
  CHECK(std::memcmp(&query, w.expected, sizeof w.expected) == 0);
}

TEST_CASE("causal_conv: documents have the bits of single runs, and absent tokens change nothing") {
  ConvolutionWorld w;
  CHECK(w.state.append(w.input, 5) == Status::ok);
  attend::Documents<5> documents;
  int begin = 0;
  for (const int length : {0, 7, 1, 0, 9}) {  // the first is what the state had before
    w.define(begin, begin + length);
    CHECK(documents.add(length) == Status::ok);
    begin += length;
  }
  for (int t = 17; t < tokens; ++t) std::fill_n(w.input[t], channels, std::numeric_limits<float>::quiet_NaN());
  attend::LinearOptions options;
  options.count = 17, options.documents = documents;
  for (int part = 3; part-- > 0;) CHECK(w.run(attend::Part{part, 3}, options) == Status::ok);
  CHECK(w.is_expected());
  CHECK(w.state.tokens() == 5 + 17);
  CHECK(w.other.append(*reinterpret_cast<float(*)[9][channels]>(w.input[8])) == Status::ok);
  attend::detail::LinearAccess::tokens(w.other) = 22;
  CHECK(w.are_states_same());

  // Padding in front.
  for (int t = 0; t < 4; ++t) std::fill_n(w.input[t], channels, std::numeric_limits<float>::quiet_NaN());
  attend::LinearOptions padded;
  padded.first = 4, padded.count = 7;
  std::memset(w.output, 0xff, sizeof w.output);
  std::memset(w.expected, 0xff, sizeof w.expected);
  w.define(4, 7);
  w.state.clear();
  CHECK(w.run(padded) == Status::ok);
  CHECK(w.is_expected());
  CHECK(w.state.tokens() == 3);
}

TEST_CASE("causal_conv: saved states go on with the same bits, and damaged bytes change nothing") {
  ConvolutionWorld w;
  CHECK(w.run() == Status::ok);
  std::uint8_t bytes[State::saved_bytes];
  attend::save(w.state, bytes);
  CHECK(attend::load(w.other, bytes, sizeof bytes) == Status::ok);
  CHECK(w.are_states_same());
  for (std::size_t i = 0; i < sizeof bytes; ++i) {
    bytes[i] = std::uint8_t(bytes[i] ^ 1u << i % 8);
    const Status status = attend::load(w.other, bytes, sizeof bytes);
    const bool is_version = i >= 4 && i < 8, is_shape = i >= 12 && i < 32;
    REQUIRE(status == (is_version ? Status::other_bits : is_shape ? Status::other_shape : Status::bad_saved));
    bytes[i] = std::uint8_t(bytes[i] ^ 1u << i % 8);
  }
  for (std::size_t size = 0; size < sizeof bytes; ++size) {
    const std::vector<std::uint8_t> cut(bytes, bytes + size);  // of that size, so that a sanitizer sees what is read behind it
    REQUIRE(attend::load(w.other, cut.data(), size) == Status::bad_saved);
  }
  CHECK(w.are_states_same());
  attend::ConvState<channels, 3> narrower;
  CHECK(attend::load(narrower, bytes, sizeof bytes) == Status::other_shape);
  CHECK(narrower.tokens() == 0);
  attend::LinearState<Linear> linear;
  CHECK(attend::load(linear, bytes, sizeof bytes) == Status::other_shape);
  std::uint8_t others[attend::LinearState<Linear>::saved_bytes];
  attend::save(linear, others);
  CHECK(attend::load(w.other, others, sizeof others) == Status::other_shape);
  CHECK(w.are_states_same());
}

TEST_CASE("causal_conv refuses what is out of range, and changes nothing") {
  ConvolutionWorld w;
  CHECK(w.state.append(w.input, 3) == Status::ok);
  w.other = w.state;
  const auto refused = [&](const attend::LinearOptions& options, const attend::Part& part = {}) {
    const Status status = w.run(options, part);
    CHECK(w.are_states_same());
    CHECK(w.is_expected());
    return status;
  };
  attend::LinearOptions options;
  options.count = tokens + 1;
  CHECK(refused(options) == Status::bad_count);
  options.count = -1;
  CHECK(refused(options) == Status::bad_count);
  options.count = 5, options.first = 6;
  CHECK(refused(options) == Status::bad_count);
  options.first = -1;
  CHECK(refused(options) == Status::bad_count);
  options = {};
  attend::Documents<2> documents;
  options.documents = documents;
  CHECK(refused(options) == Status::bad_documents);
  CHECK(documents.add(tokens - 1) == Status::ok);
  CHECK(refused(options) == Status::bad_documents);
  CHECK(refused({}, attend::Part{2, 2}) == Status::bad_part);
  CHECK(w.state.append(w.input, tokens + 1) == Status::bad_count);
  CHECK(w.state.append(w.input, -1) == Status::bad_count);
  CHECK(w.are_states_same());
}
