// What the examples of packages ask of Arduino, ESP-IDF or Zephyr: whole numbers and texts are printed.
#pragma once

#include "platform.h"

inline void print_signed(int number) {
  if (number < 0) firmware::print("-");
  firmware::print_number(number < 0 ? 0 - uint64_t(number) : uint64_t(number));
}

struct ArduinoSerial {
  void begin(long) {}
  void print(const char* text) { firmware::print(text); }
  void print(int number) { print_signed(number); }
  void println(const char* text) {
    firmware::print(text);
    firmware::print("\r\n");
  }
};
inline ArduinoSerial Serial;

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
