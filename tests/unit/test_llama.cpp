// The model's logits, against float64 and the formulas as they read.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "../../bench/app/checkpoint.h"
#include "../../bench/app/llama.h"
#include "../support/app_checks.h"
#include "../support/model_files.h"

using namespace attend_test;

namespace {

// The logits after a few tokens, by the textbook: double precision, nothing kept from one token to the next but keys and
// values.
class Reference {
 public:
  explicit Reference(const app::Checkpoint& checkpoint) : c_(checkpoint.config), w_(checkpoint.weights), kept_(layers()) {}

  std::vector<double> advance(int token) {
    Row stream(w_.token_embedding + token * c_.dim, w_.token_embedding + (token + 1) * c_.dim);
    for (int layer = 0; layer < c_.layers; ++layer) {
      const int square = c_.dim * c_.dim, narrow = c_.kv_dim() * c_.dim, feed = c_.hidden_dim * c_.dim;
      const Row x = normed(stream, w_.attention_norm + layer * c_.dim);
      auto& [keys, values] = kept_[std::size_t(layer)];
      const Row query = turned(times(w_.query + layer * square, x, c_.dim), int(keys.size()));
      keys.push_back(turned(times(w_.key + layer * narrow, x, c_.kv_dim()), int(keys.size())));
      values.push_back(times(w_.value + layer * narrow, x, c_.kv_dim()));
      add(stream, times(w_.output + layer * square, attended(query, keys, values), c_.dim));
      const Row y = normed(stream, w_.feed_norm + layer * c_.dim);
      Row gate = times(w_.gate + layer * feed, y, c_.hidden_dim);
      const Row up = times(w_.up + layer * feed, y, c_.hidden_dim);
      for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
      add(stream, times(w_.down + layer * feed, gate, c_.dim));
    }
    return times(w_.classifier, normed(stream, w_.final_norm), c_.vocab_size);
  }

 private:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  std::size_t layers() const { return std::size_t(c_.layers); }

  static void add(Row& to, const Row& from) { std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus<>()); }

  static Row times(const float* matrix, const Row& in, int rows) {
    Row out(std::size_t(rows), 0.0);
    for (double& sum : out) {
      for (const double number : in) sum += double(*matrix++) * number;
    }
    return out;
  }

  static Row normed(const Row& in, const float* gain) {
    const double squares = std::inner_product(in.begin(), in.end(), in.begin(), 0.0);
    Row out;
    for (const double number : in) out.push_back(double(*gain++) * number / std::sqrt(squares / double(in.size()) + 1e-5));
    return out;
  }

  Row turned(Row in, int position) const {
    for (std::size_t i = 0; i < in.size(); i += 2) {
      const double angle = position / std::pow(10000.0, double(int(i) % c_.head_dim()) / c_.head_dim());
      const double x = in[i], y = in[i + 1];
      in[i] = x * std::cos(angle) - y * std::sin(angle);
      in[i + 1] = x * std::sin(angle) + y * std::cos(angle);
    }
    return in;
  }

  Row attended(const Row& query, const Rows& keys, const Rows& values) const {
    Row out(query.size(), 0.0);
    for (int head = 0; head < c_.heads; ++head) {
      const int begin = head * c_.head_dim(), kv_begin = head / (c_.heads / c_.kv_heads) * c_.head_dim();
      Row weights;
      for (const Row& key : keys) {
        const auto first = query.begin() + begin;
        const double score = std::inner_product(first, first + c_.head_dim(), key.begin() + kv_begin, 0.0);
        weights.push_back(std::exp(score / std::sqrt(double(c_.head_dim()))));
      }
      const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
      for (std::size_t j = 0; j < keys.size(); ++j) {
        for (int d = 0; d < c_.head_dim(); ++d)
          out[std::size_t(begin + d)] += weights[j] / total * values[j][std::size_t(kv_begin + d)];
      }
    }
    return out;
  }

  app::Config c_;
  app::Weights w_;
  std::vector<std::pair<Rows, Rows>> kept_;  // [layers]: keys and values
};

}  // namespace

TEST_CASE("app: the model computes what the formulas say, under every backend") {
  const Folder folder;
  for (const Header& header :
       {small_header, separate_header, Header{{24, 40, 3, 3, 3, 9, 40}}, Header{{48, 7, 1, 4, 1, 5, 18}}}) {
    const app::Checkpoint checkpoint = app::load_checkpoint(folder.write("model.bin", checkpoint_bytes(header)));
    under_every_backend([&] {
      app::Llama llama(checkpoint, checkpoint.config.seq_len);
      Reference reference(checkpoint);
      for (int i = 0; i < checkpoint.config.seq_len; ++i) {
        const int token = i * 7 % checkpoint.config.vocab_size;
        llama.advance(token);
        const std::vector<double> expected = reference.advance(token);
        const std::vector<float>& logits = llama.logits();
        double difference = 0;
        for (std::size_t j = 0; j < expected.size(); ++j)
          difference = std::max(difference, std::abs(double(logits[j]) - expected[j]));
        CAPTURE(i);
        CHECK(difference < 2e-5);
      }
      CHECK(llama.length() == llama.capacity());
    });
  }
}
