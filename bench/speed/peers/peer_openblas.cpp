// OpenBLAS: its products, on one thread, around a softmax that the compiler vectorises.
#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "../compose.h"

namespace bench {
namespace {

// exp(x) for x <= 0 within 3e-7, inlined, so that a softmax is a small part of the time and the products are what is timed.
// Maxima are chosen by ?: below, because GCC makes a vector loop of that and not of std::max.
inline float exp_of(float x) {
  const float scaled = x * 1.44269504f < -126.0f ? -126.0f : x * 1.44269504f;
  const float whole = std::floor(scaled + 0.5f), part = scaled - whole;
  float power = 1.535336e-4f;
  power = power * part + 1.339887e-3f;
  power = power * part + 9.618437e-3f;
  power = power * part + 5.550332e-2f;
  power = power * part + 2.402265e-1f;
  power = power * part + 6.931472e-1f;
  power = power * part + 1.0f;
  return power * __builtin_bit_cast(float, (int(whole) + 127) * (1 << 23));
}

void softmax(float* score, int visible, int columns) {
  float largest = score[0], total = 0.0f;
  for (int j = 0; j < visible; ++j) largest = score[j] > largest ? score[j] : largest;
  for (int j = 0; j < visible; ++j) {
    const float weight = exp_of(score[j] - largest);
    score[j] = weight;
    total += weight;
  }
  const float factor = 1.0f / total;
  for (int j = 0; j < visible; ++j) score[j] *= factor;
  for (int j = visible; j < columns; ++j) score[j] = 0.0f;
}

struct Multiply {
  float scale;
  std::vector<float>& scores;

  void operator()(Rows<const float> q, Rows<const float> k, Rows<const float> v, Rows<float> o, int first) const {
    if (scores.size() < std::size_t(q.rows) * std::size_t(k.rows)) scores.resize(std::size_t(q.rows) * std::size_t(k.rows));
    float* score = scores.data();
    const int k_stride = int(k.stride), v_stride = int(v.stride), q_stride = int(q.stride), o_stride = int(o.stride);
    if (q.rows == 1) {
      cblas_sgemv(CblasRowMajor, CblasNoTrans, k.rows, k.columns, scale, k.data, k_stride, q.data, 1, 0.0f, score, 1);
    } else {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, q.rows, k.rows, k.columns, scale, q.data, q_stride, k.data, k_stride,
                  0.0f, score, k.rows);
    }
    for (int i = 0; i < q.rows; ++i) {
      softmax(score + std::ptrdiff_t(i) * k.rows, first < 0 ? k.rows : first + i + 1, k.rows);
    }
    if (q.rows == 1) {
      cblas_sgemv(CblasRowMajor, CblasTrans, v.rows, v.columns, 1.0f, v.data, v_stride, score, 1, 0.0f, o.data, 1);
    } else {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, q.rows, v.columns, v.rows, 1.0f, score, k.rows, v.data, v_stride,
                  0.0f, o.data, o_stride);
    }
  }
};

void run(const PeerProblem& problem) {
  static std::vector<float> scores;  // kept between calls, so that no allocation is timed
  static const bool one_thread = (openblas_set_num_threads(1), true);
  (void)one_thread;
  compose(problem, Multiply{problem.scale, scores});
}

void project(const PeerLinear& linear) {
  static const bool one_thread = (openblas_set_num_threads(1), true);
  (void)one_thread;
  if (linear.tokens == 1) {
    cblas_sgemv(CblasRowMajor, CblasNoTrans, linear.outputs, linear.inputs, 1.0f, linear.weights, linear.inputs, linear.input,
                1, 0.0f, linear.output, 1);
  } else {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, linear.tokens, linear.outputs, linear.inputs, 1.0f, linear.input,
                linear.inputs, linear.weights, linear.inputs, 0.0f, linear.output, linear.outputs);
  }
}

}  // namespace

const Peer peer_openblas = {"openblas", run, 1 << 20, project};

}  // namespace bench
