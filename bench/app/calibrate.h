// Scales of the model in integers, from what the model of floats computes for sentences.
#pragma once

#include <string>

#include "commands.h"
#include "household.h"

namespace app {

// The scales with which a share of all sizes, 0 … 1, fits into 8 bits. sentences: path of a file of sentences with a tab behind
// each; lines that begin with # are none.
IntegerScales calibrated_scales(const Household& household, const std::string& sentences, double share);

struct Understood {
  int right = 0, all = 0;       // of commands
  int unknown = 0, others = 0;  // sentences that ask for nothing the house does, and how many were found to
};

// How many sentences of a file are answered as it says.
Understood understood(const Household& household, const std::string& sentences, Arithmetic arithmetic);

// Writes the file of a household with scales, and returns lines that say what they lose.
std::string quantise_household(const std::string& path, const std::string& sentences, const std::string& held_out);

}  // namespace app
