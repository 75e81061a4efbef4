// How many instructions a program on a board executes. For an emulator whose clock moves with the instructions, the same step
// for each (board.sh count starts it that way). SysTick reads that clock, or on RISC-V the counter of instructions does; a loop
// of known length before tells how many instructions one tick is.
#pragma once

#include "platform.h"

namespace firmware {
namespace counting {

#if defined(__riscv)
inline uint64_t ticks() {
  uint32_t high, low, high_again;
  do {
    __asm__ volatile(
        ".option push\n"
        ".option arch, +zicsr\n"
        "rdinstreth %0\n"
        "rdinstret %1\n"
        "rdinstreth %2\n"
        ".option pop\n"
        : "=r"(high), "=r"(low), "=r"(high_again));
  } while (high != high_again);
  return uint64_t(high) << 32 | low;
}

inline void start_ticks() {}

// Two instructions a round.
inline void spin(uint32_t rounds) { __asm__ volatile("1: addi %0, %0, -1\nbnez %0, 1b" : "+r"(rounds)); }
#else
inline volatile uint32_t tick_wraps;
inline volatile uint32_t* const systick = reinterpret_cast<volatile uint32_t*>(0xe000e010);  // control, reload, current
constexpr uint32_t ticks_in_wrap = 1u << 24;

inline uint64_t ticks() {
  uint32_t wraps, current;
  do {
    wraps = tick_wraps;
    current = systick[2];
  } while (wraps != tick_wraps);
  return uint64_t(wraps) * ticks_in_wrap + (ticks_in_wrap - 1 - current);
}

inline void start_ticks() {
  systick[1] = ticks_in_wrap - 1;
  systick[2] = 0;
  systick[0] = 7;  // on, with its exception, from the processor's clock
  while (systick[2] == 0) {
    // It starts at its first tick, which is no wrap.
  }
  tick_wraps = 0;
}

// Two instructions a round.
inline void spin(uint32_t rounds) {
  __asm__ volatile(".syntax unified\n1:\tsubs %0, %0, #1\n\tbne 1b" : "+l"(rounds) : : "cc");
}
#endif

constexpr uint32_t known_rounds = 1000000;

template <class Work>
uint64_t count_ticks(Work work) {
  const uint64_t begin = ticks();
  work();
  return ticks() - begin;
}

inline uint64_t ticks_of_known_rounds() {
  return count_ticks([] { spin(known_rounds); });
}

inline uint64_t known_ticks;

}  // namespace counting

// False, and a line that says why, where the clock is another one.
inline bool start_counting() {
  using namespace counting;
  start_ticks();
  known_ticks = ticks_of_known_rounds();
  const int64_t difference = int64_t(known_ticks - ticks_of_known_rounds());
  if (difference >= -2 && difference <= 2) return true;
  print("the emulator's clock does not move with the instructions\n");
  return false;
}

template <class Work>
uint64_t count_instructions(Work work) {
  using namespace counting;
  return count_ticks(work) * (2 * uint64_t(known_rounds)) / known_ticks;
}

// instructions / operations with two decimals.
inline void print_per(uint64_t instructions, uint64_t operations) {
  const uint64_t hundredths = (instructions * 100 + operations / 2) / operations;
  print_number(hundredths / 100);
  print(".");
  print_number(hundredths % 100, 10, 2);
}

}  // namespace firmware

#if !defined(__riscv)
extern "C" void on_tick() { firmware::counting::tick_wraps = firmware::counting::tick_wraps + 1; }
#endif
