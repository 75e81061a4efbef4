// main(), for programs on a board whose own start calls it, unless the board has one; start.cpp does without.
#include "platform.h"

namespace firmware {

__attribute__((weak)) void finish(int) {
  for (volatile bool stays = true; stays;) {
  }
  __builtin_unreachable();
}

}  // namespace firmware

__attribute__((weak)) int main() { firmware::finish(firmware::run()); }
