#include "command_line.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace app {
namespace {

[[noreturn]] void refuse(std::string_view option, const std::string& expected, const std::string& found) {
  throw UsageError(std::string(option) + ": expected " + expected + ", found \"" + found + "\"");
}

template <class Number>
Number whole_number(std::string_view option, const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text[0] == '-') {
    refuse(option, "a whole number within 0 to " + std::to_string(std::numeric_limits<Number>::max()), text);
  }
  return number;
}

// Not from_chars: not every standard library that is in use has it for float.
float real_number(std::string_view option, const std::string& text, const std::string& expected) {
  char* end = nullptr;
  const float number = std::strtof(text.c_str(), &end);
  const bool begins = !text.empty() && text.find_first_not_of("0123456789.+-eE") == std::string::npos;
  if (!begins || *end != '\0' || end == text.c_str() || !std::isfinite(number)) refuse(option, expected, text);
  return number;
}

enum class Use { any, household, story };

struct Known {
  std::string_view option;
  Use use;
};

constexpr Known known_options[] = {
    {"--sentence", Use::household},   {"--household", Use::household}, {"--heatmap", Use::household},
    {"--arithmetic", Use::household}, {"--quantise", Use::household},  {"--example", Use::any},
    {"--model", Use::story},          {"--tokenizer", Use::story},     {"--prompt", Use::story},
    {"--steps", Use::story},          {"--temperature", Use::story},   {"--top-p", Use::story},
    {"--seed", Use::story},
};

Use use_of(std::string_view option) {
  for (const Known& known : known_options) {
    if (known.option == option) return known.use;
  }
  throw UsageError("unknown argument \"" + std::string(option) + "\"");
}

void set_numbers(CommandLine& line, std::string_view option, const std::string& text) {
  if (option == "--steps") {
    line.steps = whole_number<long long>(option, text);
  } else if (option == "--seed") {
    line.seed = whole_number<std::uint64_t>(option, text);
  } else if (option == "--temperature") {
    const std::string expected = "a number, 0 or larger";
    line.temperature = real_number(option, text, expected);
    if (line.temperature < 0) refuse(option, expected, text);
  } else {
    const std::string expected = "a number above 0 and at most 1";
    line.top_p = real_number(option, text, expected);
    if (!(line.top_p > 0 && line.top_p <= 1)) refuse(option, expected, text);
  }
}

void set(CommandLine& line, std::string_view option, const std::string& text) {
  std::string* const path = option == "--model"       ? &line.model
                            : option == "--tokenizer" ? &line.tokenizer
                            : option == "--household" ? &line.household
                            : option == "--heatmap"   ? &line.heatmap
                            : option == "--quantise"  ? &line.quantise
                                                      : nullptr;
  if (path != nullptr) {
    if (text.empty()) refuse(option, "a path", text);
    *path = text;
  } else if (option == "--sentence") {
    line.sentence = text;
  } else if (option == "--arithmetic") {
    if (text != "integer" && text != "float32") refuse(option, "\"integer\" or \"float32\"", text);
    line.integer = text == "integer";
  } else if (option == "--prompt") {
    line.prompt = text;
  } else if (option == "--example") {
    if (text != "textbook") refuse(option, "\"textbook\"", text);
    line.textbook = true;
  } else {
    set_numbers(line, option, text);
  }
}

}  // namespace

CommandLine parse_command_line(int count, const char* const* arguments) {
  CommandLine line;
  std::string_view household_option;
  for (int i = 1; i < count; ++i) {
    const std::string_view option = arguments[i];
    if (option == "--help" || option == "-h") {
      line.help = true;
      continue;
    }
    if (option == "--list") {
      line.list = true;
      household_option = option;
      continue;
    }
    const Use use = use_of(option);
    if (i + 1 == count) throw UsageError(std::string(option) + ": expected a value after it, found the end");
    set(line, option, arguments[++i]);
    if (use == Use::household) household_option = option;
    if (use == Use::story && option != "--model" && option != "--tokenizer") line.ignored = option;
  }
  const bool story = !line.model.empty();
  if (!line.tokenizer.empty() && !story) throw UsageError("--tokenizer: expected --model as well, found none");
  if (story && line.textbook) throw UsageError("--example: expected no --model beside it, found one");
  if (!household_option.empty() && (story || line.textbook)) {
    throw UsageError(std::string(household_option) + ": expected neither --model nor --example beside it, found one");
  }
  if (line.integer && !line.heatmap.empty()) {
    throw UsageError("--heatmap: expected no --arithmetic integer beside it, whose attention has no weights to show, found it");
  }
  if (story) line.ignored.clear();
  return line;
}

const char* usage_text() {
  return "usage: run [--sentence TEXT] [--heatmap FOLDER] [--household PATH] [--arithmetic integer]\n"
         "       run --list [--household PATH]\n"
         "       run --quantise PATH [--household PATH]\n"
         "       run --example textbook\n"
         "       run --model PATH [--tokenizer PATH] [--prompt TEXT] [--steps N] [--temperature T] [--top-p P] [--seed S]\n"
         "\n"
         "The first writes the action that a household command asks for; the second lists all actions, rooms and other\n"
         "parameters; the third writes scales for 8-bit arithmetic into the model; the fourth shows self-attention on one\n"
         "sentence, step by step; the last tells a story.\n"
         "\n"
         "  --sentence TEXT   the command; without it, those that are typed at a terminal, or else three examples\n"
         "  --heatmap FOLDER  shows what each attention head looked at, here and in FOLDER/heatmap-1.svg …\n"
         "  --household PATH  the model of household commands; bench/app/model/household.bin\n"
         "  --arithmetic integer computes attention and projections in integers; float32: in floats, as without it\n"
         "  --quantise PATH   sentences of the training, whose activations the scales shall fit\n"
         "  --model PATH      a Llama or a GPT-2 in a GGUF file, or a Llama in the version 0 format of llama2.c\n"
         "  --tokenizer PATH  the checkpoint's vocabulary, in the tokenizer format of llama2.c; GGUF files have their own\n"
         "  --prompt TEXT     how the story begins; nothing\n"
         "  --steps N         tokens, those of the prompt included; 256. 0: as many as the model's context\n"
         "  --temperature T   0: always the most likely token; 1: as likely as the model says; 0\n"
         "  --top-p P         draw only from the most likely tokens that together have probability P; 1: from all; 1\n"
         "  --seed S          another seed draws another story; 1\n"
         "\n"
         "ATTEND_BACKEND=NAME in the environment chooses the code that computes attention; the text stays the same.\n";
}

}  // namespace app
