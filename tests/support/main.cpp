// Runs the tests. Most of them go through every backend; ATTEND_BACKEND says which one the others use.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "attend/backend.h"

int main(int argc, char** argv) {
  const char* wanted = std::getenv("ATTEND_BACKEND");
  if (wanted != nullptr && *wanted != '\0' && !attend::use_backend(wanted)) {
    std::fprintf(stderr, "ATTEND_BACKEND=%s: no such backend here\n", wanted);
    return 1;
  }
  std::printf("backends:");
  for (int i = 0; i < attend::backend_count(); ++i) {
    std::printf(" %s%s", attend::backend_name(i), attend::backend_available(i) ? "" : " (not on this processor)");
  }
  std::printf("; active: %s\n", attend::active_backend());
  doctest::Context context(argc, argv);
  return context.run();
}
