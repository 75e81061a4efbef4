// What the sketches of the Arduino package ask of Arduino, in C++11 as old cores compile it. arduino.cpp has the rest.
#pragma once

#include <stddef.h>
#include <stdint.h>

void setup();
void loop();

struct ArduinoSerial {
  void begin(long baud);
  int available();
  int read();
  void write(char character);
  void print(const char* text);
  void print(long number);
  void print(int number) { print(long(number)); }
  void println(const char* text);
};
extern ArduinoSerial Serial;

int analogRead(int pin);
void delay(unsigned long milliseconds);
