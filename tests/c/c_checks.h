/* Counting, and naming what went wrong, for the programs in C that drive a whole header. */
#ifndef ATTEND_TESTS_C_CHECKS_H
#define ATTEND_TESTS_C_CHECKS_H

#include <attend/c/status.h>
#include <stdio.h>

static int passed, failed;

static void check(int right, const char* what, int line) {
  if (right) {
    ++passed;
  } else {
    ++failed;
    printf("FAIL line %d: %s\n", line, what);
  }
}
#define CHECK(condition) check((condition) ? 1 : 0, #condition, __LINE__)
#define IS(status, call) CHECK((call) == (status))
#define SAYS(error, argument, call) CHECK(says(error, argument, call))

static int says(int error, int argument, attend_status status) {
  return status == error + 256 * argument;
}

#endif
