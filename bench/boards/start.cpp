// From power-on to the program, and out of every fault. For any Cortex-M.
#include "platform.h"

namespace {

volatile uint32_t& system_register(uintptr_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }

constexpr uintptr_t vector_table_offset = 0xe000ed08, fault_status = 0xe000ed28;
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
constexpr uintptr_t coprocessor_access = 0xe000ed88;
#endif

void print_hexadecimal(const char* name, uint32_t number) {
  firmware::print(name);
  firmware::print_number(number, 16, 8);
}

}  // namespace

extern "C" {

// Only their addresses mean something: link.ld.
extern uint32_t stack_top[], data_load[], data_begin[], data_end[], bss_begin[], bss_end[];
extern void (*const init_begin[])();
extern void (*const init_end[])();

// address: of the instruction; 0 when the stack pointer has left the stack, and nothing could be saved.
[[noreturn]] __attribute__((used)) void report_fault(uint32_t exception, uint32_t address) {
  if (address == 0) firmware::print("fault: the stack overflowed\n");
  print_hexadecimal("fault: exception ", exception);
  print_hexadecimal(", instruction at ", address);
  print_hexadecimal(", status ", system_register(fault_status));
  const bool by_protection = (system_register(fault_status) & 0x80) != 0;  // otherwise by the bus
  print_hexadecimal(", data at ", system_register(by_protection ? 0xe000ed34 : 0xe000ed38));
  firmware::print("\n");
  firmware::finish(1);
}

// Every exception that nothing handles. The stack may be the cause, so the report gets a fresh one, after the instruction's
// address was read from the old one, where the processor has saved it as the seventh word.
__attribute__((naked, used, nothrow)) void fault() {
  __asm__ volatile(
      ".syntax unified\n"
      "mrs r3, msp\n"
      "mrs r0, ipsr\n"
      "movs r1, #0\n"
      "ldr r2, =stack_top\n"
      "mov sp, r2\n"
      "cmp r3, r2\n"
      "bhs 1f\n"
      "ldr r2, =stack_bottom\n"
      "cmp r3, r2\n"
      "blo 1f\n"
      "ldr r1, [r3, #24]\n"
      "1:\n"
      "ldr r2, =report_fault\n"
      "bx r2\n");
}

// A program may define its own.
__attribute__((weak, alias("fault"), nothrow)) void on_tick();

// Below RAM, the boards with an Armv6-M or Armv7-M core swallow what is written to no memory at all, and a stack that overflows
// would run on into the code. The others have faults there.
void guard_stack() {
#if __ARM_ARCH < 8
  constexpr uintptr_t protection_control = 0xe000ed94, region_number = 0xe000ed98, region_base = 0xe000ed9c,
                      region_attributes = 0xe000eda0;
  constexpr uint32_t no_access = 1u << 28, size_256_megabytes = 27u << 1, on = 1, defaults_elsewhere = 1u << 2;
  system_register(region_number) = 0;
  system_register(region_base) = 0x10000000;
  system_register(region_attributes) = no_access | size_256_megabytes | on;
  system_register(protection_control) = defaults_elsewhere | on;
  __asm__ volatile("dsb\n\tisb" : : : "memory");
#endif
}

// Apart from reset, because code that may touch the floating-point unit must not come before the unit is on.
[[noreturn]] __attribute__((noinline, used)) void start() {
  for (uint32_t *to = data_begin, *from = data_load; to != data_end;) *to++ = *from++;
  for (uint32_t* to = bss_begin; to != bss_end;) *to++ = 0;
  for (auto initialise = init_begin; initialise != init_end; ++initialise) (*initialise)();
  firmware::finish(firmware::run());
}

[[noreturn]] void reset();

// The address of the stack, then the exceptions 1 … 15.
__attribute__((section(".vectors"), used)) const void* const vectors[16] = {
    stack_top,
    reinterpret_cast<const void*>(reset),
    reinterpret_cast<const void*>(fault),  // non-maskable
    reinterpret_cast<const void*>(fault),  // hard fault: also all of the next four, which are never enabled
    reinterpret_cast<const void*>(fault),  // memory management
    reinterpret_cast<const void*>(fault),  // bus
    reinterpret_cast<const void*>(fault),  // usage
    reinterpret_cast<const void*>(fault),  // security
    nullptr,
    nullptr,
    nullptr,
    reinterpret_cast<const void*>(fault),  // supervisor call
    reinterpret_cast<const void*>(fault),  // debug monitor
    nullptr,
    reinterpret_cast<const void*>(fault),  // pending supervisor call
    reinterpret_cast<const void*>(on_tick),
};

void reset() {
  system_register(vector_table_offset) = uint32_t(reinterpret_cast<uintptr_t>(vectors));
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  system_register(coprocessor_access) |= 0xf << 20;  // coprocessors 10 and 11: floating point, and the vectors of an M55
  __asm__ volatile("dsb\n\tisb" : : : "memory");
#endif
  guard_stack();
  start();
}

}  // extern "C"
