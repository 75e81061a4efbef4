// Generated texts: the same whatever computes them, ended where they should be, and that of a real model.
#include <doctest/doctest.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

#include "../../bench/app/checkpoint.h"
#include "../../bench/app/generate.h"
#include "../../bench/app/llama.h"
#include "../../bench/app/sampler.h"
#include "../../bench/app/tokenizer.h"
#include "../support/app_checks.h"
#include "../support/model_files.h"
#include "../support/needed.h"

using namespace attend_test;

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
    app::generate(llama, tokenizer, sampler, {1}, 5, [&](std::string_view) { ++printed; });
    CHECK(printed == 5);
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

  CHECK(app::steps_within(0, checkpoint.config.seq_len) == 21);
  CHECK(app::steps_within(1, checkpoint.config.seq_len) == 1);
  CHECK(app::steps_within(21, checkpoint.config.seq_len) == 21);
  CHECK(app::steps_within(22, checkpoint.config.seq_len) == 21);
  CHECK(app::steps_within(LLONG_MAX, checkpoint.config.seq_len) == 21);
}

TEST_CASE("app: a real model tells its story, under every backend" * needs_model()) {
  const std::string model = model_file("ATTEND_MODEL"), vocabulary = model_file("ATTEND_TOKENIZER"),
                    story = model_file("ATTEND_STORY");
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
