// Fuzzers that are compiled with ATTEND_FUZZ_SMALL draw small problems, and try one backend and one way on each: some
// microseconds, so that an hour has a hundred million.
#pragma once

#include "attend/backend.h"

namespace attend_test {

#ifdef ATTEND_FUZZ_SMALL
constexpr bool small = true;
#else
constexpr bool small = false;
#endif

// The backend that problem n is tried on. Asking the processor what it has takes longer than a problem, so it stays for a
// while.
inline const char* backend_for_a_while(long n) {
  static int which = -1;
  if (which < 0 || n % 256 == 0) {
    do {
      which = (which + 1) % attend::backend_count();
    } while (!attend::use_backend(attend::backend_name(which)));
  }
  return attend::backend_name(which);
}

}  // namespace attend_test
