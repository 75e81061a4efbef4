// Computes the committed digests of options, as many as memory holds, and the hash of random combinations of them, with one
// backend.
#include "../conformance/option_combinations.h"
#include "platform.h"

namespace {

using attend_test::option_digest_count, attend_test::option_digests;

void print_difference(uint64_t expected, uint64_t found) {
  firmware::print(": expected 0x");
  firmware::print_number(expected, 16, 16);
  firmware::print(", found 0x");
  firmware::print_number(found, 16, 16);
  firmware::print("\n");
}

bool check(const attend_test::OptionDigest& digest, float* memory) {
  const uint64_t found = attend_test::compute_option_digest(digest.c, memory);
  if (found == digest.digest) return true;
  firmware::print(digest.text);
  print_difference(digest.digest, found);
  return false;
}

bool check_combinations(const firmware::Memory& memory) {
  int number = 0;
  const uint64_t found = attend_test::hash_combinations(memory.floats, memory.count, number);
  if (found == attend_test::combinations_hash) return true;
  firmware::print_number(uint64_t(number));
  firmware::print(" combinations");
  print_difference(attend_test::combinations_hash, found);
  return false;
}

}  // namespace

int firmware::run() {
  const Memory memory = free_memory();
  int passed = 0, failed = 0, left_out = 0;
  for (int i = 0; i < option_digest_count; ++i) {
    if (attend_test::option_digest_floats(option_digests[i].c) > memory.count) {
      ++left_out;
    } else if (check(option_digests[i], memory.floats)) {
      ++passed;
    } else {
      ++failed;
    }
  }
  const bool combinations = check_combinations(memory);
  print_number(uint64_t(passed));
  print(" option digests passed, ");
  print_number(uint64_t(failed));
  print(" failed");
  if (left_out > 0) {
    print(", ");
    print_number(uint64_t(left_out));
    print(" left out for want of memory");
  }
  print(combinations ? "; combinations passed\n" : "; combinations failed\n");
  return failed == 0 && passed > 0 && combinations ? 0 : 1;
}
