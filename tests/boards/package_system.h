// What the examples of packages ask of ESP-IDF, Zephyr or a C library: whole numbers and texts are printed.
#pragma once

#include "../../bench/boards/platform.h"

inline void print_signed(int number) {
  if (number < 0) firmware::print("-");
  firmware::print_number(number < 0 ? 0 - uint64_t(number) : uint64_t(number));
}

// Of two numbers, each by %d.
inline void printf(const char* format, int first, int second) {
  const int numbers[] = {first, second};
  const int* number = numbers;
  for (; *format != '\0'; ++format) {
    if (format[0] == '%' && format[1] == 'd') {
      print_signed(*number++);
      ++format;
    } else {
      firmware::write(format, 1);
    }
  }
}
inline void printk(const char* format, int first, int second) { printf(format, first, second); }

// Of a text and its length, by %.*s.
inline void printf(const char*, int length, const char* text) { firmware::write(text, size_t(length)); }
inline void printk(const char*, int length, const char* text) { firmware::write(text, size_t(length)); }
