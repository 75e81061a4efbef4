// Writes text with a model, one token after the other.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "language_model.h"
#include "sampler.h"
#include "tokenizer.h"

namespace app {

struct Generation {
  int tokens;      // that the model took
  double seconds;  // that it took for them
};

// Positions to generate for, from what the user asked for: 0 and more than the context, in tokens, stand for the whole context.
int steps_within(long long steps, int context);

// Takes the prompt and then whatever the sampler chooses, at most steps tokens in all, and hands on the text of each token that
// follows the beginning. Stops early when the model ends the text or begins a new one. The prompt is not empty; the model has
// room for the steps.
Generation generate(LanguageModel& model, const Tokenizer& tokenizer, Sampler& sampler, const std::vector<int>& prompt,
                    int steps, const std::function<void(std::string_view)>& print);

}  // namespace app
