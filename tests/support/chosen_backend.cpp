// Chooses the backend that the environment variable ATTEND_BACKEND names, before main, in programs that do not look at it. Exit
// status 77: there is none of that name, or the processor cannot run it.
#include <stdlib.h>

#include "attend/backend.h"

namespace {

[[maybe_unused]] const bool chosen = [] {
  const char* const name = getenv("ATTEND_BACKEND");
  if (name != nullptr && !attend::use_backend(name)) exit(77);
  return true;
}();

}  // namespace
