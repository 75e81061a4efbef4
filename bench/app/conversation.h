// Household commands and their answers: one that was given, those that a person types, or three examples.
#pragma once

#include <functional>
#include <istream>
#include <string_view>

#include "command_line.h"

namespace app {

struct Terminal {
  std::istream* typed;                          // lines of a person, or null: there is no terminal
  std::function<void(std::string_view)> write;  // answers
  std::function<void(std::string_view)> note;   // what it took, and which files were written
  bool colour;
};

// Throws Failure for a model or a heat map that cannot be had, and for a sentence that was given and is none; what is typed may
// be wrong, and the answer says so.
void converse(const CommandLine& line, const Terminal& terminal);

}  // namespace app
