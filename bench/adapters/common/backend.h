// The library's code for a processor can be chosen from outside of a runtime, to compare bits or speed.
#pragma once

#include <attend/backend.h>

#include <cstdlib>

namespace attend_adapter {

// Takes the code that the environment variable ATTEND_BACKEND names, such as "scalar", in place of the fastest. False where it
// names one that this processor or this build has not: then the fastest stays.
inline bool use_backend_of_environment() {
  const char* const name = std::getenv("ATTEND_BACKEND");
  return name == nullptr || *name == '\0' || attend::use_backend(name);
}

}  // namespace attend_adapter
