// Eigen: products and softmax are its expressions.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 says it of its own AVX-512 header, once Eigen is inlined
#endif

#include <Eigen/Core>

#include "../compose.h"

namespace bench {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Stride = Eigen::OuterStride<>;
using In = Eigen::Map<const Matrix, 0, Stride>;
using Out = Eigen::Map<Matrix, 0, Stride>;

struct Multiply {
  float scale;
  Eigen::VectorXf& memory;  // for the scores

  void operator()(Rows<const float> q, Rows<const float> k, Rows<const float> v, Rows<float> o, int first) const {
    const In query(q.data, q.rows, q.columns, Stride(q.stride)), key(k.data, k.rows, k.columns, Stride(k.stride)),
        value(v.data, v.rows, v.columns, Stride(v.stride));
    Out output(o.data, o.rows, o.columns, Stride(o.stride));
    if (memory.size() < Eigen::Index(q.rows) * k.rows) memory.resize(Eigen::Index(q.rows) * k.rows);
    Out scores(memory.data(), q.rows, k.rows, Stride(k.rows));
    if (q.rows == 1) {
      scores.row(0).transpose().noalias() = key * (query.row(0).transpose() * scale);
    } else {
      scores.noalias() = (query * scale) * key.transpose();
    }
    for (int i = 0; i < q.rows; ++i) {
      const int visible = first < 0 ? k.rows : first + i + 1;
      auto row = scores.row(i).head(visible).array();
      row = (row - row.maxCoeff()).exp();
      row *= 1.0f / row.sum();
      scores.row(i).tail(k.rows - visible).setZero();
    }
    if (q.rows == 1) {
      output.row(0).noalias() = scores.row(0) * value;
    } else {
      output.noalias() = scores * value;
    }
  }
};

void run(const PeerProblem& problem) {
  static Eigen::VectorXf memory;  // kept between calls, so that no allocation is timed
  compose(problem, Multiply{problem.scale, memory});
}

}  // namespace

const Peer peer_eigen = {"eigen", run, 1 << 20, nullptr};

}  // namespace bench
