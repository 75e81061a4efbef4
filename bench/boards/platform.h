// What the programs of this folder need from whatever runs them: a board (uart.cpp, semihosting.cpp), an operating system
// reached by raw system calls (linux.cpp) or the host (hosted.cpp).
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace firmware {

// A program. What it returns is the exit status: 0, all is well.
int run();

// ---- What a board must give.

void write(const char* text, size_t length);

// All memory that nothing else uses, aligned to 64 bytes. Tests leave a stack that grows down into it, or towards it, its room.
struct Memory {
  float* floats;
  size_t count;
};
Memory free_memory();

inline Memory memory_between(void* begin, void* end) {
  const uintptr_t first = (reinterpret_cast<uintptr_t>(begin) + 63) & ~uintptr_t(63), last = reinterpret_cast<uintptr_t>(end);
  return {reinterpret_cast<float*>(first), last > first ? (last - first) / sizeof(float) : 0};
}

// ---- What it may give. Programs whose main() is main.cpp stay in a loop without finish().

[[noreturn]] void finish(int status);
uint64_t cycles();  // a counter of cycles or instructions

// ---- What programs need that are not for other people's boards.

// What stands after the program's name, as one text. False where it does not fit.
bool read_arguments(char* text, size_t size);

// Files of the machine that emulates a board. read_file returns how many bytes it has read, at most `room`: 0 where there is no
// such file.
bool write_file(const char* name, const void* bytes, size_t size);
size_t read_file(const char* name, void* to, size_t room);

// Volatile, because compilers make a call of strlen of such a loop, and not every board has a C library.
inline size_t length_of(const char* text) {
  size_t length = 0;
  while (static_cast<const volatile char*>(text)[length] != '\0') ++length;
  return length;
}
inline void print(const char* text) { write(text, length_of(text)); }

// In base 10 or 16, with leading zeros up to so many digits.
inline void print_number(uint64_t number, unsigned base = 10, int digits = 1) {
  char text[24];
  int begin = int(sizeof text);
  while (number != 0 || int(sizeof text) - begin < digits) {
    text[--begin] = "0123456789abcdef"[number % base];
    number /= base;
  }
  write(text + begin, sizeof text - size_t(begin));
}

}  // namespace firmware
