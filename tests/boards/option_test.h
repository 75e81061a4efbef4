// The committed digests of options, as many as memory holds, and the hashes of random combinations of them, with one backend.
#pragma once

#include "../conformance/option_combinations.h"
#include "digest_checks.h"

namespace firmware {

inline void test_options(const Memory& memory, Counts& counts) {
  check_digests<attend_test::OptionCase>(memory, counts);
  for (int size = 0; size < attend_test::combination_sizes; ++size) {
    if (!counts.has(memory, attend_test::combination_bytes(size))) continue;
    int number = 0;
    const uint64_t found = attend_test::hash_combinations(size, memory.floats, number),
                   expected = attend_test::combination_hashes[size];
    counts.count(found == expected);
    if (found == expected) continue;
    print("combinations of size ");
    print_number(uint64_t(size));
    print(" up to number ");
    print_number(uint64_t(number));
    print_difference(expected, found);
  }
}

}  // namespace firmware
