// Computes the committed digests of options, as many as memory holds, and the hash of random combinations of them, with one
// backend.
#include "../conformance/option_combinations.h"
#include "digest_checks.h"

namespace {

bool check_combinations(const firmware::Memory& memory) {
  int number = 0;
  const uint64_t found = attend_test::hash_combinations(memory.floats, memory.count, number);
  if (found == attend_test::combinations_hash) return true;
  firmware::print_number(uint64_t(number));
  firmware::print(" combinations");
  firmware::print_difference(attend_test::combinations_hash, found);
  return false;
}

}  // namespace

int firmware::run() {
  const Memory memory = free_memory();
  Counts counts;
  counts.check<attend_test::OptionCase>(memory);
  const bool combinations = check_combinations(memory);
  counts.print_all(" option digests");
  print(combinations ? "; combinations passed\n" : "; combinations failed\n");
  return counts.failed == 0 && counts.passed > 0 && combinations ? 0 : 1;
}
