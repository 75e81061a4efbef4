// Household commands by the model in integers.
#include "../app/integer_llama.h"
#include "household_answers.h"

namespace {

void answer(const app::Household& household, const std::string& sentence) {
  firmware::answer_and_count(app::Commands(household, app::Arithmetic::integer), household, sentence, [&] {
    return app::IntegerLlama(household.checkpoint, household.scales, int(app::longest_tokens));
  });
}

}  // namespace

int firmware::run() { return run_household(answer); }
