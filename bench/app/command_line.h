// What the user asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "input_file.h"

namespace app {

// The command line itself is wrong.
class UsageError : public Failure {
  using Failure::Failure;
};

struct CommandLine {
  std::optional<std::string> sentence;                      // the only one to answer
  std::string household = "bench/app/model/household.bin";  // path of the model of household commands
  bool integer = false;                                     // household commands by the model in integers
  std::string quantise;                                   // path of sentences whose scales the household gets; empty: it stays
  std::string held_out = "bench/app/model/held_out.txt";  // path of sentences that tell what it then understands
  std::string heatmap;                                    // folder for heat maps of the attention; empty: none
  bool textbook = false;
  bool list = false;      // what the model of household commands can answer with
  std::string model;      // path of a model that tells stories; empty: household commands or the textbook
  std::string tokenizer;  // path; never without model, and empty where that is a GGUF file
  std::string prompt;
  std::string ignored;    // an option of stories where no story is told, "" when there is none
  long long steps = 256;  // >= 0
  float temperature = 0;  // >= 0, finite
  float top_p = 1;        // within 0 … 1, above 0
  std::uint64_t seed = 1;
  bool help = false;
};

// Throws UsageError.
CommandLine parse_command_line(int count, const char* const* arguments);

// Several lines, with a newline at the end.
const char* usage_text();

}  // namespace app
