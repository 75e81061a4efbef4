// Household commands by the model in integers. Compiled with ATTEND_COUNT it also tells the instructions of each sentence; the
// board must be started with a clock that moves with them.
#include "../../bench/app/integer_llama.h"
#include "household_answers.h"
#ifdef ATTEND_COUNT
#include "instructions.h"
#endif

namespace {

void answer(const app::Household& household, const std::string& sentence) {
  app::Commands commands(household, app::Arithmetic::integer);
  app::IntegerLlama llama(household.checkpoint, household.scales, int(app::longest_tokens));
  app::Answer found;
#ifdef ATTEND_COUNT
  if (!firmware::start_counting()) return;
  const uint64_t instructions = firmware::count_instructions([&] { found = commands.answer(sentence); });
#else
  found = commands.answer(sentence);
#endif
  firmware::print_answer(sentence, found.action, firmware::digest_of(llama, household, sentence));
#ifdef ATTEND_COUNT
  firmware::print("\n  ");
  firmware::print_number(uint64_t(found.tokens));
  firmware::print(" tokens, ");
  firmware::print_number(instructions);
  firmware::print(" instructions");
#endif
  firmware::print("\n");
}

}  // namespace

int firmware::run() { return run_household(answer); }
