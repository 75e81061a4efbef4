// The application on a board: the same code that runs on the host, with model and tokenizer in flash. Arguments: how many
// tokens, 64 when there is none, then the prompt. Always takes the most likely token.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "../app/checkpoint.h"
#include "../app/generate.h"
#include "../app/input_file.h"
#include "../app/llama.h"
#include "../app/sampler.h"
#include "../app/tokenizer.h"
#include "platform.h"

namespace {

constexpr long default_steps = 64;

void write_text(std::string_view text) { firmware::write(text.data(), text.size()); }

void tell_story() {
  static char arguments[2048];
  if (!firmware::read_arguments(arguments, sizeof arguments))
    throw app::Failure("the prompt is too long for a board's command line");
  char* prompt_text = arguments;
  const long given = std::strtol(arguments, &prompt_text, 10);
  if (*prompt_text == ' ') ++prompt_text;

  const app::Checkpoint checkpoint = app::load_checkpoint("model");
  const app::Tokenizer tokenizer("tokenizer", checkpoint.config.vocab_size);
  const std::vector<int> prompt = tokenizer.encode(prompt_text);
  const int steps = app::steps_within(arguments[0] == '\0' ? default_steps : given, checkpoint.config.seq_len);
  app::Llama llama(checkpoint, steps);
  app::Sampler sampler(0, 1, 1);
  app::generate(llama, tokenizer, sampler, prompt, steps, write_text);
  write_text("\n");
}

}  // namespace

int firmware::run() {
  try {
    tell_story();
    return 0;
  } catch (const std::exception& error) {
    print(error.what());
    print("\n");
    return 1;
  }
}
