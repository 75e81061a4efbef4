// How often random tests try: an emulator, which sets ATTEND_QUICK, is 30 times slower, and repeats what the host has tried.
#pragma once

#include <cstdlib>

namespace attend_test {

inline bool is_quick() { return std::getenv("ATTEND_QUICK") != nullptr; }

inline int rounds(int all) { return is_quick() ? (all + 11) / 12 : all; }

}  // namespace attend_test
