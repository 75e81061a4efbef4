// Checks rows of digests.inc as far as memory holds them, and counts what became of them.
#pragma once

#include "../conformance/digest.h"
#include "platform.h"

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
      __builtin_memset(memory.floats, 0xff, bytes);
      const uint64_t found = attend_test::compute_digest(digest.c, memory.floats);
      count(found == digest.value);
      if (found == digest.value) continue;
      print("digests.inc:");
      print_number(uint64_t(digest.line));
      print_difference(digest.value, found);
    }
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
