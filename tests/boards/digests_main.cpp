#include "digest_test.h"

int firmware::run() { return run_tests("digests", test_digests); }
