// The tests that need no more than the library and memory, one after the other: the packages' self-test is made of it.
#pragma once

#include "digest_test.h"
#include "option_test.h"
#include "special_test.h"

namespace firmware {

inline int run_self_tests() {
  int failed = run_tests("digests", test_digests);
  failed += run_tests("options", test_options);
  failed += run_tests("specials", test_specials);
  print(failed == 0 ? "self-test: passed\n" : "self-test: failed\n");
  return failed == 0 ? 0 : 1;
}

}  // namespace firmware
