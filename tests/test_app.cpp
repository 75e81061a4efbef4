// The application's parts, called directly: what they read, what they refuse and with which words, and what they write.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "../bench/checkpoint.h"
#include "../bench/command_line.h"
#include "../bench/generate.h"
#include "../bench/llama.h"
#include "../bench/sampler.h"
#include "../bench/textbook.h"
#include "../bench/tokenizer.h"
#include "app_checks.h"
#include "model_files.h"

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

TEST_CASE("app: NaN in the weights is a model like any other") {
  const Folder folder;
  std::string bytes = header_bytes(small_header);
  for (std::size_t i = 0; i < float_count(small_header); ++i) put_float(bytes, std::numeric_limits<float>::quiet_NaN());
  const app::Checkpoint checkpoint = app::load_checkpoint(folder.write("model.bin", bytes));
  const app::Tokenizer tokenizer(folder.write("tokenizer.bin", tokenizer_bytes()), small_vocabulary);
  for (const float temperature : {0.0f, 1.0f}) {
    app::Llama llama(checkpoint, 5);
    app::Sampler sampler(temperature, 0.5f, 1);
    int printed = 0;
    app::generate(llama, tokenizer, sampler, {app::begin_token}, 5, [&](std::string_view) { ++printed; });
    CHECK(printed == 5);
  }
}

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

TEST_CASE("app: the same tokens under every backend and with any room in the cache") {
  const Folder folder;
  const app::Checkpoint checkpoint = app::load_checkpoint(folder.write("model.bin", checkpoint_bytes(small_header)));
  const app::Tokenizer tokenizer(folder.write("tokenizer.bin", tokenizer_bytes()), small_vocabulary);
  for (const float temperature : {0.0f, 0.9f}) {
    std::string first;
    under_every_backend([&] {
      for (const int steps : {20, 21}) {
        app::Llama llama(checkpoint, steps);
        app::Sampler sampler(temperature, 0.95f, 11);
        std::string text;
        const app::Generation generation = app::generate(llama, tokenizer, sampler, tokenizer.encode("abc"), 20,
                                                         [&](std::string_view piece) { text += std::string(piece) + "|"; });
        CHECK(generation.tokens == 20);
        if (first.empty()) first = text;
        CHECK(text == first);
      }
    });
    CHECK(first.compare(0, 5, "|abc|") == 0);  // the space after the beginning is dropped, then the prompt comes
    CHECK(std::count(first.begin(), first.end(), '|') == 20);
  }
}

TEST_CASE("app: generation stops where a new text begins, and steps stay within the context") {
  const Folder folder;
  // All weights 0 but the classifier's row of the begin token and the final norm: whatever the input, 1 comes next.
  std::string bytes = header_bytes(separate_header);
  const std::size_t floats = float_count(separate_header), embedding = std::size_t(small_vocabulary) * 20;
  for (std::size_t i = 0; i < floats; ++i) {
    const bool stream = i < embedding, norm = i >= embedding + 80 + 3960 && i < embedding + 80 + 3980;
    const bool begin = i >= floats - embedding + 20 && i < floats - embedding + 40;
    put_float(bytes, stream || norm || begin ? 1.0f : 0.0f);
  }
  const app::Checkpoint checkpoint = app::load_checkpoint(folder.write("model.bin", bytes));
  const app::Tokenizer tokenizer(folder.write("tokenizer.bin", tokenizer_bytes()), small_vocabulary);
  app::Llama llama(checkpoint, 21);
  app::Sampler sampler(0, 1, 1);
  std::string text;
  const auto generation =
      app::generate(llama, tokenizer, sampler, tokenizer.encode("ab"), 21, [&](std::string_view piece) { text += piece; });
  CHECK(generation.tokens == 3);
  CHECK(text == "ab");

  CHECK(app::steps_within(0, checkpoint.config) == 21);
  CHECK(app::steps_within(1, checkpoint.config) == 1);
  CHECK(app::steps_within(21, checkpoint.config) == 21);
  CHECK(app::steps_within(22, checkpoint.config) == 21);
  CHECK(app::steps_within(LLONG_MAX, checkpoint.config) == 21);
}

TEST_CASE("app: the command line is taken as given or refused") {
  using Words = std::vector<const char*>;
  const auto parse = [](Words words) {
    words.insert(words.begin(), "run");
    return app::parse_command_line(static_cast<int>(words.size()), words.data());
  };
  const app::CommandLine none = parse({});
  CHECK(none.model.empty());
  CHECK(none.temperature == 0);
  const app::CommandLine all = parse({"--model", "m", "--tokenizer", "t", "--prompt", "--steps", "--steps", "12",
                                      "--temperature", "0.5", "--top-p", "1", "--seed", "18446744073709551615"});
  CHECK(all.model == "m");
  CHECK(all.tokenizer == "t");
  CHECK(all.prompt == "--steps");
  CHECK(all.steps == 12);
  CHECK(all.temperature == 0.5f);
  CHECK(all.top_p == 1.0f);
  CHECK(all.seed == UINT64_MAX);
  CHECK(all.ignored.empty());
  CHECK(parse({"--steps", "3"}).ignored == "--steps");
  CHECK(parse({"--help"}).help);

  const auto refused = [&](const Words& words) {
    CAPTURE(std::string(words.back()));
    CHECK_THROWS_AS(parse(words), app::UsageError);
    CHECK(contains(failure_of([&] { parse(words); }), words[0]));
  };
  for (const char* wrong : {"abc", "", "-1", "-0", "+1", "1.5", " 1", "1 ", "99999999999999999999"})
    refused({"--steps", wrong});
  for (const char* wrong : {"-0.1", "nan", "inf", "1e99", "0.5x", "", ".", " 1"}) refused({"--temperature", wrong});
  for (const char* wrong : {"0", "1.01", "-1", "nan", "all"}) refused({"--top-p", wrong});
  for (const char* wrong : {"-1", "18446744073709551616", "x"}) refused({"--seed", wrong});
  for (const char* option : {"--model", "--tokenizer"}) refused({option, ""});
  for (const char* option : {"--steps", "--model", "--prompt", "--unknown", "story", ""}) refused({option});
  CHECK(contains(failure_of([&] { parse({"--model", "m"}); }), "--tokenizer"));
  CHECK(contains(failure_of([&] { parse({"--tokenizer", "t"}); }), "--model"));
}

TEST_CASE("app: the textbook example is right, and the same under every backend") {
  const app::Textbook first = app::compute_textbook();
  under_every_backend([&] {
    const app::Textbook book = app::compute_textbook();
    CHECK(std::memcmp(&book.full, &first.full, sizeof book.full) == 0);
    CHECK(std::memcmp(&book.causal, &first.causal, sizeof book.causal) == 0);
    CHECK(std::memcmp(book.word_by_word, book.causal.context, sizeof book.word_by_word) == 0);
    for (const app::TextbookMask* mask : {&book.full, &book.causal}) {
      for (int i = 0; i < app::word_count; ++i) {
        const int seen = mask == &book.causal ? i + 1 : app::word_count;
        double total = 0, sum = 0;
        for (int j = 0; j < seen; ++j) total += std::exp(book.scores[i][j]);
        for (int j = 0; j < app::word_count; ++j) {
          const double weight = double(mask->weights[i][j]);
          sum += weight;
          if (j < seen) CHECK(std::abs(weight - std::exp(book.scores[i][j]) / total) < 3e-7);
          if (j >= seen) CHECK(weight == 0);
        }
        CHECK(std::abs(sum - 1) < 1e-6);
        for (int column = 0; column < app::context_dim; ++column) {
          double expected = 0;
          for (int j = 0; j < seen; ++j) expected += double(mask->weights[i][j]) * double(book.value[j][column]);
          CHECK(std::abs(double(mask->context[i][column]) - expected) < 1e-6);
        }
      }
    }
  });
}

TEST_CASE("app: the textbook page fits a terminal") {
  const std::string plain = app::textbook_page(false);
  CHECK(!contains(plain, "\x1b"));
  CHECK(!contains(plain, "NO\n"));
  CHECK(contains(app::textbook_page(true), "\x1b[48;5;"));
  int lines = 0, columns = 0;
  for (const char character : plain) {
    if ((static_cast<unsigned char>(character) & 0xC0) != 0x80) ++columns;  // not within a character
    if (character != '\n') continue;
    CHECK(columns - 1 <= 100);
    columns = 0;
    ++lines;
  }
  CHECK(lines <= 60);
}

TEST_CASE("app: a real model tells its story, under every backend") {
  const auto path_in = [](const char* variable) {
    const char* const text = std::getenv(variable);
    return std::string(text == nullptr ? "" : text);
  };
  const std::string model = path_in("ATTEND_MODEL"), vocabulary = path_in("ATTEND_TOKENIZER"), story = path_in("ATTEND_STORY");
  if (model.empty() || vocabulary.empty() || story.empty()) {
    MESSAGE("left out: ATTEND_MODEL, ATTEND_TOKENIZER and ATTEND_STORY name no files");
    return;
  }
  std::ifstream stream(story, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  REQUIRE(!expected.empty());
  const app::Checkpoint checkpoint = app::load_checkpoint(model);
  const app::Tokenizer tokenizer(vocabulary, checkpoint.config.vocab_size);
  under_every_backend([&] {
    app::Llama llama(checkpoint, 200);
    app::Sampler sampler(0, 1, 1);
    std::string text;
    app::generate(llama, tokenizer, sampler, tokenizer.encode(""), 200, [&](std::string_view piece) { text += piece; });
    CHECK(text + "\n" == expected);
  });
}
