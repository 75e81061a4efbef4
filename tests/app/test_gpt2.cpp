// GPT-2s of GGUF files: their logits, against float64 and the formulas as they read, all kinds of numbers, and a story.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "../../bench/app/generate.h"
#include "../../bench/app/gguf_model.h"
#include "../../bench/app/sampler.h"
#include "../../bench/app/tokenizer.h"
#include "../support/app_checks.h"
#include "../support/gpt2_files.h"
#include "../support/model_files.h"

using namespace attend_test;
using app::NumberKind;

namespace {

// The logits after a few tokens, by the textbook: double precision, nothing kept from one token to the next but keys and
// values.
class Reference {
 public:
  explicit Reference(const Gpt2Numbers& model) : m_(model), c_(model.config), kept_(std::size_t(c_.layers)) {}

  std::vector<double> advance(int token) {
    Row stream = row("token_embd.weight", token);
    add(stream, row("position_embd.weight", int(kept_[0].first.size())));
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const std::string block = "blk." + std::to_string(i) + ".";
      const Row all = projected(block + "attn_qkv", normed(stream, block + "attn_norm"));
      const auto third = [&](int n) { return Row(all.begin() + n * c_.dim, all.begin() + (n + 1) * c_.dim); };
      auto& [keys, values] = kept_[i];
      keys.push_back(third(1)), values.push_back(third(2));
      add(stream, projected(block + "attn_output", attended(third(0), keys, values)));
      Row hidden = projected(block + "ffn_up", normed(stream, block + "ffn_norm"));
      for (double& x : hidden) x = x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
      add(stream, projected(block + "ffn_down", hidden));
    }
    return times(c_.shared_classifier ? "token_embd.weight" : "output.weight", normed(stream, "output_norm"));
  }

 private:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  static void add(Row& to, const Row& from) { std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus<>()); }

  Row row(const std::string& name, int index) const {
    const auto first = m_[name].begin() + std::ptrdiff_t(index) * c_.dim;
    return Row(first, first + c_.dim);
  }

  Row times(const std::string& name, const Row& in) const {
    const std::vector<float>& matrix = m_[name];
    Row out(matrix.size() / in.size(), 0.0);
    for (std::size_t i = 0; i < matrix.size(); ++i) out[i / in.size()] += double(matrix[i]) * in[i % in.size()];
    return out;
  }

  Row projected(const std::string& name, const Row& in) const {
    Row out = times(name + ".weight", in);
    const std::vector<float>& bias = m_[name + ".bias"];
    add(out, Row(bias.begin(), bias.end()));
    return out;
  }

  Row normed(const Row& in, const std::string& name) const {
    const double count = double(in.size()), mean = std::accumulate(in.begin(), in.end(), 0.0) / count;
    double variance = 0;
    for (const double number : in) variance += (number - mean) * (number - mean) / count;
    Row out;
    for (const double number : in) {
      const std::size_t i = out.size();
      out.push_back((number - mean) / std::sqrt(variance + double(c_.norm_epsilon)) * double(m_[name + ".weight"][i]) +
                    double(m_[name + ".bias"][i]));
    }
    return out;
  }

  Row attended(const Row& query, const Rows& keys, const Rows& values) const {
    Row out(query.size(), 0.0);
    for (int begin = 0; begin < c_.dim; begin += c_.head_dim()) {
      Row weights;
      for (const Row& key : keys) {
        const auto first = query.begin() + begin;
        const double score = std::inner_product(first, first + c_.head_dim(), key.begin() + begin, 0.0);
        weights.push_back(std::exp(score / std::sqrt(double(c_.head_dim()))));
      }
      const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
      for (std::size_t j = 0; j < keys.size(); ++j) {
        for (int d = begin; d < begin + c_.head_dim(); ++d)
          out[std::size_t(d)] += weights[j] / total * values[j][std::size_t(d)];
      }
    }
    return out;
  }

  const Gpt2Numbers& m_;
  const app::Gpt2Config& c_;
  std::vector<std::pair<Rows, Rows>> kept_;  // [layers]: keys and values
};

// One head, and widths that no vector divides.
const app::Gpt2Config single_gpt2 = {20, 13, 3, 1, small_pieces, 18, false, 1e-2f};
// Columns in whole blocks.
const app::Gpt2Config wide_gpt2 = {256, 512, 1, 8, small_pieces, 9, false, 1e-5f};

app::StoryModel loaded(const Folder& folder, const Gpt2Numbers& model, NumberKind kind) {
  return app::load_gguf(folder.write("model.gguf", gguf_bytes(model, small_merges, kind, as_it_is)));
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("app: a GPT-2 computes what the formulas say, under every backend, packed or not") {
  const Folder folder;
  for (const app::Gpt2Config& config : {odd_gpt2, single_gpt2, block_gpt2}) {
    const Gpt2Numbers numbers = random_gpt2(config, 5);
    const app::StoryModel model = loaded(folder, numbers, NumberKind::float32), in_panels = app::packed(model);
    CHECK(model.context() == config.seq_len);
    under_every_backend([&] {
      const auto rows = app::language_model(model, config.seq_len), panels = app::language_model(in_panels, config.seq_len);
      for (int round = 0; round < 2; ++round) {
        Reference reference(numbers);
        double largest = 0, error = 0;
        for (int i = 0; i < config.seq_len; ++i) {
          const int token = i * 7 % config.vocab_size;
          rows->advance(token), panels->advance(token);
          CHECK(rows->length() == i + 1);
          const std::vector<double> expected = reference.advance(token);
          const std::vector<float>& found = rows->logits();
          REQUIRE(found.size() == expected.size());
          for (std::size_t j = 0; j < found.size(); ++j) {
            largest = std::max(largest, std::fabs(expected[j]));
            error = std::max(error, std::fabs(double(found[j]) - expected[j]));
          }
          CHECK(same_bits(found, panels->logits()));
        }
        CHECK(largest > 1);
        CHECK(error < 1e-5 * largest);
        rows->restart(), panels->restart();
      }
    });
  }
}

TEST_CASE("app: a GPT-2's numbers of 16, 8 and 4 bits compute as their float32") {
  const Folder folder;
  for (const NumberKind kind :
       {NumberKind::float16, NumberKind::bfloat16, NumberKind::q8_0, NumberKind::q6_k, NumberKind::q4_0}) {
    CAPTURE(int(kind));
    for (const bool is_shared : {false, true}) {
      app::Gpt2Config config = kind == NumberKind::q6_k ? wide_gpt2 : block_gpt2;
      config.shared_classifier = is_shared;
      Gpt2Numbers numbers = random_gpt2(config, 6);
      const std::vector<float> found = logits_of(app::packed(loaded(folder, numbers, kind)), {1, 200, 258, 7});
      for (NamedTensor& tensor : numbers.tensors) {
        if (tensor.rows > 1) tensor.numbers = read_back(kind, stored_rows(kind, tensor.numbers));
      }
      CHECK(same_bits(found, logits_of(app::packed(loaded(folder, numbers, NumberKind::float32)), {1, 200, 258, 7})));
    }
  }
}

TEST_CASE("app: a GPT-2 tells a story from a prompt") {
  const Folder folder;
  const app::StoryModel model = app::packed(loaded(folder, random_gpt2(block_gpt2, 5), NumberKind::q8_0));
  const app::Tokenizer tokenizer(model.vocabulary);
  const std::vector<int> prompt = tokenizer.encode("ab abc\n");
  CHECK(prompt == std::vector<int>{256, 257, 255 - 'c', 255 - '\n'});
  std::string first;
  under_every_backend([&] {
    app::Sampler sampler(0, 1, 1);
    std::string text;
    const auto computed = app::language_model(model, 21);
    const auto print = [&](std::string_view piece) { text += piece; };
    const app::Generation generation = app::generate(*computed, tokenizer, sampler, prompt, 21, print);
    CHECK(generation.tokens >= int(prompt.size()));
    CHECK(text.compare(0, 7, "ab abc\n") == 0);
    if (first.empty()) first = text;
    CHECK(text == first);
  });
}
