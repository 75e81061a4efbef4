// What the model of household commands can answer with.
#pragma once

#include <string>

#include "words.h"

namespace app {

// Its actions, a device on each line, its rooms, and the values of other parameters; lines of at most 80 columns.
std::string listing(const Words& words);

}  // namespace app
