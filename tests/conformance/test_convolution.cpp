// Causal convolution: the bits of the definition on every backend, in any cut into calls and parts, and the bound of its error.
#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "../support/instance.h"
#include "../support/rounds.h"
#include "attend/layers/core_layer.h"
#include "convolution_definition.h"
#include "convolution_digest.h"

using namespace attend_test;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct Convolutions {
  explicit Convolutions(const ConvolutionCase& of, std::uint64_t seed = 1)
      : c(of), memory(digest_bytes(of) / sizeof(float), not_a_number), d(convolution_data(of, memory.data())) {
    draw_convolution(c, d, seed);
    clear();
  }
  Convolutions(const Convolutions&) = delete;
  void clear() {
    std::fill_n(d.state, state_floats(c), 0.0f);
    std::fill_n(d.output, rows_floats(c), not_a_number);
  }
  std::vector<float> state() const { return {d.state, d.state + state_floats(c)}; }
  std::vector<float> found() const {
    std::vector<float> all(d.output, d.output + rows_floats(c));
    all.insert(all.end(), d.state, d.state + state_floats(c));
    return all;
  }

  // Tokens whose number is in `starts` begin with an empty state; the others than first … end - 1 are not there.
  std::vector<float> defined(int first, int end, const std::vector<int>& starts = {}) const {
    std::vector<float> all(rows_floats(c) + state_floats(c), not_a_number);
    for (int channel = 0; channel < c.channels; ++channel) {
      DefinedConvolution of(d.weights + channel * c.width, c.width, c.bias ? d.bias + channel : nullptr,
                            c.activation == ConvActivation::silu);
      const auto begins = [&](int t) { return std::count(starts.begin(), starts.end(), t) > 0; };
      for (int t = first; t < end; ++t) {
        if (begins(t)) of.clear();
        all[std::size_t(t * c.channels + channel)] = of.take(d.input[t * c.channels + channel]);
      }
      if (begins(end)) of.clear();
      for (int j = 0; j < c.width - 1; ++j)
        all[rows_floats(c) + std::size_t(j * c.channels + channel)] = of.inputs[std::size_t(j)];
    }
    return all;
  }

  std::string text() const {
    return (c.activation == ConvActivation::silu ? "silu, " : "") + std::to_string(c.channels) + " channels, width " +
           std::to_string(c.width) + (c.bias ? ", bias, " : ", ") + std::to_string(c.tokens) + " tokens";
  }

  ConvolutionCase c;
  std::vector<float> memory;
  ConvolutionData d;
};

// Whether all bits are the same, where outputs that nobody wrote are NaN.
bool are_same_floats(const std::vector<float>& a, const std::vector<float>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i)
    same = std::memcmp(&a[i], &b[i], sizeof a[i]) == 0 || (std::isnan(a[i]) && std::isnan(b[i]));
  return same;
}

}  // namespace

TEST_CASE("causal convolution of random shapes has the bits of its definition, in any cut into calls and parts") {
  for (const int round : each_round(150)) {
    Random random(std::uint64_t(round) + 1);
    const ConvActivation activation = round % 2 == 0 ? ConvActivation::identity : ConvActivation::silu;
    const int channels[] = {1, 3, 15, 16, 17, 40, 64, 130, 700}, widths[] = {2, 3, 4, 4, 4, 5, 16};
    const ConvolutionCase c = {activation, channels[random.between(0, 8)], widths[random.between(0, 6)],
                               random.between(0, 1) == 1, random.between(1, 40)};
    const std::vector<float> defined = Convolutions(c, std::uint64_t(round)).defined(0, c.tokens);
    const int tokens = random.between(1, c.tokens), parts = random.between(1, 7);
    for_each_backend([&](const char* backend) {
      Convolutions w(c, std::uint64_t(round));
      INFO(std::string(backend), ": ", w.text(), ", calls of ", tokens, ", parts ", parts);
      run_convolution_way(c, w.d, c.tokens, 1, false);
      CHECK(are_same_floats(w.found(), defined));
      w.clear();
      run_convolution_way(c, w.d, tokens, parts, false);
      CHECK(are_same_floats(w.found(), defined));
      w.clear();
      run_convolution_way(c, w.d, tokens, parts, true);
      CHECK(are_same_floats(w.found(), defined));
    });
  }
}

TEST_CASE("causal convolution from a state that stays changes nothing in it, and parts write their channels alone") {
  const ConvolutionCase c = {ConvActivation::silu, 70, 4, true, 9};
  for_each_backend([&](const char* backend) {
    Convolutions w(c);
    INFO(std::string(backend));
    run_convolution_way(c, w.d, 4, 1, false);
    const std::vector<float> state = w.state();
    attend::core::Convolution call = convolution_call(c, w.d, 0, c.tokens);
    call.state = nullptr, call.from = w.d.state;
    std::fill_n(w.d.output, rows_floats(c), not_a_number);
    run_convolution_case(c, call, 1, 3);  // panels 1 and 2 of 5
    CHECK(same_bits(w.state(), state));
    for (int t = 0; t < c.tokens; ++t) {
      for (int channel = 0; channel < c.channels; ++channel)
        REQUIRE(std::isnan(w.d.output[t * c.channels + channel]) == (channel < 16 || channel >= 48));
    }
  });
}

TEST_CASE("causal convolution: documents have the bits of single runs, and tokens that do not exist change no bit") {
  for (const ConvActivation activation : {ConvActivation::identity, ConvActivation::silu}) {
    const ConvolutionCase c = {activation, 37, 4, true, 40};
    const int first = 6, end = 33;
    const std::int32_t boundaries[] = {0, 9, 9, 30, 31, end};
    const std::vector<float> defined = Convolutions(c).defined(first, end, {9, 30, 31});
    for_each_backend([&](const char* backend) {
      Convolutions w(c);
      INFO(std::string(backend), ": ", w.text());
      std::fill_n(w.d.input, first * c.channels, not_a_number);
      std::fill_n(w.d.input + end * c.channels, (c.tokens - end) * c.channels, not_a_number);
      attend::core::Convolution call = convolution_call(c, w.d, 0, end);
      call.first = first, call.boundaries = boundaries, call.documents = 5;
      for (int part = 3; part-- > 0;) run_convolution_case(c, call, part, 3);
      CHECK(are_same_floats(w.found(), defined));
    });
  }
}

TEST_CASE("causal convolution: a document behind the last token leaves an empty state, whatever tokens the call has") {
  const ConvolutionCase c = {ConvActivation::identity, 20, 3, false, 8};
  const struct {
    int first, count, documents;
    std::int32_t boundaries[4];
    bool clears;
  } calls[] = {{0, 8, 2, {0, 8, 8}, true},    {0, 0, 2, {0, 0, 0}, true}, {8, 8, 2, {0, 4, 8}, true},
               {8, 8, 3, {0, 0, 4, 8}, true}, {0, 0, 1, {0, 0}, false},   {8, 8, 1, {0, 8}, false}};
  for_each_backend([&](const char* backend) {
    for (const auto& of : calls) {
      Convolutions w(c);
      INFO(std::string(backend), ", from ", of.first, " to ", of.count, ", documents ", of.documents);
      run_convolution_case(c, convolution_call(c, w.d, 0, 5));
      const std::vector<float> before = w.state(), empty(before.size());
      attend::core::Convolution call = convolution_call(c, w.d, 0, of.count);
      call.first = of.first, call.boundaries = of.boundaries, call.documents = of.documents;
      for (int part = 3; part-- > 0;) run_convolution_case(c, call, part, 3);
      CHECK(same_bits(w.state(), of.clears ? empty : before));
    }
  });
}

TEST_CASE("the silu of a causal convolution has the bits of the activation, of all numbers") {
  ConvolutionCase c = {ConvActivation::silu, 500, 2, false, 40};
  for_each_backend([&](const char* backend) {
    Convolutions w(c);
    INFO(std::string(backend));
    Random random(3);
    for (std::size_t i = 0; i < rows_floats(c); ++i) {
      const std::uint32_t bits = random.bits();
      std::memcpy(w.d.input + i, &bits, sizeof bits);
      if (std::fabs(w.d.input[i]) < 0x1p-126f) w.d.input[i] = 0.0f;
      // Every other token has none that is large: hosts take such vectors side by side.
      if (i / std::size_t(c.channels) % 2 == 1 && std::fabs(w.d.input[i]) > 48.0f)
        w.d.input[i] = float(std::int32_t(bits << 1)) * 0x1.8p-26f;
    }
    for (int i = 0; i < c.channels; ++i) w.d.weights[2 * i] = 0.0f, w.d.weights[2 * i + 1] = 1.0f;
    c.activation = ConvActivation::identity;
    run_convolution_way(c, w.d, c.tokens, 1, false);
    std::vector<float> activated(w.d.output, w.d.output + rows_floats(c));
    attend::core::activate<attend::Activation::silu>(activated.data(), nullptr, int(activated.size()), activated.data());
    c.activation = ConvActivation::silu;
    run_convolution_way(c, w.d, c.tokens, 1, false);
    CHECK(are_same_floats({w.d.output, w.d.output + rows_floats(c)}, activated));
  });
}

TEST_CASE("errors of causal convolutions keep to their bound") {
  double worst[2] = {};
  for (const int round : each_round(200)) {
    const bool silu = round % 2 == 1;
    const Convolutions w({silu ? ConvActivation::silu : ConvActivation::identity, 64, 2 + round % 15, round % 4 < 2, 60},
                         std::uint64_t(round));
    for (int channel = 0; channel < w.c.channels; ++channel) {
      DefinedConvolution of(w.d.weights + channel * w.c.width, w.c.width, w.c.bias ? w.d.bias + channel : nullptr, silu);
      for (int t = 0; t < w.c.tokens; ++t) {
        const float x = w.d.input[t * w.c.channels + channel];
        const DefinedConvolution::Exact exact = of.exact(x);
        const double off = std::fabs(double(of.take(x)) - exact.output);
        worst[silu] = std::max(worst[silu], off / std::max(exact.bound, 1e-40));
      }
    }
  }
  MESSAGE("largest error of a convolution: ", worst[0], " of its bound, with silu ", worst[1]);
  for (const double each : worst) {
    CHECK(each < 1.0);
    CHECK(each > 0.3);
  }
}
