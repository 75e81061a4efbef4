#include "option_test.h"

int firmware::run() { return run_tests("options", test_options); }
