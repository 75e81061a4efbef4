// CausalConvWithState of ONNX and of ONNX Runtime. The library's convolution has channels side by side; here tokens lie so,
// unless channels_last says otherwise, and a block of both is turned in the first-level cache.
#include <attend/c/layers.h>
#include <attend/linear_attention/core_convolution.h>

#include <algorithm>

#include "operators.h"
#include "rows.h"

namespace attend_adapter::onnx {
namespace {

constexpr int64_t conv_block = 4096, conv_tokens = 128;  // numbers of a block, and its most tokens

// to[j][i] = from[i][j] for a block of 4 by 4; strides are from row to row.
inline void turn_block(const float* from, int64_t from_row, float* to, int64_t to_row) {
  float turned[4][4];
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) turned[j][i] = from[i * from_row + j];
  }
  for (int j = 0; j < 4; ++j) std::memcpy(to + j * to_row, turned[j], sizeof turned[j]);
}

// A tensor's rows are apart by a power of two, often, so that lines of many of them have one place in the cache: four at a
// time. outer: which side has them, and goes slowly, 0 is `from`.
template <int outer>
void turn(const float* from, int64_t from_row, int64_t rows, int64_t columns, float* to, int64_t to_row) {
  if (std::min(rows, columns) < 4) {  // a token, or a state
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) to[j * to_row + i] = from[i * from_row + j];
    }
    return;
  }
  const int64_t counts[] = {rows, columns};
  int64_t at[2];
  for (at[outer] = 0; at[outer] < counts[outer]; at[outer] += 4) {
    for (at[1 - outer] = 0; at[1 - outer] < counts[1 - outer]; at[1 - outer] += 4) {
      const int64_t i = at[0], j = at[1];
      if (rows - i >= 4 && columns - j >= 4) {
        turn_block(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
      } else {
        for (int64_t r = i; r < std::min(rows, i + 4); ++r) {
          for (int64_t c = j; c < std::min(columns, j + 4); ++c) to[c * to_row + r] = from[r * from_row + c];
        }
      }
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
    if (channels_last_ && width >= 2 && width <= core_width) {
      const Parallel parallel = call.parallel(double(channels * (tokens + width)) * double(width + 12));
      WorkMemory memory;
      float* const state = memory.numbers<float>(present != nullptr ? 1 : times(kept, channels));
      for (int64_t item = 0; item < batch; ++item) in_place(rows.of(item, 0), parallel, state);
      return;
    }
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

  void convolve(const attend::core::Convolution& call, int part, int parts) const {
    (silu_ ? attend::core::run_convolution<attend::ConvActivation::silu>
           : attend::core::run_convolution<attend::ConvActivation::identity>)(call, part, parts);
  }

  // All channels where they lie side by side, as the library has them. The state moves on where the new one goes, or in memory.
  void in_place(const Rows& rows, const Parallel& parallel, float* state) const {
    const std::size_t size = std::size_t((rows.width - 1) * rows.channels) * sizeof(float);
    state = rows.present != nullptr ? rows.present : state;
    if (rows.past == nullptr) {
      std::memset(state, 0, size);
    } else if (rows.past != state) {
      std::memcpy(state, rows.past, size);
    }
    attend::core::Convolution call{};
    call.input = rows.input, call.weights = rows.weight, call.bias = rows.bias, call.state = state, call.output = rows.output;
    call.channels = narrow(rows.channels), call.width = int(rows.width), call.tokens = narrow(rows.tokens);
    call.input_stride = call.output_stride = call.channels;
    parallel.each(parallel.threads, [&](int part) { convolve(call, part, parallel.threads); });
  }

  // Some channels, a few tokens at a time.
  void by_blocks(const Rows& rows, int64_t count, float* room) const {
    const int64_t kept = rows.width - 1;
    float *const state = room, *const in = state + count * kept, *const out = in + count * conv_tokens;
    std::fill(state, state + count * kept, 0.0f);
    if (rows.past != nullptr) turn<0>(rows.past, kept, count, kept, state, count);
    attend::core::Convolution call{};
    call.input = in, call.weights = rows.weight, call.bias = rows.bias, call.state = state;
    call.output = rows.output != nullptr ? out : nullptr;
    call.channels = int(count), call.width = int(rows.width), call.input_stride = call.output_stride = std::ptrdiff_t(count);
    for (int64_t t = 0; t < rows.tokens; t += conv_tokens) {
      const int64_t tokens = std::min(conv_tokens, rows.tokens - t);
      turn<0>(rows.input + t, rows.tokens, count, tokens, in, count);
      call.tokens = int(tokens);
      convolve(call, 0, 1);
      if (rows.output != nullptr) turn<1>(out, count, tokens, count, rows.output + t, rows.tokens);
    }
    if (rows.present != nullptr) turn<1>(state, count, kept, count, rows.present, kept);
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
