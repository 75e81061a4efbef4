// GPT-2s of GGUF files: their logits, against float64 and the formulas as they read, all kinds of numbers, and which files are
// refused.
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
#include "../support/random.h"
#include "../support/rounds.h"

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

const MergedVocabulary small_merges = merged_vocabulary("gpt-2", {{"a", "b"}, {" ", "ab"}, {"ab", "c"}});
const int small_pieces = int(small_merges.tokens.size());

// Heads of an odd width, one head, and widths that no vector divides.
const app::Gpt2Config odd_config = {21, 34, 2, 3, small_pieces, 19, true, 1e-5f};
const app::Gpt2Config single_config = {20, 13, 3, 1, small_pieces, 18, false, 1e-2f};
// Columns in whole blocks.
const app::Gpt2Config block_config = {64, 96, 2, 8, small_pieces, 21, true, 1e-5f};
const app::Gpt2Config wide_config = {256, 512, 1, 8, small_pieces, 9, false, 1e-5f};

void as_it_is(GgufWriter&) {}

app::StoryModel loaded(const Folder& folder, const Gpt2Numbers& model, NumberKind kind) {
  return app::load_gguf(folder.write("model.gguf", gguf_bytes(model, small_merges, kind, as_it_is)));
}

std::vector<float> logits_of(const app::StoryModel& model, const std::vector<int>& tokens) {
  const auto computed = app::language_model(model, int(tokens.size()));
  std::vector<float> all;
  for (const int token : tokens) {
    computed->advance(token);
    all.insert(all.end(), computed->logits().begin(), computed->logits().end());
  }
  return all;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("app: a GPT-2 computes what the formulas say, under every backend, packed or not") {
  const Folder folder;
  for (const app::Gpt2Config& config : {odd_config, single_config, block_config}) {
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
      app::Gpt2Config config = kind == NumberKind::q6_k ? wide_config : block_config;
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
  const app::StoryModel model = app::packed(loaded(folder, random_gpt2(block_config, 5), NumberKind::q8_0));
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

TEST_CASE("app: a GGUF file of a GPT-2 with anything missing or wrong is refused") {
  const Folder folder;
  const Gpt2Numbers numbers = random_gpt2(odd_config, 5);
  const auto check = [&](const std::string& bytes, const std::string& words) {
    CAPTURE(words);
    const std::string path = folder.write("model.gguf", bytes);
    const std::string message = failure_of([&] { app::load_gguf(path); });
    CAPTURE(message);
    check_names_file(message, path);
    CHECK(contains(message, words));
  };
  const std::string good = gguf_bytes(numbers, small_merges, NumberKind::float32, as_it_is);
  // A letter of each name, so that it is another one.
  const auto without = [&](const std::string& name) {
    std::string bytes = good;
    const std::size_t at = bytes.find(name);
    REQUIRE(at != std::string::npos);
    bytes[at + name.size() - 1] = '_';
    return bytes;
  };
  for (const char* key : {"embedding_length", "feed_forward_length", "block_count", "attention.head_count", "context_length"}) {
    check(without(std::string("gpt2.") + key), std::string("a whole number as gpt2.") + key + ", found none");
  }
  check(without("gpt2.attention.layer_norm_epsilon"), "a number as gpt2.attention.layer_norm_epsilon, found none");
  for (const char* name :
       {"position_embd.weight", "output_norm.weight", "output_norm.bias", "blk.0.attn_norm.bias", "blk.1.attn_qkv.weight",
        "blk.1.attn_qkv.bias", "blk.0.attn_output.bias", "blk.1.ffn_norm.weight", "blk.0.ffn_up.bias", "blk.1.ffn_down.bias"}) {
    check(without(name), std::string("a tensor ") + name + ", found none");
  }
  const auto changed = [&](auto change) {
    Gpt2Numbers other = numbers;
    change(other);
    return gguf_bytes(other, small_merges, NumberKind::float32, as_it_is);
  };
  check(changed([](Gpt2Numbers& other) { other.config.heads = 2; }), "multiple of gpt2.attention.head_count, found 21 and 2");
  check(changed([](Gpt2Numbers& other) { other.config.seq_len = 20; }), "21 x 20 numbers as tensor position_embd.weight");
  check(changed([](Gpt2Numbers& other) { other.config.hidden_dim = 35; }), "21 x 35 numbers as tensor blk.0.ffn_up.weight");
  check(changed([](Gpt2Numbers& other) { other.config.layers = 1; }), "found blk.1.");
  check(changed([](Gpt2Numbers& other) { other.config.norm_epsilon = 0; }), "gpt2.attention.layer_norm_epsilon within");
  const auto added = [&](auto change) { return gguf_bytes(numbers, small_merges, NumberKind::float32, change); };
  check(added([](GgufWriter& file) { file.whole("gpt2.attention.head_count_kv", 1); }),
        "gpt2.attention.head_count_kv within 3");
  check(added([](GgufWriter& file) { file.tensor("rope_freqs.weight", {3}, 0, std::string(12, '\0')); }),
        "found rope_freqs.weight");
}

TEST_CASE("app: a GGUF file's merges, words and tokens are read, and refused where they are not what the program knows") {
  const Folder folder;
  const app::Gpt2Config& config = odd_config;
  const auto bytes_of = [&](const MergedVocabulary& vocabulary, auto change) {
    app::Gpt2Config fitting = config;
    fitting.vocab_size = int(vocabulary.tokens.size());
    return gguf_bytes(random_gpt2(fitting, 1), vocabulary, NumberKind::float32, change);
  };
  const auto vocabulary_of = [&](const MergedVocabulary& vocabulary, auto change) {
    return app::load_gguf(folder.write("model.gguf", bytes_of(vocabulary, change))).vocabulary;
  };
  const std::uint32_t end = small_merges.end;
  for (const auto& [name, rules] :
       {std::pair("gpt-2", app::WordRules::gpt2), std::pair("llama-bpe", app::WordRules::llama3),
        std::pair("smollm", app::WordRules::smollm), std::pair("default", app::WordRules::punctuation),
        std::pair("", app::WordRules::punctuation)}) {
    MergedVocabulary vocabulary = small_merges;
    vocabulary.rules = name;
    const app::Vocabulary found = vocabulary_of(vocabulary, as_it_is);
    const bool is_llama3 = rules == app::WordRules::llama3;
    CHECK(found.words == rules);
    CHECK(found.keeps_words == is_llama3);
    CHECK(found.adds_begin == is_llama3);
    CHECK(found.begin == int(end));
    CHECK(found.pieces[255 - ' '].text == " ");
    CHECK(found.pieces[255 - 0xAD].text == "\xAD");
    CHECK(found.pieces[257].text == " ab");
    CHECK(found.pieces[end].kind == app::PieceKind::control);
    CHECK(found.merges.size() == 3);
    CHECK(app::Tokenizer(found).encode("ab abc").size() == (is_llama3 ? 4 : 3));
  }
  CHECK(vocabulary_of(small_merges, [](GgufWriter& file) { file.truth("tokenizer.ggml.add_bos_token", true); }).adds_begin);
  MergedVocabulary marked = small_merges;
  marked.tokens.emplace_back("a <m>"), marked.types.push_back(4);
  CHECK(app::Tokenizer(vocabulary_of(marked, as_it_is)).encode("ba <m>") == std::vector<int>{255 - 'b', int(end) + 1});

  const auto check = [&](const MergedVocabulary& vocabulary, const std::string& words) {
    CAPTURE(words);
    const std::string path = folder.write("model.gguf", bytes_of(vocabulary, as_it_is));
    const std::string message = failure_of([&] { app::load_gguf(path); });
    CAPTURE(message);
    check_names_file(message, path);
    CHECK(contains(message, words));
  };
  const auto changed = [&](auto change) {
    MergedVocabulary vocabulary = small_merges;
    change(vocabulary);
    return vocabulary;
  };
  check(changed([](MergedVocabulary& v) { v.rules = "qwen2"; }),
        R"("gpt-2", "llama-bpe", "smollm" or "default" as tokenizer.ggml.pre, found "qwen2")");
  for (const char* merge : {"ab", "a ", " b", "a x", "b c", "a b c", "a  b", ""}) {
    check(changed([&](MergedVocabulary& v) { v.merges[1] = merge; }),
          "together as element 1 of tokenizer.ggml.merges, found \"");
  }
  check(changed([](MergedVocabulary& v) { v.tokens[256] = "a b"; }), "element 0 of tokenizer.ggml.merges");
  check(changed([](MergedVocabulary& v) { v.tokens[0] = "x y"; }), "stand for bytes as piece 0, found \"x y\"");
  check(changed([](MergedVocabulary& v) { v.types.pop_back(); }), "260 elements of tokenizer.ggml.token_type");
  check(changed([](MergedVocabulary& v) { v.begin = 260; }), "tokenizer.ggml.bos_token_id within");
}

TEST_CASE("app: a GGUF file of a GPT-2 that is cut or damaged anywhere is refused or computes, and never more") {
  const Folder folder;
  const std::string good = gguf_bytes(random_gpt2(block_config, 2), small_merges, NumberKind::q4_0, as_it_is);
  const auto is_refused = [&](const std::string& bytes) {
    const std::string path = folder.write("model.gguf", bytes);
    const std::string message = failure_of([&] {
      const app::StoryModel model = app::load_gguf(path);
      // Damage can shorten the context.
      std::vector<int> tokens = app::Tokenizer(model.vocabulary).encode("ab c");
      tokens.resize(std::min(tokens.size(), std::size_t(model.context())));
      logits_of(app::packed(model), tokens);
    });
    if (!message.empty()) CHECK(message.compare(0, path.size() + 2, path + ": ") == 0);
    return !message.empty();
  };
  REQUIRE_FALSE(is_refused(good));
  for (std::size_t length = 1; length < good.size() - 32; length += (length < 16384 ? 61 : 4001) * std::size_t(stride()))
    CHECK(is_refused(good.substr(0, length)));
  Random random(5);
  int refused = 0;
  const std::size_t head = good.find("output_norm.bias");
  for (int i = 0; i < rounds(1000); ++i) {
    std::string bytes = good;
    for (int changes = random.between(1, 3); changes > 0; --changes) {
      bytes[std::size_t(random.between(0, int(head)))] = static_cast<char>(random.between(0, 255));
    }
    refused += is_refused(bytes);
  }
  CHECK(refused > rounds(100));
}
