// Assembly for Cortex-M4, M7, M33, M55 and, in Thumb state, Cortex-R names registers up to r11, and flags that reserve one of
// them (-ffixed-r8 to -ffixed-r11, -msingle-pic-base, Clang's -frwpi) have no macro. So each statement here leaves the compiler
// one of these to choose, and does not compile where it cannot. With -DATTEND_FIXED_REGISTERS for all sources there is no such
// assembly. Nothing calls the function, and linkers drop it; list.h includes it, so that it is compiled with the assembly.
#pragma once

#if ATTEND_ASSEMBLY && ATTEND_EMBEDDED && defined(__thumb2__) && !defined(ATTEND_FIXED_REGISTERS) && \
    (ATTEND_VFP || ATTEND_HELIUM || defined(__ARM_FEATURE_SIMD32))
#if defined(__clang__)
#pragma clang diagnostic error "-Winline-asm"
#endif

namespace attend {
namespace {

[[gnu::used, noreturn]] void registers_are_reserved_without_ATTEND_FIXED_REGISTERS() {
  int any;
  __asm__ volatile("" : "=h"(any) : : "r9", "r10", "r11", "r12", "lr");  // attend: reserved registers: -DATTEND_FIXED_REGISTERS
  __asm__ volatile("" : "=h"(any) : : "r8", "r10", "r11", "r12", "lr");  // attend: reserved registers: -DATTEND_FIXED_REGISTERS
  __asm__ volatile("" : "=h"(any) : : "r8", "r9", "r11", "r12", "lr");   // attend: reserved registers: -DATTEND_FIXED_REGISTERS
  __asm__ volatile("" : "=h"(any) : : "r8", "r9", "r10", "r12", "lr");   // attend: reserved registers: -DATTEND_FIXED_REGISTERS
  __builtin_unreachable();
}

}  // namespace
}  // namespace attend
#endif
