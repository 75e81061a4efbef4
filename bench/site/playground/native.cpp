// What this machine computes, as a JavaScript module, for the page and for tests to compare with: native MODEL [SENTENCES]
//
// Household commands, one in each line of the file SENTENCES, or those that the page proposes: actions, digests of all scores, and
// the fastest of five times. Then the textbook example, and the output for one long sequence.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "../../../tests/conformance/layer_digest.h"
#include "../../app/commands.h"
#include "../../app/textbook.h"
#include "attend/attend.h"
#include "attend/backend.h"

namespace {

constexpr const char* proposed[] = {
    "could you dim the lamp in the bedroom to thirty percent",
    "um wake me at half past six please",
    "what is the capital of france",
    "set a timer for seven minutes",
    "is the garage door closed",
    "turn the heating in my office up to twenty one degrees",
    "play some music in the kitchen",
    "lock the front door",
    "open the blinds in every room",
    "send the hoover home",
};

std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') result += '\\';
    result += character;
  }
  return result + "\"";
}

// Of the scores of what may come next after each token of the sentence.
std::uint64_t digest_of(const app::Household& household, const std::string& sentence) {
  app::Llama llama(household.checkpoint, int(app::longest_tokens));
  std::uint64_t hash = 0;
  for (const int token : household.words.encode(sentence).tokens) {
    llama.advance(token);
    const std::vector<float>& logits = llama.logits();
    hash = attend_test::hash_of(logits.data(), logits.size(), hash);
  }
  return hash;
}

void print_sentence(const app::Household& household, const std::string& sentence) {
  app::Commands commands(household);
  app::Answer answer = commands.answer(sentence);
  for (int i = 0; i < 4; ++i) {
    const app::Answer again = commands.answer(sentence);
    if (again.seconds < answer.seconds) answer = again;
  }
  std::printf("  {sentence: %s, action: %s, digest: '%s', milliseconds: %.3f},\n", quoted(sentence).c_str(),
              quoted(answer.action).c_str(), hexadecimal(digest_of(household, sentence)).c_str(), 1000 * answer.seconds);
}

template <int rows, int columns>
void print_matrix(const char* name, const float (&matrix)[rows][columns]) {
  std::printf("  %s: [", name);
  for (const auto& row : matrix) {
    for (const float number : row) std::printf("%.9g,", double(number));
  }
  std::printf("],\n");
}

void print_textbook() {
  const app::Textbook book = app::compute_textbook();
  std::printf("export const textbook = {\n");
  print_matrix("query", book.query);
  print_matrix("key", book.key);
  print_matrix("value", book.value);
  std::printf("  full: '%s', causal: '%s',\n};\n",
              hexadecimal(attend_test::hash_of(book.full.context[0], app::word_count * app::context_dim)).c_str(),
              hexadecimal(attend_test::hash_of(book.causal.context[0], app::word_count * app::context_dim)).c_str());
}

struct Long {
  static constexpr int query_heads = 4, kv_heads = 1, head_dim = 32;
};
constexpr int long_keys = 8192;
constexpr std::uint32_t long_seed = 20;

// The numbers of the long sequence: query, keys, values; uniform in [-1, 1), of a linear congruential generator.
void print_long() {
  static attend::Query<Long> query;
  static attend::Key<Long, long_keys> key;
  static attend::Value<Long, long_keys> value;
  attend::Output<Long> output;
  static attend::Workspace<Long, 1, long_keys> work;
  std::uint32_t state = long_seed;
  const auto fill = [&state](float* to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      state = state * 1664525u + 1013904223u;
      to[i] = float(state >> 8) * 0x1p-23f - 1.0f;
    }
  };
  fill(&query[0][0][0], sizeof query / sizeof(float));
  fill(&key[0][0][0], sizeof key / sizeof(float));
  fill(&value[0][0][0], sizeof value / sizeof(float));
  (void)attend::attention(query, key, value, output, work);  // of such shapes nothing is refused
  std::printf("export const long = {heads: %d, headDim: %d, keys: %d, seed: %u, digest: '%s'};\n", Long::query_heads,
              Long::head_dim, long_keys, unsigned(long_seed),
              hexadecimal(attend_test::hash_of(output[0][0], sizeof output / sizeof(float))).c_str());
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const char* const backend = std::getenv("ATTEND_BACKEND");
    if (backend != nullptr && !attend::use_backend(backend)) throw app::Failure("ATTEND_BACKEND: there is no such backend");
    const app::Household household = app::packed(app::load_household(count > 1 ? arguments[1] : ""));
    std::printf("export const machine = '%s';\nexport const sentences = [\n", attend::active_backend());
    if (count > 2) {
      std::ifstream file(arguments[2]);
      for (std::string line; std::getline(file, line);) print_sentence(household, line);
    } else {
      for (const char* const sentence : proposed) print_sentence(household, sentence);
    }
    std::printf("];\n");
    print_textbook();
    print_long();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
