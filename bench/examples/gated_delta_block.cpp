// Qwen3-Next's gated delta block, from projections to projection. A prompt in one call or in several has the same bits.
#include <attend/layers.h>
#include <attend/linear_attention.h>

#include <cmath>
#include <cstdio>
#include <cstring>

namespace {

using attend::into, attend::Status;

struct Delta {  // Qwen3-Next has 16 heads of keys and 32 of values; with 2 and 4 GGUF's order would be its own inverse
  static constexpr auto rule = attend::LinearRule::gated_delta;
  static constexpr int query_heads = 2, kv_heads = 2, value_heads = 6, head_dim = 128, value_dim = 128;
};
constexpr int heads = Delta::value_heads, shared = heads / Delta::kv_heads, dims = Delta::head_dim, width = 64;
constexpr int keys = Delta::kv_heads * dims, values = heads * dims, prompt = 12, tokens = 20;
using Tokens = float[tokens][width];

struct Block {
  attend::Weights<keys, width> wq, wk;  // in_proj_qkvz and in_proj_ba in their parts
  attend::Weights<values, width> wv, wz;
  attend::Weights<heads, width> wb, wa;
  float conv_q[keys][4], conv_k[keys][4], conv_v[values][4];  // conv1d.weight in its parts
  float rates[heads], dt_bias[heads], norm[dims];             // rates are -e^A_log
  attend::Weights<width, values> wo;
};

// GGUF files have -e^A_log as ssm_a, and value head h of theirs has key head h mod kv_heads. Here value heads with the same key
// lie side by side: each takes its rows of values, gates and convolution, and its columns of the output, from where they are.
Block from_gguf(const Block& file) {
  Block block = file;
  const auto copy = [](const auto& from, auto& to) { std::memcpy(&to, &from, sizeof to); };
  for (int i = 0; i < values; ++i) {
    const int h = i / dims, from = h % shared * Delta::kv_heads + h / shared, row = from * dims + i % dims;
    copy(file.wv[row], block.wv[i]), copy(file.wz[row], block.wz[i]), copy(file.conv_v[row], block.conv_v[i]);
    copy(file.wb[from], block.wb[h]), copy(file.wa[from], block.wa[h]);
    copy(file.rates[from], block.rates[h]), copy(file.dt_bias[from], block.dt_bias[h]);
    for (int output = 0; output < width; ++output) block.wo[output][i] = file.wo[output][row];
  }
  return block;
}

struct State {  // all that is kept of a sequence
  attend::ConvState<keys, 4> query, key;
  attend::ConvState<values, 4> value;
  attend::LinearState<Delta> delta;
};

// x are the tokens after those that the state has taken.
template <int count>
Status run(const Block& b, const float (&x)[count][width], State& state, float (&y)[count][width]) {
  constexpr auto silu = attend::ConvActivation::silu;
  attend::Query<Delta, count> q, query;
  attend::Key<Delta, count> k, key;
  attend::Value<Delta, count> v, value, z;
  attend::Gates<Delta, count> gates;
  attend::Output<Delta, count> output;
  Status status = attend::project(x, into(b.wq, q), into(b.wk, k), into(b.wv, v), into(b.wz, z), into(b.wb, gates.beta),
                                  into(b.wa, gates.log_decay));
  if (status == Status::ok) status = attend::causal_conv<silu>(q, b.conv_q, attend::none, state.query, query);
  if (status == Status::ok) status = attend::causal_conv<silu>(k, b.conv_k, attend::none, state.key, key);
  if (status == Status::ok) status = attend::causal_conv<silu>(v, b.conv_v, attend::none, state.value, value);
  if (status == Status::ok) status = attend::l2_norm(query, query);
  if (status == Status::ok) status = attend::l2_norm(key, key);
  if (status != Status::ok) return status;
  attend::activate<attend::Activation::sigmoid>(gates.beta);
  attend::decay_gate(gates.log_decay, b.rates, b.dt_bias, gates.log_decay);
  status = attend::prefill(query, key, value, gates, state.delta, output);
  if (status == Status::ok) status = attend::gated_rms_norm<attend::GateOrder::last>(output, z, b.norm, output, 1e-6f);
  return status == Status::ok ? attend::project(output, b.wo, y) : status;
}

// How far outputs are from those in float64, one token after the other, of a file as it is; as a share of the largest.
double difference(const Block& b, bool gguf, const Tokens& x, const Tokens& found) {
  static double inputs[3][tokens][values], state[heads][dims][dims];
  std::memset(state, 0, sizeof state);
  double largest = 0, off = 0;
  for (int t = 0; t < tokens; ++t) {
    const auto dot = [&](const float(&row)[width]) {
      double sum = 0;
      for (int i = 0; i < width; ++i) sum += double(row[i]) * double(x[t][i]);
      return sum;
    };
    const auto convolved = [&](double(&rows)[tokens][values], const auto& weights, const auto& filter, int i) {
      double sum = 0;
      rows[t][i] = dot(weights[i]);
      for (int back = 0; back < 4 && back <= t; ++back) sum += double(filter[i][3 - back]) * rows[t - back][i];
      return sum / (1 + std::exp(-sum));
    };
    double y[width] = {};
    for (int h = 0; h < heads; ++h) {
      double q[dims], k[dims], o[dims] = {}, q_size = 1e-6, k_size = 1e-6, o_size = 1e-6;
      for (int d = 0, i = (gguf ? h % Delta::kv_heads : h / shared) * dims; d < dims; ++d, ++i) {
        q[d] = convolved(inputs[0], b.wq, b.conv_q, i), q_size += q[d] * q[d];
        k[d] = convolved(inputs[1], b.wk, b.conv_k, i), k_size += k[d] * k[d];
      }
      for (int d = 0; d < dims; ++d) q[d] /= std::sqrt(q_size * dims), k[d] /= std::sqrt(k_size);
      const double decay = std::exp(double(b.rates[h]) * std::log1p(std::exp(dot(b.wa[h]) + double(b.dt_bias[h]))));
      const double beta = 1 / (1 + std::exp(-dot(b.wb[h])));
      for (int c = 0; c < dims; ++c) {
        double had = 0;
        for (int d = 0; d < dims; ++d) had += k[d] * (state[h][d][c] *= decay);
        const double change = beta * (convolved(inputs[2], b.wv, b.conv_v, h * dims + c) - had);
        for (int d = 0; d < dims; ++d) o[c] += q[d] * (state[h][d][c] += k[d] * change);
        o_size += o[c] * o[c] / dims;
      }
      for (int c = 0, i = h * dims; c < dims; ++c, ++i) {
        const double z = dot(b.wz[i]);
        o[c] *= double(b.norm[c]) / std::sqrt(o_size) * z / (1 + std::exp(-z));
        for (int to = 0; to < width; ++to) y[to] += double(b.wo[to][i]) * o[c];
      }
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
  static Block file;
  static Tokens x, y;
  static struct { float first[prompt][width], then[tokens - prompt][1][width]; } pieces;
  fill(file, 0.25f), fill(x, 2.0f);
  for (float& rate : file.rates) rate -= 0.5f;
  for (int gguf = 0; gguf < 2; ++gguf) {
    const Block block = gguf ? from_gguf(file) : file;
    State whole, cut;
    std::memcpy(&pieces, x, sizeof pieces);
    Status status = run(block, x, whole, y);
    if (status == Status::ok) status = run(block, pieces.first, cut, pieces.first);
    for (auto& token : pieces.then) status = status == Status::ok ? run(block, token, cut, token) : status;
    const double off = difference(file, gguf, x, y);
    const bool same = std::memcmp(&pieces, y, sizeof y) == 0;
    std::printf("heads in %s order: token by token %s, within %.0e of float64\n", gguf ? "GGUF's" : "the model's",
                same ? "the same bits" : "OTHER BITS", off);
    if (status != Status::ok || !same || !(off < 1e-6)) return 1;
  }
}
