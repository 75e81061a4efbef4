// Checkpoints: where the arrays of one lie, and which files are refused, with which words.
#include <doctest/doctest.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../../bench/app/checkpoint.h"
#include "../../bench/app/tokenizer.h"
#include "../support/app_checks.h"
#include "../support/model_files.h"

using namespace attend_test;

TEST_CASE("app: a checkpoint's arrays lie where the format puts them") {
  const Folder folder;
  for (const Header& header : {small_header, separate_header}) {
    std::string bytes = header_bytes(header);
    for (std::size_t i = 0; i < float_count(header); ++i) put_float(bytes, static_cast<float>(i));
    const app::Checkpoint checkpoint = app::load_checkpoint(folder.write("model.bin", bytes));
    const app::Config& config = checkpoint.config;
    CHECK(config.dim == 20);
    CHECK(config.hidden_dim == 13);
    CHECK(config.layers == 2);
    CHECK(config.heads == 10);
    CHECK(config.kv_heads == 5);
    CHECK(config.vocab_size == small_vocabulary);
    CHECK(config.seq_len == 21);
    CHECK(config.head_dim() == 2);
    CHECK(config.kv_dim() == 10);
    CHECK(config.shared_classifier == (header.fields[vocab_field] > 0));
    const app::Weights& weights = checkpoint.weights;
    const int embedding = small_vocabulary * 20;
    const auto first = [](const app::Matrix& matrix) { return *static_cast<const float*>(matrix.numbers); };
    REQUIRE(weights.layers.size() == 2);
    CHECK(first(weights.token_embedding) == 0);
    for (int i = 0; i < 2; ++i) {
      const app::Layer& layer = weights.layers[std::size_t(i)];
      CHECK(*layer.attention_norm == embedding + 20 * i);
      CHECK(first(layer.query) == embedding + 40 + 400 * i);
      CHECK(first(layer.key) == embedding + 40 + 800 + 200 * i);
      CHECK(first(layer.value) == embedding + 40 + 1200 + 200 * i);
      CHECK(first(layer.output) == embedding + 40 + 1600 + 400 * i);
      CHECK(*layer.feed_norm == embedding + 40 + 2400 + 20 * i);
      CHECK(first(layer.gate) == embedding + 80 + 2400 + 260 * i);
      CHECK(first(layer.down) == embedding + 80 + 2920 + 260 * i);
      CHECK(first(layer.up) == embedding + 80 + 3440 + 260 * i);
      CHECK(layer.key.outputs == 10);
      CHECK(layer.down.outputs == 20);
      CHECK(layer.down.inputs == 13);
    }
    CHECK(*weights.final_norm == embedding + 80 + 3960);
    CHECK(first(weights.classifier) == (config.shared_classifier ? 0 : embedding + 80 + 3980 + 2 * 21));
  }
}

TEST_CASE("app: a checkpoint with any header field wrong is refused") {
  const Folder folder;
  const std::string good = checkpoint_bytes(small_header);
  for (int field = 0; field < 7; ++field) {
    const std::int32_t right = small_header.fields[field];
    for (const std::int32_t wrong :
         {0, -1, INT_MIN, INT_MIN + 1, INT_MAX, 1 << 24, (1 << 24) + 1, right + 1, right - 1, right * 2, -right}) {
      CAPTURE(field);
      CAPTURE(wrong);
      Header header = small_header;
      header.fields[field] = wrong;
      const std::string path = folder.write("model.bin", header_bytes(header) + good.substr(28));
      check_names_file(failure_of([&] { app::load_checkpoint(path); }), path);
    }
  }
  const auto refused = [&](const Header& header, const std::string& words) {
    CAPTURE(words);
    const std::string path = folder.write("model.bin", header_bytes(header) + good.substr(28));
    const std::string message = failure_of([&] { app::load_checkpoint(path); });
    check_names_file(message, path);
    CHECK(contains(message, words));
  };
  refused({{20, 13, 2, 3, 3, 300, 21}}, "found dim 20 and n_heads 3");
  refused({{20, 13, 2, 10, 4, 300, 21}}, "found n_heads 10 and n_kv_heads 4");
  refused({{20, 13, 2, 4, 4, 300, 21}}, "even");
  refused({{20, 13, 2, 10, 5, 2, 21}}, "found 2");
  refused({{20, 13, 2, 10, 5, -2, 21}}, "found -2");
  const std::int32_t most = 1 << 24;
  refused({{most, most, most, 1, 1, most, most}}, "more bytes than a file can have");
}

TEST_CASE("app: a checkpoint of any other length is refused") {
  const Folder folder;
  std::string bytes = checkpoint_bytes(separate_header);
  REQUIRE(failure_of([&] { app::load_checkpoint(folder.write("model.bin", bytes)); }) == "");
  for (std::size_t length = 0; length < bytes.size(); length += length < 64 ? 1 : 97) {
    CAPTURE(length);
    const std::string path = folder.write("model.bin", bytes.substr(0, length));
    const std::string message = failure_of([&] { app::load_checkpoint(path); });
    check_names_file(message, path);
    if (length > 0) CHECK(contains(message, length < 28 ? "at least 28 bytes" : std::to_string(bytes.size()) + " bytes"));
  }
  for (const char* surplus : {"x", "four", "much more"}) {
    const std::string path = folder.write("model.bin", bytes + surplus);
    const std::string message = failure_of([&] { app::load_checkpoint(path); });
    check_names_file(message, path);
    CHECK(contains(message, std::to_string(bytes.size()) + " bytes"));
  }
}

TEST_CASE("app: what is not a file is refused") {
  const Folder folder;
  const std::string paths[] = {folder.path(), folder.path() + "/none", folder.write("empty", ""), "/dev/null"};
  const char* const found[] = {"a directory", "no such file", "an empty file", "a character device"};
  for (int i = 0; i < 4; ++i) {
    for (const std::string& message : {failure_of([&] { app::load_checkpoint(paths[i]); }),
                                       failure_of([&] { app::Tokenizer(paths[i], small_vocabulary); })}) {
      CAPTURE(message);
      check_names_file(message, paths[i]);
      CHECK(contains(message, found[i]));
    }
  }
}
