// OpenBLAS: its products, on one thread, around a softmax that the compiler vectorises.
#include <cblas.h>

#include <cmath>
#include <vector>

#include "compose.h"

namespace bench {
namespace {

void softmax(float* score, int visible, int columns) {
  float largest = score[0], total = 0.0f;
  for (int j = 0; j < visible; ++j) largest = std::max(largest, score[j]);
  for (int j = 0; j < visible; ++j) total += score[j] = std::exp(score[j] - largest);
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
  compose(problem, 128, Multiply{problem.scale, scores});
}

}  // namespace

const Peer peer_openblas = {"openblas", run, 1 << 20};

}  // namespace bench
