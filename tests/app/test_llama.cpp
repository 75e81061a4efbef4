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
    const float* const embedding = numbers(w_.token_embedding) + token * c_.dim;
    Row stream(embedding, embedding + c_.dim);
    for (std::size_t i = 0; i < layers(); ++i) {
      const app::Layer& layer = w_.layers[i];
      const Row x = normed(stream, layer.attention_norm);
      auto& [keys, values] = kept_[i];
      const Row query = turned(times(layer.query, x), int(keys.size()));
      keys.push_back(turned(times(layer.key, x), int(keys.size())));
      values.push_back(times(layer.value, x));
      add(stream, times(layer.output, attended(query, keys, values)));
      const Row y = normed(stream, layer.feed_norm);
      Row gate = times(layer.gate, y);
      const Row up = times(layer.up, y);
      for (std::size_t j = 0; j < gate.size(); ++j) gate[j] = gate[j] / (1 + std::exp(-gate[j])) * up[j];
      add(stream, times(layer.down, gate));
    }
    return times(w_.classifier, normed(stream, w_.final_norm));
  }

 private:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  std::size_t layers() const { return std::size_t(c_.layers); }

  static void add(Row& to, const Row& from) { std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus<>()); }

  static const float* numbers(const app::Matrix& matrix) { return static_cast<const float*>(matrix.numbers); }

  static Row times(const app::Matrix& matrix, const Row& in) {
    Row out(std::size_t(matrix.outputs), 0.0);
    const float* next = numbers(matrix);
    for (double& sum : out) {
      for (const double number : in) sum += double(*next++) * number;
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
      const int pair = int(i) % c_.head_dim() / 2;
      const double factor = w_.rotation_factors == nullptr ? 1.0 : double(w_.rotation_factors[pair]);
      const double angle = position / std::pow(10000.0, 2.0 * pair / c_.head_dim()) / factor;
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
  constexpr float factors[] = {1, 1.5f, 0.25f, 8, 32, 1};
  for (const auto& [header, rotation_factors] : {std::pair<Header, const float*>(small_header, nullptr),
                                                 {separate_header, factors},
                                                 {Header{{24, 40, 3, 3, 3, 9, 40}}, nullptr},
                                                 {Header{{24, 40, 3, 3, 3, 9, 40}}, factors},
                                                 {Header{{48, 7, 1, 4, 1, 5, 18}}, factors}}) {
    app::Checkpoint checkpoint = app::load_checkpoint(folder.write("model.bin", checkpoint_bytes(header)));
    checkpoint.weights.rotation_factors = rotation_factors;
    under_every_backend([&] {
      const app::Checkpoint in_panels = app::packed(checkpoint);
      app::Llama llama(checkpoint, checkpoint.config.seq_len), packed(in_panels, checkpoint.config.seq_len);
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
        packed.advance(token);
        CHECK(packed.logits() == logits);
      }
      CHECK(llama.length() == llama.capacity());
    });
  }
}
