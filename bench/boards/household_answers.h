// What programs of household commands have in common, on a board or on the host: three sentences, or the one that is the
// argument, and a digest of all scores that a model computes for one, which are the same everywhere.
#pragma once

#include <cstdlib>
#include <exception>
#include <string>

#include "../../tests/conformance/layer_digest.h"
#include "../app/commands.h"
#include "../app/household.h"
#include "platform.h"
#ifdef ATTEND_COUNT
#include "instructions.h"
#endif

namespace firmware {

size_t heap_bytes();  // newlib.cpp: how far the heap has come

// Of the scores of what may come next after each token of the sentence.
template <class Llama>
uint64_t digest_of(Llama& llama, const app::Household& household, const std::string& sentence) {
  uint64_t hash = 0;
  for (const int token : household.words.encode(sentence).tokens) {
    llama.advance(token);
    const std::vector<float>& logits = llama.logits();
    hash = attend_test::hash_of(logits.data(), logits.size(), hash);
  }
  return hash;
}

inline void print_answer(const std::string& sentence, const std::string& action, uint64_t digest) {
  print((sentence + "\n  " + action + "\n  scores ").c_str());
  print_number(digest, 16, 16);
}

// The action that a sentence asks for, and the digest of the scores of the same model, which make() makes anew. Compiled with
// ATTEND_COUNT also the instructions, and the heap before that; the board must be started with a clock that moves with them.
template <class Make>
void answer_and_count(app::Commands commands, const app::Household& household, const std::string& sentence, Make make) {
  app::Answer found;
#ifdef ATTEND_COUNT
  if (!start_counting()) return;
  const uint64_t instructions = count_instructions([&] { found = commands.answer(sentence); });
  const size_t heap = heap_bytes();
#else
  found = commands.answer(sentence);
#endif
  auto model = make();
  print_answer(sentence, found.action, digest_of(model, household, sentence));
#ifdef ATTEND_COUNT
  print("\n  ");
  print_number(uint64_t(found.tokens));
  print(" tokens, ");
  print_number(instructions);
  print(" instructions, ");
  print_number(heap);
  print(" bytes of heap");
#endif
  print("\n");
}

// Calls answer(household, sentence) for each; the program's exit status. load: what the household is read by, from a path.
template <class Answer>
int run_household(Answer answer, app::Household (*load)(const std::string&) = app::load_household) {
  try {
    static char sentence[2048];
    if (!read_arguments(sentence, sizeof sentence)) throw app::Failure("the sentence is too long for a board's command line");
    const char* const model = std::getenv("ATTEND_MODEL");  // of a host
    const app::Household household = load(model == nullptr ? "model" : model);
    if (sentence[0] != '\0') {
      answer(household, sentence);
    } else {
      for (const char* const example : app::example_sentences) answer(household, example);
    }
    return 0;
  } catch (const std::exception& error) {
    print(error.what());
    print("\n");
    return 1;
  }
}

}  // namespace firmware
