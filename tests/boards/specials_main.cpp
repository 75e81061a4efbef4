#include "special_test.h"

int firmware::run() { return run_tests("specials", test_specials); }
