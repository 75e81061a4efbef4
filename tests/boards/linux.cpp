// Linux on RISC-V, AArch64 and Arm as a platform, reached by raw system calls: there is no C library.
#include "../../bench/boards/platform.h"

namespace {

alignas(64) float memory[1 << 20];

#if defined(__arm__)
constexpr long writes = 4, exits = 1;
#else
constexpr long writes = 64, exits = 93;
#endif

long system_call(long number, long a, const void* b, size_t c) {
#if defined(__riscv)
  register long call __asm__("a7") = number;
  register long first __asm__("a0") = a;
  register const void* second __asm__("a1") = b;
  register size_t third __asm__("a2") = c;
  __asm__ volatile("ecall" : "+r"(first) : "r"(second), "r"(third), "r"(call) : "memory");
#elif defined(__arm__)
  register long call __asm__("r7") = number;
  register long first __asm__("r0") = a;
  register const void* second __asm__("r1") = b;
  register size_t third __asm__("r2") = c;
  __asm__ volatile("svc #0" : "+r"(first) : "r"(second), "r"(third), "r"(call) : "memory");
#else
  register long call __asm__("x8") = number;
  register long first __asm__("x0") = a;
  register const void* second __asm__("x1") = b;
  register size_t third __asm__("x2") = c;
  __asm__ volatile("svc #0" : "+r"(first) : "r"(second), "r"(third), "r"(call) : "memory");
#endif
  return first;
}

}  // namespace

namespace firmware {

void write(const char* text, size_t length) { system_call(writes, 1, text, length); }

void finish(int status) {
  for (;;) system_call(exits, status, nullptr, 0);
}

Memory free_memory() { return {memory, sizeof memory / sizeof memory[0]}; }

}  // namespace firmware

extern "C" {

[[noreturn]] void start() { firmware::finish(firmware::run()); }

__asm__(
    ".globl _start\n"
    "_start:\n"
#if defined(__riscv)
    // The global pointer must be set before code may be addressed relative to it.
    ".option push\n"
    ".option norelax\n"
    "  la gp, __global_pointer$\n"
    ".option pop\n"
    "  call start\n"
#else
    "  bl start\n"
#endif
);

}  // extern "C"
