// How often random tests try: an emulator is 30 times slower, and repeats what the host has tried. ATTEND_QUICK=N asks for an
// Nth of the rounds; N is 12 where it is 1.
#pragma once

#include <cstdlib>

namespace attend_test {

inline bool is_quick() { return std::getenv("ATTEND_QUICK") != nullptr; }

inline int quick_share() {
  if (!is_quick()) return 1;
  const int asked = std::atoi(std::getenv("ATTEND_QUICK"));
  return asked > 1 ? asked : 12;
}

// Where each entry of a list of cases is dear and has others like it beside it: one of so many is tried, and with
// ATTEND_QUICK=2 every one. An inner loop whose length is a multiple of 3 or 7 would always try the same: is_tried is for
// these.
inline int stride() { return quick_share() > 12 ? 7 : quick_share() > 2 ? 3 : 1; }

inline int rounds(int all) { return (all + quick_share() - 1) / quick_share(); }

// Whether the next of a list of cases, counted in `taken`, is one of those that are tried. Every 7th, 13th or 37th: lists are
// made of loops whose lengths have small factors, and each of their entries gets its turn. ATTEND_QUICK=2 tries every one.
inline bool is_tried(int& taken) { return taken++ % (quick_share() > 2 ? quick_share() + 1 : 1) == 0; }

}  // namespace attend_test
