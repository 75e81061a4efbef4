// Values that a compiler must not look through.
#ifndef ATTEND_NUMERICS_OPAQUE_H
#define ATTEND_NUMERICS_OPAQUE_H

namespace attend::ATTEND_ISA {
namespace {

// The same pointer or number, of which the compiler knows nothing: what is read through it is read where it is used, what was
// added to it is not computed in advance, and a loop that runs so often is not unrolled. Otherwise GCC fills the stack with
// constants and addresses of unrolled loops.
template <class T>
T opaque(T value) {
  __asm__("" : "+r"(value));
  return value;
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
