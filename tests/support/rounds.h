// How often random tests try: an emulator is 30 times slower, and repeats what the host has tried. ATTEND_QUICK=N asks for an
// Nth of the rounds; N is 12 where it is 1.
#pragma once

#include <cstdlib>

namespace attend_test {

inline bool is_quick() { return std::getenv("ATTEND_QUICK") != nullptr; }

inline int rounds(int all) {
  if (!is_quick()) return all;
  const int asked = std::atoi(std::getenv("ATTEND_QUICK")), share = asked > 1 ? asked : 12;
  return (all + share - 1) / share;
}

}  // namespace attend_test
