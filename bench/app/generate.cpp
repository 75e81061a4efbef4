#include "generate.h"

#include <chrono>

namespace app {

int steps_within(long long steps, int context) { return steps <= 0 || steps > context ? context : static_cast<int>(steps); }

Generation generate(LanguageModel& model, const Tokenizer& tokenizer, Sampler& sampler, const std::vector<int>& prompt,
                    int steps, const std::function<void(std::string_view)>& print) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  int token = prompt[0], taken = 0;
  if (steps > 0 && token != tokenizer.begin()) print(tokenizer.decode(tokenizer.begin(), token));
  while (taken < steps) {
    model.advance(token);
    ++taken;
    const auto position = static_cast<std::size_t>(taken);
    const int next = position < prompt.size() ? prompt[position] : sampler.choose(model.logits());
    if (tokenizer.ends(next)) break;
    print(tokenizer.decode(token, next));
    token = next;
  }
  return {taken, std::chrono::duration<double>(Clock::now() - start).count()};
}

}  // namespace app
