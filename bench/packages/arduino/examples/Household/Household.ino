// Household commands become actions, on the board itself: a transformer of three layers reads a sentence and writes what to do.
//
//   turn on the light in the kitchen -> light.on room=kitchen
//
// Needs 260 KB of flash and 80 KB of RAM. Works in GNU C++11, also without a floating-point unit, where it takes its time.
#include <Attend.h>

#include "household.h"

static Household household;
static char sentence[200];
static unsigned length;

void answer(const char* text) {
  char action[100];
  Serial.print(text);
  Serial.print(" -> ");
  Serial.println(household.answer(text, action, sizeof action) ? action : "(too long)");
}

void setup() {
  Serial.begin(115200);
  if (!household.begin()) {
    Serial.println("the model needs more memory than household.h has for it");
    return;
  }
  answer("Turn on the light in the kitchen");
  answer("could you dim the lamp in the bedroom to thirty percent");
}

// Lines that come by the serial port.
void loop() {
  while (Serial.available() > 0) {
    const int character = Serial.read();
    if (character != '\n' && character != '\r') {
      if (length + 1 < sizeof sentence) sentence[length++] = char(character);
    } else if (length > 0) {
      sentence[length] = '\0';
      answer(sentence);
      length = 0;
    }
  }
}
