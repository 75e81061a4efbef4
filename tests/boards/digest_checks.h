// Checks rows of digests.inc as far as memory holds them, in the usual floating-point environment of the caller and in another one
// of the target's, which each row takes in its turn, and counts what became of them.
#pragma once

#include "../conformance/digest.h"
#include "self_test.h"

namespace firmware {

template <class Case>
void check_digest_in(const attend_test::FloatEnvironment& environment, const attend_test::Digest<Case>& digest,
                     const Memory& memory, Counts& counts) {
  __builtin_memset(memory.floats, 0xff, attend_test::digest_bytes(digest.c));
  uint64_t found = 0;
  const bool kept =
      attend_test::in_environment(environment, [&] { found = attend_test::compute_digest(digest.c, memory.floats); });
  counts.count(kept && found == digest.value);
  if (kept && found == digest.value) return;
  print("digests.inc:");
  print_number(uint64_t(digest.line));
  print(kept ? ", " : ", does not restore ");
  print(environment.name);
  print_difference(digest.value, found);
}

template <class Case>
void check_digests(const Memory& memory, Counts& counts) {
  int other = 0;
  for (const attend_test::Digest<Case>& digest : attend_test::digests<Case>) {
    if (!counts.has(memory, attend_test::digest_bytes(digest.c)) || !attend_test::has_digest(digest.c)) continue;
    check_digest_in(attend_test::float_environments[0], digest, memory, counts);
    other = other % (attend_test::float_environment_count - 1 + (attend_test::float_environment_count == 1)) + 1;
    if (other < attend_test::float_environment_count) {
      check_digest_in(attend_test::float_environments[other], digest, memory, counts);
    }
  }
}

}  // namespace firmware
