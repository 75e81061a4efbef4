// Causal convolution: vectors hold channels. The sum of an output begins with the bias, or 0, and takes its inputs by fused
// multiply-adds, the oldest first.
//
// A block of channels passes over all tokens, row by row: its weights, turned so that those of one input lie side by side, and
// its last rows stay in the first-level cache, and what is read from memory and written to it lies in a row.

// The weights of a block and a row of 0; and the width that hosts unroll.
constexpr int conv_floats = config::embedded ? 96 : config::decode_stack_floats, usual_width = config::embedded ? 0 : 4;

// Vectors that take silu side by side.
template <class Isa>
constexpr int side_by_side = config::embedded || Isa::lanes == 1 ? 1
                             : Isa::lanes == 16                  ? 8
                                                                 : 4;

// to[j][channel] = weights[channel][j]
template <class Isa>
ATTEND_NOINLINE void turn_weights(const float* weights, int width, int count, float* to) {
  int i = 0;
  if constexpr (Isa::lanes > 1 && !config::embedded) {
    if constexpr (Isa::transposes_rows) {
      for (; width == 4 && count - i >= Isa::lanes; i += Isa::lanes) {
        typename Isa::Vec columns[4];
        Isa::columns_of_rows(weights + 4 * i, 4, columns);
        ATTEND_UNROLL
        for (int j = 0; j < 4; ++j) Isa::store(to + j * count + i, columns[j]);
      }
    }
  }
  for (; i < count; ++i) {
    for (int j = 0; j < width; ++j) to[j * count + i] = weights[i * width + j];
  }
}

// One token's outputs: rows[j] is the input of weight j.
template <class Isa, ConvActivation activation, int known>
ATTEND_HOT ATTEND_NOINLINE void convolve_row(const float* const* rows, const float* weights, const float* bias, int width,
                                             int count, float* to) {
  using Vec = typename Isa::Vec;
  const auto sum_at = [&](int i, int lanes) ATTEND_INLINE_LAMBDA {
    Vec sum = bias == nullptr ? Isa::zero() : load_some<Isa>(bias + i, lanes);
    const auto take = [&](int j) ATTEND_INLINE_LAMBDA {
      sum = Isa::fma(load_some<Isa>(weights + j * count + i, lanes), load_some<Isa>(rows[j] + i, lanes), sum);
    };
    if constexpr (known > 0) {
      ATTEND_UNROLL
      for (int j = 0; j < known; ++j) take(j);
    } else {
      for (int j = 0; j < width; ++j) take(j);
    }
    return sum;
  };
  int begin = 0;
  constexpr int vecs = side_by_side<Isa>;
  if constexpr (activation == ConvActivation::silu && vecs > 1) {
    for (; count - begin >= vecs * Isa::lanes; begin += vecs * Isa::lanes) {
      Vec sums[vecs];
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) sums[v] = sum_at(begin + v * Isa::lanes, Isa::lanes);
      silu<Isa, vecs>(sums);
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) Isa::store(to + begin + v * Isa::lanes, sums[v]);
    }
  }
  for_each_vector<Isa>(count - begin, [&](int i, int lanes) ATTEND_INLINE_LAMBDA {
    Vec sum = sum_at(begin + i, lanes);
    if constexpr (activation == ConvActivation::silu) sum = silu<Isa>(sum);
    store_some<Isa>(to + begin + i, sum, lanes);
  });
}

template <class Isa, ConvActivation activation>
ATTEND_NOINLINE void convolve_block(const core::Convolution& c, int channel, int count) {
  alignas(config::alignment) float weights[conv_floats];
  float* const zeros = weights + c.width * count;
  fill_row<Isa>(0.0f, count, zeros);
  if (c.output != nullptr) turn_weights<Isa>(c.weights + ptrdiff_t(channel) * c.width, c.width, count, weights);
  const float* from = c.state != nullptr ? c.state : c.from;
  int begin = c.first, document = 1, token = c.first;
  // The input of a token, at least width - 1 tokens before the first one: what the state has, or 0.
  const auto row = [&](int t) ATTEND_INLINE_LAMBDA -> const float* {
    if (t >= begin) return c.input + t * c.input_stride + channel;
    return from == nullptr ? zeros : from + ptrdiff_t(t - begin + c.width - 1) * c.channels + channel;
  };
  for (;; ++token) {
    for (; document < c.documents && c.boundaries[document] <= token; ++document) begin = token, from = nullptr;
    if (token >= c.tokens) break;
    if (c.output == nullptr) continue;
    const float* rows[core::most_conv_width];
    for (int j = 0; j < c.width; ++j) rows[j] = row(token + 1 - c.width + j);
    const float* const bias = c.bias == nullptr ? nullptr : c.bias + channel;
    float* const to = c.output + token * c.output_stride + channel;
    if (c.width == usual_width) {
      convolve_row<Isa, activation, usual_width>(rows, weights, bias, c.width, count, to);
    } else {
      convolve_row<Isa, activation, 0>(rows, weights, bias, c.width, count, to);
    }
  }
  for (int j = 0; j < c.width - 1 && c.state != nullptr; ++j) {  // each row comes from one that is not written before it
    copy_row<Isa>(row(token + 1 - c.width + j), count, c.state + ptrdiff_t(j) * c.channels + channel);
  }
}

template <class Isa, ConvActivation activation>
void convolve_channels(const core::Convolution& call, int part, int parts) {
  const int panels = core::panel_count(call.channels), most = conv_floats / (call.width + 1) / Isa::lanes * Isa::lanes;
  const int end = at_most(count_before(panels, part + 1, parts).whole * panel_keys, call.channels);
  for (int channel = count_before(panels, part, parts).whole * panel_keys; channel < end; channel += most) {
    convolve_block<Isa, activation>(call, channel, at_most(end - channel, most));
  }
}
