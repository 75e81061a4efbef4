// Whether this board computes what all others do: thousands of results, compared bit for bit with committed ones. It takes 220 KB
// of flash, a core with gnu++17 and the memory below; with more of it, less is left out, and with 440 KB nothing.
#include <Attend.h>

#include "self_test.h"

alignas(64) static float memory[6 * 1024];

namespace attend_self_test {

void write(const char* text, size_t length) {
  for (size_t i = 0; i < length; ++i) Serial.write(text[i]);
}
Memory free_memory() { return {memory, sizeof memory / sizeof memory[0]}; }

}  // namespace attend_self_test

void setup() {
  Serial.begin(115200);
  delay(3000);  // for whoever opens the serial monitor
  attend_self_test::run_self_tests();
}

void loop() {}
