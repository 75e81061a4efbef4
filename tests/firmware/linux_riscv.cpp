// RISC-V Linux as a platform, reached by raw system calls: there is no C library.
#include "platform.h"

namespace {

alignas(64) float memory[1 << 20];

long system_call(long number, long a, const void* b, size_t c) {
  register long a7 __asm__("a7") = number;
  register long a0 __asm__("a0") = a;
  register const void* a1 __asm__("a1") = b;
  register size_t a2 __asm__("a2") = c;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return a0;
}

}  // namespace

namespace firmware {

void write(const char* text, size_t length) { system_call(64, 1, text, length); }

void finish(int status) {
  for (;;) system_call(93, status, nullptr, 0);
}

Memory free_memory() { return {memory, sizeof memory / sizeof memory[0]}; }

}  // namespace firmware

extern "C" {

[[noreturn]] void start() { firmware::finish(firmware::run()); }

// The global pointer must be set before code may be addressed relative to it.
__asm__(
    ".globl _start\n"
    "_start:\n"
    ".option push\n"
    ".option norelax\n"
    "  la gp, __global_pointer$\n"
    ".option pop\n"
    "  call start\n");

}  // extern "C"
