// A board for sketches: setup() once, loop() 150 times, a sensor whose readings repeat themselves with one that does not, and a
// line that somebody types.
#include "Arduino.h"
#include "../../bench/boards/platform.h"

namespace {

const char* typed = "Pause the music, please!\n";
int readings;

}  // namespace

ArduinoSerial Serial;

void ArduinoSerial::begin(long) {}
int ArduinoSerial::available() { return *typed == '\0' ? 0 : 1; }
int ArduinoSerial::read() { return *typed == '\0' ? -1 : *typed++; }
void ArduinoSerial::write(char character) { firmware::write(&character, 1); }
void ArduinoSerial::print(const char* text) { firmware::print(text); }
void ArduinoSerial::print(long number) {
  if (number < 0) firmware::print("-");
  firmware::print_number(number < 0 ? 0 - uint64_t(number) : uint64_t(number));
}
void ArduinoSerial::println(const char* text) {
  firmware::print(text);
  firmware::print("\n");
}

int analogRead(int) {
  const int at = readings++, step = at % 20;
  if (at == 120) return 900;
  return 300 + 30 * (step < 10 ? step : 20 - step) + at % 3;
}
void delay(unsigned long) {}

int firmware::run() {
  setup();
  for (int turn = 0; turn < 150; ++turn) loop();
  return 0;
}
