// A Mamba-2 block as in Granite 4, from projection to projection. A prompt in one call or in several has the same bits.
#include <attend/layers.h>
#include <attend/linear_attention.h>

#include <cmath>
#include <cstdio>
#include <cstring>

namespace {

using attend::into, attend::Status;

struct Mamba2 {  // as linear attention: queries are C, keys B, values delta x. Granite 4 has one group, which all heads share
  static constexpr auto rule = attend::LinearRule::gated;
  static constexpr int groups = 2, query_heads = groups, kv_heads = groups, value_heads = 8, head_dim = 128, value_dim = 64;
};
constexpr int groups = Mamba2::groups, heads = Mamba2::value_heads, dims = Mamba2::head_dim, columns = Mamba2::value_dim;
constexpr int width = 96, values = heads * columns, keys = groups * dims, prompt = 12, tokens = 20;
using Tokens = float[tokens][width];

struct Block {
  attend::Weights<values, width> wz, wx;  // in_proj in its parts: z, x, B, C, dt
  attend::Weights<keys, width> wb, wc;
  attend::Weights<heads, width> wdt;
  float conv_x[values][4], conv_b[keys][4], conv_c[keys][4];  // conv1d in its parts
  float bias_x[values], bias_b[keys], bias_c[keys];
  float rates[heads], dt_bias[heads], skips[heads];  // rates are -e^A_log, skips D
  float norm[values];
  attend::Weights<width, values> wo;
};

struct State {  // all that is kept of a sequence
  attend::ConvState<values, 4> x;
  attend::ConvState<keys, 4> b, c;
  attend::LinearState<Mamba2> scan;
};

// The tokens of `input` are those after what the state has taken.
template <int count>
Status run(const Block& w, const float (&input)[count][width], State& state, float (&y)[count][width]) {
  constexpr auto silu = attend::ConvActivation::silu;
  attend::Query<Mamba2, count> c_in, c;
  attend::Key<Mamba2, count> b_in, b;
  attend::Value<Mamba2, count> x_in, x, z;
  attend::Gates<Mamba2, count> gates;
  attend::Output<Mamba2, count> output;
  float delta[count][heads];
  attend::LinearOptions options;
  options.scale = 1.0f;
  const float one[] = {1.0f};
  Status status =
      attend::project(input, into(w.wz, z), into(w.wx, x_in), into(w.wb, b_in), into(w.wc, c_in), into(w.wdt, delta));
  if (status == Status::ok) status = attend::causal_conv<silu>(x_in, w.conv_x, w.bias_x, state.x, x);
  if (status == Status::ok) status = attend::causal_conv<silu>(b_in, w.conv_b, w.bias_b, state.b, b);
  if (status == Status::ok) status = attend::causal_conv<silu>(c_in, w.conv_c, w.bias_c, state.c, c);
  if (status != Status::ok) return status;
  attend::decay_gate(delta, w.rates, w.dt_bias, gates.log_decay);
  attend::decay_gate(delta, one, w.dt_bias, delta);  // softplus(dt + dt_bias)
  attend::multiply(x, delta, x_in);                  // each head by its delta
  status = attend::prefill(c, b, x_in, gates, state.scan, output, options);
  for (int i = 0; i < count * heads; ++i)
    attend::add(x[i / heads][i % heads], output[i / heads][i % heads], w.skips[i % heads]);
  if (status == Status::ok) status = attend::gated_rms_norm<attend::GateOrder::first, groups>(output, z, w.norm, output);
  return status == Status::ok ? attend::project(output, w.wo, y) : status;
}

// How far outputs are from those in float64, one token after the other; as a share of the largest.
double difference(const Block& w, const Tokens& input, const Tokens& found) {
  static double rows[3][tokens][values], state[heads][dims][columns];
  double largest = 0, off = 0;
  for (int t = 0; t < tokens; ++t) {
    const auto dot = [&](const float(&row)[width]) {
      double sum = 0;
      for (int i = 0; i < width; ++i) sum += double(row[i]) * double(input[t][i]);
      return sum;
    };
    const auto convolved = [&](int which, const auto& weights, const auto& filter, const float* bias, int i) {
      double sum = double(bias[i]);
      rows[which][t][i] = dot(weights[i]);
      for (int back = 0; back < 4 && back <= t; ++back) sum += double(filter[i][3 - back]) * rows[which][t - back][i];
      return sum / (1 + std::exp(-sum));
    };
    double o[values] = {}, sizes[groups] = {}, y[width] = {};
    for (int h = 0; h < heads; ++h) {
      const double delta = std::log1p(std::exp(dot(w.wdt[h]) + double(w.dt_bias[h]))),
                   decay = std::exp(delta * double(w.rates[h]));
      const int group = h / (heads / groups);
      double x[columns];
      for (int c = 0; c < columns; ++c) x[c] = convolved(0, w.wx, w.conv_x, w.bias_x, h * columns + c);
      for (int d = 0; d < dims; ++d) {
        const double key = convolved(1, w.wb, w.conv_b, w.bias_b, group * dims + d) * delta;
        const double query = convolved(2, w.wc, w.conv_c, w.bias_c, group * dims + d);
        for (int c = 0; c < columns; ++c) o[h * columns + c] += query * (state[h][d][c] = decay * state[h][d][c] + key * x[c]);
      }
      for (int c = 0, i = h * columns; c < columns; ++c, ++i) {
        const double z = dot(w.wz[i]);
        o[i] = (o[i] + double(w.skips[h]) * x[c]) * z / (1 + std::exp(-z));
        sizes[group] += o[i] * o[i] / (values / groups);
      }
    }
    for (int i = 0; i < values; ++i) {
      const double normal = o[i] / std::sqrt(sizes[i / (values / groups)] + 1e-5) * double(w.norm[i]);
      for (int to = 0; to < width; ++to) y[to] += double(w.wo[to][i]) * normal;
    }
    for (int i = 0; i < width; ++i)
      largest = std::fmax(largest, std::fabs(y[i])), off = std::fmax(off, std::fabs(y[i] - double(found[t][i])));
  }
  return off / largest;
}

// Uniform numbers in the place of a checkpoint, the same on every machine.
template <class Floats>
void fill(Floats& floats, float scale) {
  static unsigned seed = 1;
  for (float* number = reinterpret_cast<float*>(&floats); number != reinterpret_cast<float*>(&floats + 1); ++number)
    *number = float(int((seed = seed * 1664525u + 1013904223u) >> 16) - 32768) / 32768.0f * scale;
}

}  // namespace

int main() {
  static Block block;
  static State whole, cut;
  static Tokens x, y;
  static struct { float first[prompt][width], then[tokens - prompt][1][width]; } pieces;
  fill(block, 0.25f), fill(x, 2.0f);
  for (float& rate : block.rates) rate -= 0.5f;
  std::memcpy(&pieces, x, sizeof pieces);
  Status status = run(block, x, whole, y);
  if (status == Status::ok) status = run(block, pieces.first, cut, pieces.first);
  for (auto& token : pieces.then) status = status == Status::ok ? run(block, token, cut, token) : status;
  const double off = difference(block, x, y);
  const bool same = std::memcmp(&pieces, y, sizeof y) == 0;
  std::printf("token by token %s, within %.0e of float64\n", same ? "the same bits" : "OTHER BITS", off);
  return status == Status::ok && same && off < 1e-6 ? 0 : 1;
}
