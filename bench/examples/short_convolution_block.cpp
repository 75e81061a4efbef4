// LFM2's short convolution block, from projection to projection. A prompt in one call or in several has the same bits.
#include <attend/layers.h>
#include <attend/linear_attention.h>

#include <cmath>
#include <cstdio>
#include <cstring>

namespace {

using attend::into, attend::Status;

constexpr int width = 96, taps = 3, prompt = 12, tokens = 20;
using Tokens = float[tokens][width];

struct Block {
  attend::Weights<width, width> wb, wc, wx, wo;  // in_proj in its parts, B, C and x; then out_proj
  float conv[width][taps];
};

// The tokens of `input` are those after what the state has taken.
template <int count>
Status run(const Block& w, const float (&input)[count][width], attend::ConvState<width, taps>& state,
           float (&y)[count][width]) {
  float b[count][width], c[count][width], x[count][width], convolved[count][width];
  Status status = attend::project(input, into(w.wb, b), into(w.wc, c), into(w.wx, x));
  if (status != Status::ok) return status;
  attend::multiply(b, x, b);
  status = attend::causal_conv(b, w.conv, attend::none, state, convolved);
  if (status != Status::ok) return status;
  attend::multiply(c, convolved, c);
  return attend::project(c, w.wo, y);
}

// How far outputs are from those in float64, one token after the other; as a share of the largest.
double difference(const Block& w, const Tokens& input, const Tokens& found) {
  static double inputs[tokens][width];
  double largest = 0, off = 0;
  for (int t = 0; t < tokens; ++t) {
    const auto dot = [&](const float(&row)[width]) {
      double sum = 0;
      for (int i = 0; i < width; ++i) sum += double(row[i]) * double(input[t][i]);
      return sum;
    };
    double y[width] = {};
    for (int i = 0; i < width; ++i) {
      double sum = 0;
      inputs[t][i] = dot(w.wb[i]) * dot(w.wx[i]);
      for (int back = 0; back < taps && back <= t; ++back) sum += double(w.conv[i][taps - 1 - back]) * inputs[t - back][i];
      for (int to = 0; to < width; ++to) y[to] += double(w.wo[to][i]) * dot(w.wc[i]) * sum;
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
  static Tokens x, y;
  static struct { float first[prompt][width], then[tokens - prompt][1][width]; } pieces;
  attend::ConvState<width, taps> whole, cut;
  fill(block, 0.25f), fill(x, 2.0f);
  std::memcpy(&pieces, x, sizeof pieces);
  Status status = run(block, x, whole, y);
  if (status == Status::ok) status = run(block, pieces.first, cut, pieces.first);
  for (auto& token : pieces.then) status = status == Status::ok ? run(block, token, cut, token) : status;
  const double off = difference(block, x, y);
  const bool same = std::memcmp(&pieces, y, sizeof y) == 0;
  std::printf("token by token %s, within %.0e of float64\n", same ? "the same bits" : "OTHER BITS", off);
  return status == Status::ok && same && off < 1e-6 ? 0 : 1;
}
