// From power-on to the program, and out of every fault. For a RISC-V processor in machine mode.
#include "platform.h"

namespace {

void print_hexadecimal(const char* name, uint32_t number) {
  firmware::print(name);
  firmware::print_number(number, 16, 8);
}

}  // namespace

extern "C" {

// Only their addresses mean something: link.ld.
extern uint32_t vectors_begin[], stack_top[], data_load[], data_begin[], data_end[], bss_begin[], bss_end[];
extern void (*const init_begin[])();
extern void (*const init_end[])();

// address: of the instruction; data: what it was about to read or write.
[[noreturn]] __attribute__((used)) void report_fault(uint32_t cause, uint32_t address, uint32_t data) {
  if (data - uint32_t(reinterpret_cast<uintptr_t>(vectors_begin)) < 0x400000 && cause == 7) {
    firmware::print("fault: something was written to where the code lies, as by a stack that overflows\n");
  }
  print_hexadecimal("fault: cause ", cause);
  print_hexadecimal(", instruction at ", address);
  print_hexadecimal(", data at ", data);
  firmware::print("\n");
  firmware::finish(1);
}

// Below RAM lies the code, and a stack that overflows would run on into it: the first 4 MB are read and executed only, in
// machine mode too.
void guard_stack() {
  constexpr uint32_t size = 0x400000, locked = 0x80, power_of_two = 3 << 3, executable = 4, readable = 1;
  const uint32_t region = uint32_t(reinterpret_cast<uintptr_t>(vectors_begin)) >> 2 | (size / 2 - 1) >> 2;
  __asm__ volatile(
      ".option push\n"
      ".option arch, +zicsr\n"
      "csrw pmpaddr0, %0\n"
      "csrw pmpcfg0, %1\n"
      ".option pop\n"
      :
      : "r"(region), "r"(locked | power_of_two | executable | readable));
}

[[noreturn]] __attribute__((noinline, used)) void start() {
  for (uint32_t *to = data_begin, *from = data_load; to != data_end;) *to++ = *from++;
  for (uint32_t* to = bss_begin; to != bss_end;) *to++ = 0;
  guard_stack();
  for (auto initialise = init_begin; initialise != init_end; ++initialise) (*initialise)();
  firmware::finish(firmware::run());
}

}  // extern "C"

// The processor begins at the first address. The global pointer must be set before code may be addressed relative to it. A
// fault may have the stack as its cause, so the report gets a fresh one.
__asm__(
    ".section .vectors, \"ax\"\n"
    ".globl reset\n"
    "reset:\n"
    ".option push\n"
    ".option arch, +zicsr\n"
    ".option norelax\n"
    "  la gp, __global_pointer$\n"
    ".option relax\n"
    "  la sp, stack_top\n"
    "  la t0, fault\n"
    "  csrw mtvec, t0\n"
#if defined(__riscv_flen)
    "  li t0, 1 << 13\n"  // the floating-point unit is on
    "  csrs mstatus, t0\n"
#endif
    "  tail start\n"
    ".balign 4\n"
    "fault:\n"
    "  la sp, stack_top\n"
    "  csrr a0, mcause\n"
    "  csrr a1, mepc\n"
    "  csrr a2, mtval\n"
    "  tail report_fault\n"
    ".option pop\n"
    ".text\n");
