// Checks rows of digests.inc as far as memory holds them, in every floating-point environment of the caller that the target
// has, and counts what became of them.
#pragma once

#include "../../bench/boards/platform.h"
#include "../conformance/digest.h"

namespace firmware {

inline void print_difference(uint64_t expected, uint64_t found) {
  print(": expected 0x");
  print_number(expected, 16, 16);
  print(", found 0x");
  print_number(found, 16, 16);
  print("\n");
}

struct Counts {
  int passed = 0, failed = 0, left_out = 0;

  void count(bool right) { ++(right ? passed : failed); }

  template <class Case>
  void check(const Memory& memory) {
    for (const attend_test::Digest<Case>& digest : attend_test::digests<Case>) {
      const size_t bytes = attend_test::digest_bytes(digest.c);
      if (bytes > memory.count * sizeof(float)) {
        ++left_out;
        continue;
      }
      if (!attend_test::has_digest(digest.c)) continue;
      for (const attend_test::FloatEnvironment& environment : attend_test::float_environments) {
        check_in(environment, digest, memory);
      }
    }
  }

  template <class Case>
  void check_in(const attend_test::FloatEnvironment& environment, const attend_test::Digest<Case>& digest,
                const Memory& memory) {
    __builtin_memset(memory.floats, 0xff, attend_test::digest_bytes(digest.c));
    uint64_t found = 0;
    const bool kept =
        attend_test::in_environment(environment, [&] { found = attend_test::compute_digest(digest.c, memory.floats); });
    count(kept && found == digest.value);
    if (kept && found == digest.value) return;
    print("digests.inc:");
    print_number(uint64_t(digest.line));
    print(kept ? ", " : ", does not restore ");
    print(environment.name);
    print_difference(digest.value, found);
  }

  void print_all(const char* what) const {
    print_number(uint64_t(passed));
    print(what);
    print(" passed, ");
    print_number(uint64_t(failed));
    print(" failed");
    if (left_out == 0) return;
    print(", ");
    print_number(uint64_t(left_out));
    print(" left out for want of memory");
  }
};

}  // namespace firmware
