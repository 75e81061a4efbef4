// GGUF files: the bits of the checkpoint that they were written from, all kinds of numbers, and which files are refused.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "../../bench/app/generate.h"
#include "../../bench/app/gguf.h"
#include "../../bench/app/gguf_model.h"
#include "../../bench/app/llama.h"
#include "../../bench/app/sampler.h"
#include "../../bench/app/tokenizer.h"
#include "../support/app_checks.h"
#include "../support/damaged_files.h"
#include "../support/gguf_writer.h"
#include "../support/gpt2_files.h"
#include "../support/model_files.h"
#include "../support/needed.h"

using namespace attend_test;
using app::NumberKind;

namespace {

// Columns in whole blocks.
constexpr Header block_header = {{64, 96, 2, 8, 4, -small_vocabulary, 21}};

constexpr Header wide_header = {{256, 512, 1, 8, 4, small_vocabulary, 21}};

constexpr NumberKind all_kinds[] = {NumberKind::q6_k,     NumberKind::float32, NumberKind::float16,
                                    NumberKind::bfloat16, NumberKind::q8_0,    NumberKind::q4_0};

struct Files {
  Folder folder;
  app::Vocabulary vocabulary = app::load_vocabulary(folder.write("tokenizer.bin", tokenizer_bytes()), small_vocabulary);

  app::Checkpoint checkpoint(const Header& header) const {
    return app::load_checkpoint(folder.write("model.bin", checkpoint_bytes(header)));
  }

  template <class Change>
  std::string written(const Header& header, NumberKind kind, Change change) const {
    return gguf_bytes(checkpoint(header), vocabulary, kind, change);
  }
};

std::vector<float> logits_of(const app::Checkpoint& checkpoint, const std::vector<int>& tokens) {
  const app::Checkpoint in_panels = app::packed(checkpoint);
  app::Llama llama(in_panels, int(tokens.size()));
  std::vector<float> all;
  for (const int token : tokens) {
    llama.advance(token);
    all.insert(all.end(), llama.logits().begin(), llama.logits().end());
  }
  return all;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("app: a GGUF file gives the bits of the checkpoint that it was written from") {
  const Files files;
  const std::vector<int> tokens = {1, 260, 263, 77, 2};
  for (const Header& header : {small_header, separate_header, block_header}) {
    const app::Checkpoint checkpoint = files.checkpoint(header);
    const std::string path =
        files.folder.write("model.gguf", gguf_bytes(checkpoint, files.vocabulary, NumberKind::float32, as_it_is));
    CHECK(app::is_gguf(path));
    const app::StoryModel model = app::load_gguf(path);
    CHECK(model.llama().config.shared_classifier == checkpoint.config.shared_classifier);
    CHECK(same_bits(logits_of(model.llama(), tokens), logits_of(checkpoint, tokens)));
  }
  CHECK_FALSE(app::is_gguf(files.folder.write("model.bin", checkpoint_bytes(small_header))));
}

TEST_CASE("app: numbers of 16, 8 and 4 bits are those that the file holds, and compute as their float32") {
  const Files files;
  const std::vector<int> tokens = {1, 9, 270};
  for (const NumberKind kind : all_kinds) {
    CAPTURE(int(kind));
    const app::Checkpoint checkpoint = files.checkpoint(kind == NumberKind::q6_k ? wide_header : block_header);
    app::StoryModel model =
        app::load_gguf(files.folder.write("model.gguf", gguf_bytes(checkpoint, files.vocabulary, kind, as_it_is)));
    const std::vector<float> found = logits_of(model.llama(), tokens);
    app::Checkpoint floats = checkpoint;
    std::vector<std::vector<float>> kept;
    kept.reserve(16);
    int differ = 0;
    const auto compare = [&](app::Matrix& expected, const app::Matrix& matrix) {
      const float* const from = static_cast<const float*>(expected.numbers);
      const auto count = std::size_t(expected.outputs) * std::size_t(expected.inputs);
      kept.push_back(read_back(kind, stored_rows(kind, {from, from + count})));
      REQUIRE(kept.back().size() == count);
      std::vector<float> row(std::size_t(matrix.inputs));
      for (int r = 0; r < matrix.outputs; ++r) {
        app::read_row(matrix, r, row.data());
        differ += std::memcmp(row.data(), &kept.back()[std::size_t(r * matrix.inputs)], row.size() * sizeof(float)) != 0;
      }
      expected.numbers = kept.back().data();
    };
    compare(floats.weights.token_embedding, model.llama().weights.token_embedding);
    compare(floats.weights.classifier, model.llama().weights.classifier);
    for (std::size_t i = 0; i < floats.weights.layers.size(); ++i) {
      for (app::Matrix app::Layer::*const matrix : app::layer_matrices) {
        compare(floats.weights.layers[i].*matrix, model.llama().weights.layers[i].*matrix);
      }
    }
    CHECK(differ == 0);
    CHECK(same_bits(found, logits_of(floats, tokens)));
  }
}

TEST_CASE("app: a GGUF file's vocabulary takes text as the tokenizer's file does") {
  const Files files;
  const auto load = [&](auto change) {
    return app::Tokenizer(
        app::load_gguf(files.folder.write("model.gguf", files.written(small_header, NumberKind::float32, change))).vocabulary);
  };
  const app::Tokenizer expected(files.vocabulary), found = load(as_it_is);
  for (const char* text : {"", "abc", " a bc", "é€ xyz", "<0x41>", "\n"}) {
    CAPTURE(text);
    const std::vector<int> tokens = found.encode(text);
    CHECK(tokens == expected.encode(text));
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      CHECK(found.decode(tokens[i - 1], tokens[i]) == expected.decode(tokens[i - 1], tokens[i]));
    }
  }
  CHECK(found.ends(1));
  CHECK(found.ends(2));
  CHECK_FALSE(expected.ends(2));  // checkpoints of llama2.c end at 1 alone

  const app::Tokenizer other = load([](GgufWriter& file) {
    file.whole("tokenizer.ggml.eos_token_id", 7), file.whole("tokenizer.ggml.bos_token_id", 5);
    file.truth("tokenizer.ggml.add_space_prefix", false);
  });
  CHECK(other.encode("abc") == std::vector<int>{5, token_of("abc")});
  CHECK(other.decode(5, token_of(" a")) == " a");
  CHECK(other.ends(7));
  CHECK_FALSE(other.ends(2));
  CHECK(other.decode(1, 0) == "");  // control pieces are not printed
  const app::Tokenizer bare = load([](GgufWriter& file) { file.truth("tokenizer.ggml.add_bos_token", false); });
  CHECK(bare.encode("") == std::vector<int>{1});
  CHECK(bare.encode("abc").size() + 1 == expected.encode("abc").size());
  // Then the story begins with the prompt's first piece.
  const app::Checkpoint checkpoint = files.checkpoint(small_header);
  app::Llama llama(checkpoint, 3);
  app::Sampler sampler(0, 1, 1);
  std::string text;
  app::generate(llama, bare, sampler, bare.encode("abcab"), 2, [&](std::string_view piece) { text += piece; });
  CHECK(text.compare(0, 5, "abcab") == 0);
}

TEST_CASE(
    "app: a GGUF file's own markers are taken out of texts, the longest first; pieces without types are told by their text") {
  const Files files;
  app::Vocabulary vocabulary = files.vocabulary;
  vocabulary.pieces[std::size_t(token_of("1>"))] = {"<0", 0, app::PieceKind::whole};
  vocabulary.pieces[std::size_t(token_of("<0"))] = {"<0x4", 0, app::PieceKind::whole};
  const app::Tokenizer tokenizer(vocabulary);
  CHECK(tokenizer.encode("<0x4<0a") == std::vector<int>{1, token_of(" "), token_of("<0"), token_of("1>"), token_of("a")});

  const app::Checkpoint checkpoint = files.checkpoint(small_header);
  std::string bytes = gguf_bytes(checkpoint, files.vocabulary, NumberKind::float32, as_it_is);
  const std::size_t at = bytes.find("token_type");
  bytes.replace(at, 10, "other_name");
  const app::StoryModel model = app::load_gguf(files.folder.write("model.gguf", bytes));
  for (std::size_t i = 0; i < model.vocabulary.pieces.size(); ++i) {
    CHECK(model.vocabulary.pieces[i].kind == files.vocabulary.pieces[i].kind);
  }
}

TEST_CASE("app: positions of a GGUF file are scaled linearly, said by its type, or by a factor alone, new or old") {
  const Files files;
  const auto factor = [&](auto change) {
    const std::string path = files.folder.write("model.gguf", files.written(small_header, NumberKind::float32, change));
    return app::load_gguf(path).llama().config.rotation_factor;
  };
  CHECK(factor(as_it_is) == 1);
  CHECK(factor([](GgufWriter& file) { file.real("llama.rope.scaling.factor", 4); }) == 4);
  CHECK(factor([](GgufWriter& file) { file.real("llama.rope.scale_linear", 2); }) == 2);
  CHECK(factor([](GgufWriter& file) { file.real("llama.rope.scaling.factor", 0); }) == 1);
  CHECK(factor([](GgufWriter& file) { file.text("llama.rope.scaling.type", "linear"); }) == 1);
  CHECK(factor([](GgufWriter& file) {
          file.text("llama.rope.scaling.type", "none"), file.real("llama.rope.scaling.factor", 4);
        }) == 1);
  app::Checkpoint checkpoint = files.checkpoint(small_header);
  const std::vector<float> plain = logits_of(checkpoint, {1, 5, 9});
  checkpoint.config.rotation_factor = 4;
  CHECK_FALSE(same_bits(logits_of(checkpoint, {1, 5, 9}), plain));
}

TEST_CASE("app: a GGUF file may say for each pair how many times more slowly it turns, also beside a vocabulary of merges") {
  const Files files;
  const MergedVocabulary vocabulary = merged_vocabulary("llama-bpe", {{"a", "b"}, {"ab", "c"}});
  const Header header = {{20, 13, 2, 5, 5, -std::int32_t(vocabulary.tokens.size()), 21}};  // 2 pairs
  const app::Checkpoint checkpoint = files.checkpoint(header);
  const auto load = [&](const std::vector<float>& factors) {
    return app::load_gguf(
        files.folder.write("model.gguf", gguf_bytes(checkpoint, vocabulary, NumberKind::float32, [&](GgufWriter& file) {
                             file.tensor("rope_freqs.weight", {factors.size()}, 0, stored_rows(NumberKind::float32, factors));
                           })));
  };
  const app::StoryModel model = load({1, 8});
  CHECK(model.llama().weights.rotation_factors[0] == 1);
  CHECK(model.llama().weights.rotation_factors[1] == 8);
  const std::vector<int> tokens = app::Tokenizer(model.vocabulary).encode("abc, ab");
  CHECK(tokens == std::vector<int>{258, 257, 255 - ',', 255 - ' ', 256});
  const std::vector<float> plain = logits_of(checkpoint, tokens);
  CHECK(same_bits(logits_of(load({1, 1}).llama(), tokens), plain));
  CHECK_FALSE(same_bits(logits_of(model.llama(), tokens), plain));
  for (const std::vector<float>& wrong : {std::vector<float>{1, 0}, {1, NAN}, {1, -1}, {INFINITY, 1}, {1, 1, 1}, {1}}) {
    CHECK(contains(failure_of([&] { load(wrong); }), "numbers"));
    CHECK(contains(failure_of([&] { load(wrong); }), "as tensor rope_freqs.weight, found "));
  }
}

TEST_CASE("app: a GGUF file of anything but a Llama as the program knows it is refused") {
  const Files files;
  const auto check = [&](const std::string& bytes, const std::string& words) {
    CAPTURE(words);
    const std::string path = files.folder.write("model.gguf", bytes);
    const std::string message = failure_of([&] { app::load_gguf(path); });
    CAPTURE(message);
    check_names_file(message, path);
    CHECK(contains(message, words));
  };
  const std::string good = files.written(small_header, NumberKind::float32, as_it_is);
  const auto replaced = [&](const std::string& from, const std::string& to) {
    REQUIRE(from.size() == to.size());
    const std::size_t at = good.find(from);
    REQUIRE(at != std::string::npos);
    return good.substr(0, at) + to + good.substr(at + from.size());
  };
  check("GGUX" + good.substr(4), "\"GGUF\"");
  check(replaced("GGUF\3", "GGUF\1"), "version 2 or 3");
  check(replaced(std::string("GGUF\3\0\0\0", 8), std::string("GGUF\0\0\0\3", 8)), "little endian");
  check(replaced("llama", "gemma"), "\"llama\" or \"gpt2\" as general.architecture, found \"gemma\"");
  check(replaced("llama.block_count", "llama.block_couns"), "whole number as llama.block_count, found none");
  check(replaced("attn_q.weight", "attn_x.weight"), "tensor blk.0.attn_q.weight");
  const auto added = [&](auto change) { return files.written(small_header, NumberKind::float32, change); };
  const std::string zeros(32, '\0');
  check(added([&](GgufWriter& file) { file.tensor("blk.0.attn_q.bias", {8}, 0, zeros); }), "found blk.0.attn_q.bias");
  check(added([&](GgufWriter& file) { file.tensor("token_embd.weight", {8}, 0, zeros); }), "one tensor token_embd.weight");
  check(added([&](GgufWriter& file) {
          file.tensor("output.weight", {20, small_vocabulary - 1}, 0, std::string(20 * 4 * (small_vocabulary - 1), 'x'));
        }),
        "20 x 280 numbers as tensor output.weight, found 20 x 279");
  check(added([&](GgufWriter& file) { file.tensor("output.weight", {20, small_vocabulary}, 12, zeros); }), "found type 12");
  check(added([&](GgufWriter& file) { file.tensor("output.weight", {20, small_vocabulary}, 2, zeros); }), "a multiple of 32");
  check(added([&](GgufWriter& file) {
          file.tensor("output.weight", {20, small_vocabulary}, 0, zeros);
        }),
        "bytes of tensors up to output.weight");
  check(added([&](GgufWriter& file) { file.tensor("other", {2, 2, 2}, 0, zeros); }), "a vector or a matrix");
  check(added([&](GgufWriter& file) { file.tensor("other", {2, 1, 1, 1, 1}, 0, zeros); }), "1 to 4 dimensions");
  check(added([&](GgufWriter& file) { file.tensor("other", {std::uint64_t(1) << 60}, 0, zeros); }), "as tensor other");
  check(added([&](GgufWriter& file) { file.text("llama.rope.scaling.type", "yarn"); }),
        "\"none\" or \"linear\" as llama.rope.scaling.type");
  check(added([&](GgufWriter& file) { file.whole("llama.attention.key_length", 4); }),
        "which is 2, as llama.attention.key_length, found 4");
  check(added([&](GgufWriter& file) { file.whole("general.alignment", 48); }), "a power of two");
  check(added([&](GgufWriter& file) { file.whole(std::string(300, 'x'), 48); }), "bytes of a name");
  // Two tensors in one place: the last row of the list is moved to the first tensor.
  std::string aliased = added([&](GgufWriter& file) { file.tensor("aliased", {8}, 0, zeros); });
  const std::size_t place = aliased.find("aliased") + 7 + 4 + 8 + 4;
  for (std::size_t i = 0; i < 8; ++i) aliased[place + i] = 0;
  check(aliased, "of the tensors, behind the one before, found 0");
  check(added([&](GgufWriter& file) { file.array("more", 9, 1); }), "numbers or texts as more");
  check(added([&](GgufWriter& file) { file.array("more", 4, std::uint64_t(1) << 60); }), "elements of an array");
  check(added([&](GgufWriter& file) { file.whole("tokenizer.ggml.eos_token_id", small_vocabulary); }), "eos_token_id within");
  check(added([&](GgufWriter& file) { file.large("llama.attention.key_length", std::uint64_t(1) << 63); }),
        "to 16777216, found 9223372036854775808");
  check(added([&](GgufWriter& file) { file.whole("llama.rope.freq_base", 10000); }), "one llama.rope.freq_base");
}

TEST_CASE("app: a GGUF file that is cut or damaged anywhere is refused or computes, and never more") {
  const Files files;
  const std::string good = files.written(block_header, NumberKind::q4_0, as_it_is);
  const auto is_refused = [&](const std::string& bytes) {
    const std::string path = files.folder.write("model.gguf", bytes);
    const std::string message = failure_of([&] {
      const app::StoryModel model = app::load_gguf(path);
      // Damage can ask for a model of any size; what fits into the file computes.
      logits_of(model.llama(), app::Tokenizer(model.vocabulary).encode("ab"));
    });
    if (!message.empty()) CHECK(message.compare(0, path.size() + 2, path + ": ") == 0);
    return !message.empty();
  };
  check_damage(good, 8192, good.find("blk.1.ffn_down.weight"), is_refused);
}

TEST_CASE("app: a real model tells the same story from a GGUF file" * needs_model()) {
  const std::string model = model_file("ATTEND_MODEL"), tokenizer_path = model_file("ATTEND_TOKENIZER");
  const app::Checkpoint checkpoint = app::load_checkpoint(model);
  const app::Vocabulary vocabulary = app::load_vocabulary(tokenizer_path, checkpoint.config.vocab_size);
  const Folder folder;
  const auto story = [](const app::Checkpoint& weights, const app::Vocabulary& pieces) {
    const app::Tokenizer tokenizer(pieces);
    app::Llama llama(weights, 200);
    app::Sampler sampler(0, 1, 1);
    std::string text;
    app::generate(llama, tokenizer, sampler, tokenizer.encode(""), 200, [&](std::string_view piece) { text += piece; });
    return text;
  };
  const app::StoryModel same =
      app::load_gguf(folder.write("model.gguf", gguf_bytes(checkpoint, vocabulary, NumberKind::float32, as_it_is)));
  CHECK(story(app::packed(same.llama()), same.vocabulary) == story(checkpoint, vocabulary));
}
