// GGUF files of GPT-2s and of vocabularies with merges: what is read, and which files are refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../bench/app/gguf_model.h"
#include "../../bench/app/tokenizer.h"
#include "../support/app_checks.h"
#include "../support/damaged_files.h"
#include "../support/gpt2_files.h"
#include "../support/model_files.h"

using namespace attend_test;
using app::NumberKind;

TEST_CASE("app: a GGUF file of a GPT-2 with anything missing or wrong is refused") {
  const Folder folder;
  const Gpt2Numbers numbers = random_gpt2(odd_gpt2, 5);
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
  const auto bytes_of = [&](const MergedVocabulary& vocabulary, auto change) {
    app::Gpt2Config fitting = odd_gpt2;
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
  const std::string good = gguf_bytes(random_gpt2(block_gpt2, 2), small_merges, NumberKind::q4_0, as_it_is);
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
  check_damage(good, 16384, good.find("output_norm.bias"), is_refused);
}
