// The dispatcher of a processor that has every instruction set of x86: what this one lacks, the other files here emulate.
#include "../../src/backend/list.h"

#if ATTEND_X86
#include <cpuid.h>
#include <stdint.h>

namespace attend::core {
template <class Backend, class... Processor>
bool is_emulated(Processor...) {
  return true;
}
}  // namespace attend::core

#define is_available is_emulated
#define has_integers is_emulated
#endif

#include "../../src/backend/dispatch.cpp"
