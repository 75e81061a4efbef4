// Causal convolution in integers: each token's sums channel by channel, over the rows of its last inputs.
#include "../../include/attend/linear_attention/core_integer_convolution.h"
#include "../call/portable.h"
#include "list.h"

namespace attend::core {
namespace {

static_assert(most_conv_bias + most_conv_width * 128 * 128 < 1 << 30, "twice a sum has 32 bits");
constexpr int usual_width = code_is_small ? 0 : 4;

// rows: of weights first … width - 1.
template <int known>
ATTEND_HOT void convolve_row(const IntegerConvolution& c, const int8_t* const* rows, int first, int channel, int end,
                             int8_t* to) {
  const int8_t* const row[4] = {rows[0], rows[1], rows[known == 4 ? 2 : 0], rows[known == 4 ? 3 : 0]};
  for (const int8_t* weights = c.weights + ptrdiff_t(channel) * c.width; channel < end; ++channel, weights += c.width) {
    uint32_t sum = c.bias == nullptr ? 0 : uint32_t(c.bias[channel]);
    if constexpr (known == 4) {
      ATTEND_UNROLL
      for (int j = 0; j < known; ++j) sum += uint32_t(weights[j] * row[j][channel]);
    } else {
      for (int j = first; j < c.width; ++j) sum += uint32_t(weights[j] * rows[j][channel]);
    }
    const ConvScale& by = c.scales[channel * c.scale_stride];
    const int32_t number = (portable::high_product(int32_t(sum * 2), by.factor) + (1 << (by.right - 1))) >> by.right;
    const int32_t in_range = portable::clamped(number, -128, 127);
    to[channel] = c.table == nullptr ? int8_t(in_range) : c.table[in_range + 128];
  }
}

}  // namespace

void run_convolution(const IntegerConvolution& c, int part, int parts) {
  const int panels = panel_count(c.channels), channel = count_before(panels, part, parts).whole * panel_keys;
  const int end_channel = at_most(count_before(panels, part + 1, parts).whole * panel_keys, c.channels);
  const int8_t* from = c.state != nullptr ? c.state : c.from;
  int begin = c.first;
  // The input of a token, at least width - 1 tokens before the first one; null where it is 0.
  const auto row = [&](int t) -> const int8_t* {
    if (t >= begin) return c.input + ptrdiff_t(t) * c.channels;
    return from == nullptr ? nullptr : from + ptrdiff_t(t - begin + c.width - 1) * c.channels;
  };
  for_each_document(c, [&](bool begins, int token, int end) {
    if (begins) begin = token, from = nullptr;
    for (; token < end && c.output != nullptr; ++token) {
      const int8_t* rows[most_conv_width];
      int absent = 0;
      for (int j = 0; j < c.width; ++j) absent += (rows[j] = row(token + 1 - c.width + j)) == nullptr;
      int8_t* const to = c.output + ptrdiff_t(token) * c.channels;
      if (absent == 0 && c.width == usual_width) {
        convolve_row<usual_width>(c, rows, 0, channel, end_channel, to);
      } else {
        convolve_row<0>(c, rows, absent, channel, end_channel, to);
      }
    }
  });
  for (int j = 0; j < c.width - 1 && c.state != nullptr; ++j) {  // each row comes from one that is not written before it
    const int8_t* const last = row(c.tokens + 1 - c.width + j);
    for (int i = channel; i < end_channel; ++i) c.state[ptrdiff_t(j) * c.channels + i] = last == nullptr ? int8_t(0) : last[i];
  }
}

}  // namespace attend::core
