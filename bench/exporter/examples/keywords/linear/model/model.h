// The model of keywords with gated delta attention in the place of softmax (train_linear.py), as a stream: it takes one token,
// 40 ms of sound, after another, in memory that never grows.
//
//   Stream<float>            floats, with weights of 8 bits
//   Stream<attend::integer>  projections and attention in integers of 8 bits, and floats between them: convolution, gates,
//                            norms, activations, sums
#pragma once

#include "attend/layers.h"
#include "attend/linear_attention.h"

namespace keywords {
namespace linear {

using attend::Status;
constexpr int width = 48, heads = 4, taps = 4, hidden = 112, inputs = 144, kinds = 13, blocks = 2;

struct Delta {
  static constexpr auto rule = attend::LinearRule::gated_delta;
  static constexpr int query_heads = heads, kv_heads = heads, head_dim = width / heads, value_dim = head_dim;
};
// What goes through the convolution, and all that the first projection of a block gives.
struct Mixed {
  attend::Query<Delta> query;
  attend::Key<Delta> key;
  attend::Value<Delta> value;
};
struct Projected {
  Mixed mixed;
  float decay[heads], beta[heads], gate[heads][Delta::value_dim];
};
constexpr int projected = int(sizeof(Projected) / sizeof(float));
using Gates = attend::Gates<Delta>;
using Output = attend::Output<Delta>;

// All numbers of an array, or of a struct of arrays, side by side.
template <class Number, class Arrays>
auto& row(Arrays& arrays) {
  return reinterpret_cast<Number(&)[sizeof arrays / sizeof(Number)]>(arrays);
}

// The nearest integers of x * factor, clamped. The library's multiply-add rounds once, whatever compilers make of a product.
template <class From, class To>
void to_integers(const From& x, float factor, To& y) {
  constexpr float point = 12582912.0f;
  float moved[sizeof y];
  for (float& number : moved) number = point;
  attend::add(row<const float>(x), moved, factor);
  for (size_t i = 0; i < sizeof y; ++i) {
    const float number = moved[i] - point;
    row<int8_t>(y)[i] = int8_t(number > -127.0f ? number < 127.0f ? int(number) : 127 : -127);
  }
}
template <class From, class To>
void to_floats(const From& x, float scale, To& y) {
  for (size_t i = 0; i < sizeof y / sizeof(float); ++i) row<float>(y)[i] = float(x[i]) * scale;
}

template <class Numbers, int outputs, int inputs>
struct Projection {  // of floats
  attend::Weights<outputs, inputs, attend::int8> weights;
  float bias[size_t(outputs)];

  constexpr Projection(const attend::Weights<outputs, inputs, attend::integer>& from, const double (&steps)[size_t(outputs)],
                       double input_scale, double)
      : weights{}, bias{} {
    for (int o = 0; o < outputs; ++o) {
      for (int i = 0; i < inputs; ++i) weights.data[o][i] = from.data[o][i];
      weights.scales[o] = float(steps[o]);
      bias[o] = float(from.bias[o] * (input_scale * steps[o]));
    }
  }
  Status operator()(const float (&x)[size_t(inputs)], float (&y)[size_t(outputs)]) const {
    return attend::project(x, weights, bias, y);
  }
};

template <int outputs, int inputs>
struct Projection<attend::integer, outputs, inputs> {
  attend::Weights<outputs, inputs, attend::integer> weights;
  attend::ProjectionScales<outputs> scales;
  float factor, output_scale;

  constexpr Projection(const attend::Weights<outputs, inputs, attend::integer>& from, const double (&steps)[size_t(outputs)],
                       double input_scale, double output)
      : weights(from),
        scales({input_scale, 0}, steps, {output, 0}),
        factor(float(1 / input_scale)),
        output_scale(float(output)) {}
  Status operator()(const float (&x)[size_t(inputs)], float (&y)[size_t(outputs)]) const {
    attend::Vectors<1, inputs, int8_t> from;
    attend::Vectors<1, outputs, int16_t> to;
    to_integers(x, factor, from);
    const Status status = attend::project(from, weights, scales, to);
    to_floats(to[0], output_scale, y);
    return status;
  }
};

template <class Numbers>
struct Attention {  // in floats
  using State = attend::LinearState<Delta>;
  constexpr Attention(const double (&)[heads], const double (&)[heads]) {}
  Status operator()(const Mixed& token, const Gates& gates, State& state, Output& output) const {
    return attend::decode(token.query, token.key, token.value, gates, state, output);
  }
};

template <>
struct Attention<attend::integer> {
  using Shape = attend::Integer<Delta>;
  using State = attend::LinearState<Shape>;
  attend::LinearQuantisation<Shape, heads> scales;
  float value_factor[heads], output_scale[heads];

  constexpr Attention(const double (&of_values)[heads], const double (&of_outputs)[heads])
      : scales(1.0 / 127, 1.0 / 127, of_values[0], of_outputs[0]), value_factor{}, output_scale{} {
    for (int head = 0; head < heads; ++head) {
      scales.set_head(head, 1.0 / 127, 1.0 / 127, of_values[head], of_outputs[head]);
      value_factor[head] = float(1 / of_values[head]), output_scale[head] = float(of_outputs[head]);
    }
  }
  Status operator()(const Mixed& token, const Gates& gates, State& state, Output& output) const {
    attend::Query<Shape> queries;
    attend::Key<Shape> keys;
    attend::Value<Shape> values;
    attend::Gates<Shape> of_15_bits;
    attend::Output<Shape> read;
    to_integers(token.query, 127.0f, queries);
    to_integers(token.key, 127.0f, keys);
    float decay[heads];
    attend::activate<attend::Activation::exp>(gates.log_decay[0], decay);
    for (int head = 0; head < heads; ++head) {
      to_integers(token.value[0][head], value_factor[head], values[0][head]);
      of_15_bits.decay[0][head] = uint16_t(decay[head] * 32768.0f + 0.5f);
      of_15_bits.beta[0][head] = uint16_t(gates.beta[0][head] * 32768.0f + 0.5f);
    }
    const Status status = attend::decode(queries, keys, values, of_15_bits, state, read, scales);
    for (int head = 0; head < heads; ++head) to_floats(read[0][head], output_scale[head], output[0][head]);
    return status;
  }
};

template <class Numbers>
struct Block {
  Projection<Numbers, projected, width> input;
  float taps[3 * width * linear::taps], rates[heads], bias[heads], norm[Delta::value_dim];
  Attention<Numbers> attention;
  Projection<Numbers, width, width> output;
  Projection<Numbers, hidden, width> up;
  Projection<Numbers, width, hidden> down;
};

template <class Numbers>
struct Weights {
  Projection<Numbers, width, inputs> input;
  Block<Numbers> block[blocks];
  Projection<Numbers, kinds, width> output;
};
// Both have the same numbers; a program holds those that it takes.
extern const Weights<float> floats;
extern const Weights<attend::integer> integers;
inline const Weights<float>& weights_of(float*) { return floats; }
inline const Weights<attend::integer>& weights_of(attend::integer*) { return integers; }

// The first status that is not ok.
struct Checks {
  Status status = Status::ok;
  void operator()(Status next) { status = status == Status::ok ? next : status; }
};

template <class Numbers>
class Stream {
 public:
  Status append(const float (&frames)[inputs], float (&logits)[kinds]) {
    const Weights<Numbers>& weights = weights_of(static_cast<Numbers*>(nullptr));
    Checks check;
    float x[width], normal[width];
    check(weights.input(frames, x));
    for (int i = 0; i < blocks; ++i) check(pass(weights.block[i], memories_[i], x));
    check(attend::layer_norm(x, attend::none, attend::none, normal));
    check(weights.output(normal, logits));
    return check.status;
  }
  void clear() {
    for (Memory& memory : memories_) memory.convolution.clear(), memory.attention.clear();
  }

 private:
  struct Memory {
    attend::ConvState<3 * width, taps> convolution;
    typename Attention<Numbers>::State attention;
  };
  static Status pass(const Block<Numbers>& block, Memory& memory, float (&x)[width]) {
    constexpr auto silu = attend::ConvActivation::silu;
    const auto& filter = reinterpret_cast<const float(&)[3 * width][taps]>(block.taps);
    Checks check;
    Projected part;
    Mixed mixed;
    Gates gates;
    Output output;
    float normal[width], opened[hidden], y[width];
    check(attend::layer_norm(x, attend::none, attend::none, normal));
    check(block.input(normal, row<float>(part)));
    check(attend::causal_conv<silu>(row<float>(part.mixed), filter, attend::none, memory.convolution, row<float>(mixed)));
    check(attend::l2_norm(mixed.query, mixed.query)), check(attend::l2_norm(mixed.key, mixed.key));
    attend::decay_gate(part.decay, block.rates, block.bias, gates.log_decay);
    attend::activate<attend::Activation::sigmoid>(part.beta, gates.beta[0]);
    check(block.attention(mixed, gates, memory.attention, output));
    check(attend::gated_rms_norm<attend::GateOrder::last>(output, part.gate, block.norm, output));
    check(block.output(row<const float>(output), y));
    attend::add(y, x);
    check(attend::layer_norm(x, attend::none, attend::none, normal));
    check(block.up(normal, opened));
    attend::activate<attend::Activation::gelu>(opened);
    check(block.down(opened, y));
    attend::add(y, x);
    return check.status;
  }
  Memory memories_[blocks];
};

}  // namespace linear
}  // namespace keywords
