// Three tokens are decoded, and what head 0 puts out is printed: 0, 5441 and 12309 thousandths, the same bits on every board.
#include "wake.h"

void setup() {
  Serial.begin(115200);
  for (int token = 0; token < 3; ++token) {
    Serial.print("token ");
    Serial.print(token);
    Serial.print(": head 0 puts out ");
    Serial.print(decode_token(token));
    Serial.println(" thousandths");
  }
}

void loop() {}
