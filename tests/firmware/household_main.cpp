// The application's household commands, on a board or on the host: the same code, and the same model, which boards have in
// flash. Writes three sentences, or the one that is the argument, each with the action that it asks for and a digest of all
// scores that the model computed for it, which are the same everywhere.
#include <cstdlib>
#include <exception>
#include <string>

#include "../../bench/app/commands.h"
#include "../../bench/app/household.h"
#include "../conformance/layer_digest.h"
#include "platform.h"

namespace {

// Of the scores of what may come next after each token of the sentence.
uint64_t digest_of(const app::Household& household, const std::string& sentence) {
  app::Llama llama(household.checkpoint, int(app::longest_tokens));
  uint64_t hash = 0;
  for (const int token : household.words.encode(sentence).tokens) {
    llama.advance(token);
    const std::vector<float>& logits = llama.logits();
    hash = attend_test::hash_of(logits.data(), logits.size(), hash);
  }
  return hash;
}

void answer(const app::Household& household, const std::string& sentence) {
  const std::string action = app::Commands(household).answer(sentence).action;
  firmware::print((sentence + "\n  " + action + "\n  scores ").c_str());
  firmware::print_number(digest_of(household, sentence), 16, 16);
  firmware::print("\n");
}

void answer_all() {
  static char sentence[2048];
  if (!firmware::read_arguments(sentence, sizeof sentence))
    throw app::Failure("the sentence is too long for a board's command line");
  const char* const model = std::getenv("ATTEND_MODEL");  // of a host
  const app::Household household = app::load_household(model == nullptr ? "model" : model);
  if (sentence[0] != '\0') return answer(household, sentence);
  for (const char* const example : app::example_sentences) answer(household, example);
}

}  // namespace

int firmware::run() {
  try {
    answer_all();
    return 0;
  } catch (const std::exception& error) {
    print(error.what());
    print("\n");
    return 1;
  }
}
