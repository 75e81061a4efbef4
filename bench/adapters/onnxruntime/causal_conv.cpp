// CausalConvWithState of ONNX and of ONNX Runtime. The library's convolution has channels side by side; here tokens lie so,
// unless channels_last says otherwise, and a block of both is turned in the first-level cache.
#include <attend/c/layers.h>
#include <attend/linear_attention/core_convolution.h>

#include <algorithm>

#include "operators.h"
#include "rows.h"

namespace attend_adapter::onnx {
namespace {

constexpr int64_t conv_block = 4096, conv_tokens = 64;  // numbers of a block, and its most tokens

// to[j][i] = from[i][j]; strides are from row to row.
void turn(const float* from, int64_t from_row, int64_t rows, int64_t columns, float* to, int64_t to_row) {
  for (int64_t i = 0; i < rows; i += 8) {
    const int64_t end = std::min(rows, i + 8);
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t r = i; r < end; ++r) to[j * to_row + r] = from[r * from_row + j];
    }
  }
}

class CausalConv : public Operator {
 public:
  explicit CausalConv(const Attributes& attributes) : channels_last_(attributes.flag("channels_last")) {
    const std::string activation = attributes.text("activation", "none");
    silu_ = activation == "silu" || activation == "swish";
    if (!silu_ && activation != "none") Attributes::refuse_value("activation", activation, "none, silu or swish");
    attributes.only("ndim", 1);  // other kinds are left to others
    attributes.only("dilation", 1);
    attributes.only("state_window", 0);
  }

  void compute(Call& call) const override {
    const Tensor x = call.required(0, "input"), weight = call.required(1, "weight");
    const Tensor bias = call.optional(2, "bias"), past = call.optional(3, "past_state");
    expect(x.shape.rank() == 3, "input must have 3 axes, it is " + x.shape.text());
    const int64_t batch = x.shape[0], channels = x.shape[channels_last_ ? 2 : 1], tokens = x.shape[channels_last_ ? 1 : 2];
    expect(weight.shape.rank() == 3 && weight.shape[0] == channels && weight.shape[1] == 1 && weight.shape[2] >= 1,
           "weight must be [channels, 1, width], it is " + weight.shape.text() + " for an input of " + x.shape.text());
    const int64_t width = weight.shape[2], kept = width - 1;
    expect(!bias || bias.shape == Shape{channels}, "bias must have a number for each channel, it is " + bias.shape.text());
    const Shape states = channels_last_ ? Shape{batch, kept, channels} : Shape{batch, channels, kept};
    expect(!past || past.shape == states, "past_state must be " + states.text() + ", it is " + past.shape.text());
    float* const y = call.output(0, x.shape);
    float* const present = call.output(1, states);
    if (channels == 0) return;
    Rows rows{};
    rows.input = x.floats(), rows.weight = weight.floats(), rows.bias = bias ? bias.floats() : nullptr;
    rows.past = past ? past.floats() : nullptr, rows.output = y, rows.present = present;
    rows.channels = channels, rows.tokens = tokens, rows.width = width;
    // From channel to channel, and from token to token.
    rows.by_channel = channels_last_ ? 1 : tokens, rows.by_token = channels_last_ ? channels : 1;
    rows.state_by_channel = channels_last_ ? 1 : kept, rows.state_by_token = channels_last_ ? channels : 1;
    const int64_t wide = std::max<int64_t>(32, conv_block / std::clamp<int64_t>(tokens, 1, conv_tokens));
    const int64_t blocks = (channels + wide - 1) / wide;
    for_pieces(call, times(batch, blocks), double(wide * (tokens + width)) * double(width + 12),
               [&](int64_t first, int64_t end) {
                 WorkMemory memory;
                 float* const room =
                     memory.numbers<float>(times(wide, kept + 2 * std::max(conv_tokens, kept)) + kept + tokens + tokens);
                 for (int64_t i = first; i < end; ++i) {
                   const int64_t channel = i % blocks * wide, count = std::min(wide, channels - channel);
                   const Rows own = rows.of(i / blocks, channel);
                   if (width < 2 || width > core_width) {
                     for (int64_t c = 0; c < count; ++c) by_taps(own.of(0, c), room);
                   } else {
                     by_blocks(own, count, room);
                   }
                 }
               });
  }

 private:
  static constexpr int64_t core_width = attend::core::most_conv_width;

  struct Rows {
    const float *input, *weight, *bias, *past;
    float *output, *present;  // null where there is none
    int64_t channels, tokens, width, by_channel, by_token, state_by_channel, state_by_token;

    Rows of(int64_t item, int64_t channel) const {
      Rows moved = *this;
      const int64_t at = item * channels * tokens + channel * by_channel;
      const int64_t state_at = item * channels * (width - 1) + channel * state_by_channel;
      moved.input += at, moved.weight += channel * width;
      if (bias != nullptr) moved.bias += channel;
      if (past != nullptr) moved.past += state_at;
      if (output != nullptr) moved.output += at;
      if (present != nullptr) moved.present += state_at;
      return moved;
    }
  };

  // Some channels, a few tokens at a time.
  void by_blocks(const Rows& rows, int64_t count, float* room) const {
    const int64_t kept = rows.width - 1;
    float *const state = room, *const in = state + count * kept, *const out = in + count * conv_tokens;
    const auto rows_of = [&](const float* from, int64_t by_channel, int64_t by_token, int64_t tokens, float* to) {
      if (by_token == 1) return turn(from, by_channel, count, tokens, to, count);
      for (int64_t t = 0; t < tokens; ++t) std::memcpy(to + t * count, from + t * by_token, std::size_t(count) * sizeof(float));
    };
    const auto rows_to = [&](const float* from, int64_t by_channel, int64_t by_token, int64_t tokens, float* to) {
      if (by_token == 1) return turn(from, count, tokens, count, to, by_channel);
      for (int64_t t = 0; t < tokens; ++t) std::memcpy(to + t * by_token, from + t * count, std::size_t(count) * sizeof(float));
    };
    std::fill(state, state + count * kept, 0.0f);
    if (rows.past != nullptr) rows_of(rows.past, rows.state_by_channel, rows.state_by_token, kept, state);
    attend::core::Convolution call{};
    call.input = in, call.weights = rows.weight, call.bias = rows.bias, call.state = state;
    call.output = rows.output != nullptr ? out : nullptr;
    call.channels = int(count), call.width = int(rows.width);
    for (int64_t t = 0; t < rows.tokens; t += conv_tokens) {
      const int64_t tokens = std::min(conv_tokens, rows.tokens - t);
      rows_of(rows.input + t * rows.by_token, rows.by_channel, rows.by_token, tokens, in);
      call.tokens = int(tokens);
      (silu_ ? attend::core::run_convolution<attend::ConvActivation::silu>
             : attend::core::run_convolution<attend::ConvActivation::identity>)(call, 0, 1);
      if (rows.output != nullptr) rows_to(out, rows.by_channel, rows.by_token, tokens, rows.output + t * rows.by_token);
    }
    if (rows.present != nullptr) rows_to(state, rows.state_by_channel, rows.state_by_token, kept, rows.present);
  }

  // One channel, of a width that the library's convolution does not have: one weight after the other over all tokens.
  void by_taps(const Rows& rows, float* room) const {
    const int64_t kept = rows.width - 1;
    float *const padded = room, *const sums = padded + kept + rows.tokens;
    for (int64_t i = 0; i < kept; ++i) padded[i] = rows.past != nullptr ? rows.past[i * rows.state_by_token] : 0;
    for (int64_t i = 0; i < rows.tokens; ++i) padded[kept + i] = rows.input[i * rows.by_token];
    std::fill(sums, sums + rows.tokens, rows.bias != nullptr ? *rows.bias : 0.0f);
    for (int64_t j = 0; j < rows.width; ++j) attend_add(padded + j, rows.weight[j], rows.tokens, sums);
    if (silu_) attend_activate(ATTEND_SILU, sums, nullptr, rows.tokens, sums);
    for (int64_t i = 0; i < rows.tokens && rows.output != nullptr; ++i) rows.output[i * rows.by_token] = sums[i];
    for (int64_t i = 0; i < kept && rows.present != nullptr; ++i)
      rows.present[i * rows.state_by_token] = padded[rows.tokens + i];
  }

  bool silu_, channels_last_;
};

std::unique_ptr<Operator> make_causal_conv(const Attributes& attributes) { return std::make_unique<CausalConv>(attributes); }

}  // namespace

const Definition operators::causal_conv = {
    "CausalConvWithState",
    {{"", 27, 27, {{"T", {float32}}}, 4, 2}, {"com.microsoft", 1, 1, {{"T", {float32}}}, 4, 2}},
    make_causal_conv};

}  // namespace attend_adapter::onnx
