// What the tests have in common that run on other people's boards: memory that leaves the stack its room, counts of what
// passed, failed or was left out for want of memory, and a last line that says so.
#pragma once

#include "../../bench/boards/platform.h"

extern "C" __attribute__((weak)) unsigned char stack_bottom[];  // link.ld has it

namespace firmware {

__attribute__((weak)) uint64_t cycles();  // which a board need not have

// The stack that tests need: they take at most 2.7 KB, and interrupts may be served on it.
constexpr size_t stack_bytes = 4 * 1024;

// Unused stack holds a pattern, which tells later how far the stack has come. Where nothing is known of it, nothing is painted.
class Stack {
 public:
  // Takes from the memory what a stack needs that lies in it or above it.
  __attribute__((noinline)) explicit Stack(Memory& memory) : here_(uintptr_t(__builtin_frame_address(0))) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(memory.floats), end = begin + memory.count * sizeof(float);
    const uintptr_t linked = reinterpret_cast<uintptr_t>(stack_bottom);
    if (linked != 0) {
      paint(linked, here_);
    } else if (here_ > begin && here_ - begin < end - begin + stack_bytes) {
      const uintptr_t least = begin + stack_bytes > here_ ? begin : (here_ - stack_bytes) & ~uintptr_t(63);
      if (least < end) memory.count = (least - begin) / sizeof(float);
      paint(least, here_ < end ? here_ : end);
    }
  }

  // Whether it had room for these tests, and has some left.
  bool is_enough() const {
    if (bottom_ == 0) return true;
    if (here_ - bottom_ < stack_bytes - 256) {
      print("the stack is too small: ");
      print_number(here_ - bottom_);
      print(" bytes, of which the tests need ");
      print_number(stack_bytes);
      print("\n");
      return false;
    }
    const uintptr_t used = here_ - deepest();
    if (used > 0) {
      print("stack: ");
      print_number(used);
      print(" of ");
      print_number(here_ - bottom_);
      print(" bytes\n");
    }
    if (deepest() >= bottom_ + 64) return true;
    print("the stack has run over\n");
    return false;
  }

 private:
  static constexpr uint32_t pattern = 0xa5a5c3c3;
  static constexpr uintptr_t own_frame = 256;

  void paint(uintptr_t bottom, uintptr_t end) {
    bottom_ = bottom;
    painted_ = end < here_ - own_frame ? end : here_ - own_frame;
    for (uintptr_t at = bottom; at + 4 <= painted_; at += 4) *reinterpret_cast<volatile uint32_t*>(at) = pattern;
  }
  uintptr_t deepest() const {
    uintptr_t at = bottom_;
    while (at + 4 <= painted_ && *reinterpret_cast<const volatile uint32_t*>(at) == pattern) at += 4;
    return at;
  }

  uintptr_t here_, bottom_ = 0, painted_ = 0;
};

struct Counts {
  int passed = 0, failed = 0, left_out = 0;
  size_t needed = 0;  // bytes, by what was left out

  void count(bool right) { ++(right ? passed : failed); }

  // Whether a test has memory; it is left out otherwise.
  bool has(const Memory& memory, size_t bytes) {
    if (bytes <= memory.count * sizeof(float)) return true;
    ++left_out;
    if (bytes > needed) needed = bytes;
    return false;
  }
};

inline void print_difference(uint64_t expected, uint64_t found) {
  print(": expected 0x");
  print_number(expected, 16, 16);
  print(", found 0x");
  print_number(found, 16, 16);
  print("\n");
}

// Runs tests, which get the memory and count; the exit status of a program.
template <class Tests>
int run_tests(const char* name, Tests tests) {
  Memory memory = free_memory();
  const Stack stack(memory);
  print(name);
  print(": begins, with ");
  print_number(memory.count * sizeof(float));
  print(" bytes of memory\n");
  Counts counts;
  const uint64_t before = cycles == nullptr ? 0 : cycles();
  tests(memory, counts);
  if (cycles != nullptr) {
    print_number(cycles() - before);
    print(" cycles\n");
  }
  const bool has_stack = stack.is_enough();
  if (!has_stack) ++counts.failed;
  print(name);
  print(": ");
  print_number(uint64_t(counts.passed));
  print(" passed, ");
  print_number(uint64_t(counts.failed));
  print(" failed");
  if (counts.left_out > 0) {
    print(", ");
    print_number(uint64_t(counts.left_out));
    print(" left out for want of memory: needs ");
    print_number(counts.needed);
    print(" bytes");
  }
  print("\n");
  return counts.failed == 0 && counts.passed > 0 ? 0 : 1;
}

}  // namespace firmware
