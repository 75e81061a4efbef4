// What stands in the table of digests, for programs that print it.
#pragma once

#include "digest.h"

namespace attend_test {

// The case as it stands in a line of digests.inc.
inline const char* digest_text(int of_line) {
#define DIGEST(c, value) \
  if (of_line == __LINE__) return #c;
#include "digests.inc"
#undef DIGEST
  return "";
}

}  // namespace attend_test
