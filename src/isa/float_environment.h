// The floating-point environment that float arithmetic runs in: it rounds to the nearest, ties to even, keeps subnormal numbers
// and does not trap, whatever the caller has set. The caller's is there again afterwards.
//
// Where nothing differs, hosts read the register and do no more. Boards, where a branch costs more than writing, always write.
// Neither 32-bit NEON nor Helium has a register to set: their vectors always flush subnormal numbers and round to the nearest.
#pragma once

#include <stdint.h>

#include "../../include/attend/core/config.h"
#include "../numerics/float_rules.h"
#if !ATTEND_ASSEMBLY && ATTEND_X86
#include <immintrin.h>
#endif

namespace attend::core {
namespace {  // each source has its own: none of them may lend another one its instructions

// The control register of a target: `control` are the bits that decide results or traps, `usual` their values here.
#if defined(ATTEND_KEEP_FLOAT_ENVIRONMENT) || ATTEND_SOFT_FLOAT
#elif ATTEND_X86
#define ATTEND_FLOAT_CONTROL 1
struct FloatControl {
  using Word = uint32_t;
  static constexpr Word control = 0xffc0, usual = 0x1f80;  // masks of exceptions, rounding, flush to zero, denormals are zero
#if ATTEND_ASSEMBLY
  static Word read() {
    Word word;
    __asm__ volatile("stmxcsr %0" : "=m"(word));
    return word;
  }
  static void write(const Word& word) { __asm__ volatile("ldmxcsr %0" : : "m"(word) : "memory"); }
#else
  static Word read() { return _mm_getcsr(); }
  static void write(Word word) { _mm_setcsr(word); }
#endif
};
#elif ATTEND_ASSEMBLY && (defined(__aarch64__) || defined(__arm__) || defined(__riscv) || defined(__s390x__))
#define ATTEND_FLOAT_CONTROL 1  // elsewhere what compilers are told, or the caller has set, stays
struct FloatControl {
#if defined(__aarch64__)
#define ATTEND_READ_FLOATS "mrs %0, fpcr"
#define ATTEND_WRITE_FLOATS "msr fpcr, %0"
  using Word = uint64_t;
  static constexpr Word control = ~Word(0);
#elif defined(__arm__)
#define ATTEND_READ_FLOATS "vmrs %0, fpscr"
#define ATTEND_WRITE_FLOATS "vmsr fpscr, %0"
  using Word = uint32_t;
#if !ATTEND_EMBEDDED && !(defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M')
  static constexpr Word control = 0x07ff9f00;  // alternative halves, NaNs, flush to zero, rounding, lengths of vectors, traps
#elif __ARM_ARCH >= 8
  // The same without traps. In the place of lengths, a processor with Helium has what must stay, whatever the code.
  static constexpr Word control = 0x07c80000;
#else
  static constexpr Word control = ~Word(0);
#endif
#elif defined(__riscv)
#define ATTEND_READ_FLOATS "frrm %0"
#define ATTEND_WRITE_FLOATS "fsrm %0"
  using Word = unsigned;
  static constexpr Word control = ~Word(0);
#else
#define ATTEND_READ_FLOATS "efpc %0"
#define ATTEND_WRITE_FLOATS "sfpc %0"
  using Word = uint32_t;
  static constexpr Word control = 0xf8000007;  // masks of exceptions, rounding
#endif
  static constexpr Word usual = 0;
  static Word read() {
    Word word;
    __asm__ volatile(ATTEND_READ_FLOATS : "=r"(word));
    return word;
  }
  static void write(Word word) { __asm__ volatile(ATTEND_WRITE_FLOATS : : "r"(word) : "memory"); }
};
#endif

// Sets the known environment, and gives back the caller's. Compilers do not know that arithmetic depends on the register, and
// may move it across these two, but neither calls nor what is read from memory and written there. So what stands in between
// takes its numbers from memory and leaves its results there, or is a function that is not inlined.
struct CallersFloats {
#if ATTEND_FLOAT_CONTROL
  FloatControl::Word word;
  bool differs() const { return ATTEND_EMBEDDED || (word & FloatControl::control) != FloatControl::usual; }
#endif
};
ATTEND_ALWAYS_INLINE CallersFloats begin_floats() {
#if ATTEND_FLOAT_CONTROL
  const CallersFloats callers = {FloatControl::read()};
  if (callers.differs()) FloatControl::write((callers.word & ~FloatControl::control) | FloatControl::usual);
  return callers;
#else
  return {};
#endif
}
ATTEND_ALWAYS_INLINE void end_floats([[maybe_unused]] const CallersFloats& callers) {
#if ATTEND_FLOAT_CONTROL
  if (callers.differs()) FloatControl::write(callers.word);
#endif
}

// Calls work(arguments…) between begin_floats and end_floats. There is no destructor, because compilers that were not told
// -fno-exceptions would make code for exceptions of it.
template <class Work, class... Arguments>
ATTEND_ALWAYS_INLINE void in_float_environment(Work work, const Arguments&... arguments) {
  const CallersFloats callers = begin_floats();
  work(arguments...);
  end_floats(callers);
}

}  // namespace
}  // namespace attend::core
