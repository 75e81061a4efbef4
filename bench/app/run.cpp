// The application: understands household commands, tells a story with another model, or walks through self-attention.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "attend/backend.h"
#include "calibrate.h"
#include "checkpoint.h"
#include "command_line.h"
#include "conversation.h"
#include "generate.h"
#include "gguf.h"
#include "gguf_model.h"
#include "household.h"
#include "listing.h"
#include "sampler.h"
#include "story_model.h"
#include "textbook.h"
#include "tokenizer.h"

namespace app {
namespace {

// ATTEND_BACKEND, where it is set, instead of the fastest.
void choose_backend() {
  const char* const name = std::getenv("ATTEND_BACKEND");
  if (name == nullptr || *name == '\0' || attend::use_backend(name)) return;
  std::string available;
  for (int i = 0; i < attend::backend_count(); ++i) {
    if (!attend::backend_available(i)) continue;
    available += (available.empty() ? "" : ", ") + std::string(attend::backend_name(i));
  }
  throw Failure("ATTEND_BACKEND: expected one of " + available + ", found \"" + name + "\"");
}

void write(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw Failure("standard output: cannot be written");
}

// Without the control characters that a model can make of single bytes: they could reprogram a terminal.
void write_token(std::string_view text) {
  std::string printable;
  for (const char character : text) {
    const bool space = character == '\n' || character == '\t';
    const bool control = static_cast<unsigned char>(character) < 0x20 || character == 0x7F;
    if (space || !control) printable += character;
  }
  write(printable);
}

bool shows_colour() { return isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr; }

void show_textbook() {
  write(textbook_page(shows_colour()));
  std::fprintf(stderr, "backend %s\n", attend::active_backend());
}

// Says what takes more than a moment.
void announce(const std::string& path) {
  constexpr std::uintmax_t slow_bytes = std::uintmax_t(1) << 28;
  std::error_code unknown;  // then loading it says what is wrong
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  if (!unknown && bytes >= slow_bytes) {
    std::fprintf(stderr, "reading %s, %.1f GB\n", path.c_str(), static_cast<double>(bytes) / 1e9);
  }
}

StoryModel load_model(const CommandLine& line) {
  if (line.tokenizer.empty()) return load_gguf(line.model);
  if (is_gguf(line.model)) throw UsageError("--tokenizer: expected none beside a GGUF file, which has its own, found one");
  Checkpoint checkpoint = load_checkpoint(line.model);
  const int pieces = checkpoint.config.vocab_size;
  return {std::move(checkpoint), load_vocabulary(line.tokenizer, pieces)};
}

void tell_story(const CommandLine& line) {
  announce(line.model);
  const StoryModel model = packed(load_model(line));
  const Tokenizer tokenizer(model.vocabulary);
  const std::vector<int> prompt = tokenizer.encode(line.prompt);
  const std::size_t context = static_cast<std::size_t>(model.context());
  if (prompt.size() > context) {
    throw Failure("--prompt: expected at most " + std::to_string(context) + " tokens, the model's context, found " +
                  std::to_string(prompt.size()));
  }
  const int steps = steps_within(line.steps, model.context());
  if (prompt.size() > static_cast<std::size_t>(steps)) {
    std::fprintf(stderr, "note: --steps %d ends within the prompt of %zu tokens\n", steps, prompt.size());
  }
  const std::unique_ptr<LanguageModel> computed = language_model(model, steps);
  Sampler sampler(line.temperature, line.top_p, line.seed);
  const Generation generation = generate(*computed, tokenizer, sampler, prompt, steps, write_token);
  write("\n");
  std::fprintf(stderr, "%d tokens, %.0f tokens per second, backend %s\n", generation.tokens,
               generation.tokens / generation.seconds, attend::active_backend());
}

int run(int count, const char* const* arguments) {
  const CommandLine line = parse_command_line(count, arguments);
  if (line.help) {
    write(usage_text());
    return 0;
  }
  choose_backend();
  if (!line.ignored.empty()) std::fprintf(stderr, "note: %s means nothing without --model\n", line.ignored.c_str());
  if (!line.model.empty()) {
    tell_story(line);
  } else if (!line.quantise.empty()) {
    write(quantise_household(line.household, line.quantise, line.held_out));
  } else if (line.list) {
    write(listing(load_household(line.household).words));
  } else if (line.textbook) {
    show_textbook();
  } else {
    const auto note = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); };
    converse(line, {isatty(STDIN_FILENO) == 1 ? &std::cin : nullptr, write, note, shows_colour()});
  }
  return 0;
}

// Keeps one line one line, whatever a file name is made of.
int complain(std::string message, const char* hint, int status) {
  for (char& character : message) {
    if (static_cast<unsigned char>(character) < 0x20 || character == 0x7F) character = '?';
  }
  std::fprintf(stderr, "run: %s%s\n", message.c_str(), hint);
  return status;
}

}  // namespace
}  // namespace app

int main(int count, char** arguments) {
  try {
    return app::run(count, arguments);
  } catch (const app::UsageError& error) {
    return app::complain(error.what(), " (run --help shows the usage)", 2);
  } catch (const std::bad_alloc&) {
    return app::complain("not enough memory", "", 1);
  } catch (const std::exception& error) {
    return app::complain(error.what(), "", 1);
  }
}
