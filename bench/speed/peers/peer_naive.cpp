// Three loops as anybody would write them first: scores, softmax, weighted values. The compiler may reorder sums.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "peers.h"

namespace bench {
namespace {

void run(const PeerProblem& p) {
  static std::vector<float> scores;  // kept between calls, so that no allocation is timed
  scores.resize(std::size_t(p.keys));
  const int group = p.query_heads / p.kv_heads;
  const std::ptrdiff_t width = p.head_dim, kv_stride = p.kv_token_stride;
  for (int h = 0; h < p.query_heads; ++h) {
    for (int i = 0; i < p.queries; ++i) {
      const float* query = p.query + (std::ptrdiff_t(i) * p.query_heads + h) * width;
      float* output = p.output + (std::ptrdiff_t(i) * p.query_heads + h) * width;
      const float* key = p.key + h / group * p.kv_head_stride;
      const float* value = p.value + h / group * p.kv_head_stride;
      const int visible = p.causal ? p.keys - p.queries + i + 1 : p.keys;
      float* score = scores.data();

      for (int j = 0; j < visible; ++j) {
        float sum = 0.0f;
        for (int d = 0; d < p.head_dim; ++d) sum += query[d] * key[j * kv_stride + d];
        score[j] = sum * p.scale;
      }

      float largest = score[0], total = 0.0f;  // by ?: and not std::max, of which GCC makes no vector loop
      for (int j = 0; j < visible; ++j) largest = score[j] > largest ? score[j] : largest;
      for (int j = 0; j < visible; ++j) total += score[j] = std::exp(score[j] - largest);

      for (int d = 0; d < p.head_dim; ++d) output[d] = 0.0f;
      for (int j = 0; j < visible; ++j) {
        const float weight = score[j] / total;
        for (int d = 0; d < p.head_dim; ++d) output[d] += weight * value[j * kv_stride + d];
      }
    }
  }
}

}  // namespace

const Peer peer_naive = {"naive", run, 1024, nullptr};

}  // namespace bench
