// The application's household commands, on a board or on the host: the same code, and the same model, which boards have in
// flash.
#include "household_answers.h"

int firmware::run() {
  return run_household([](const app::Household& household, const std::string& sentence) {
    app::Llama llama(household.checkpoint, int(app::longest_tokens));
    print_answer(sentence, app::Commands(household).answer(sentence).action, digest_of(llama, household, sentence));
    print("\n");
  });
}
