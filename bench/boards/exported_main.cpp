// The self-test of an exported model, ATTEND_SELF_TEST.
#include "platform.h"

#ifdef ATTEND_SELF_TEST_IN_c
extern "C"
#endif
int ATTEND_SELF_TEST();

int firmware::run() {
  const int wrong = ATTEND_SELF_TEST();
  if (wrong < 0) {
    print("the same bits\n");
  } else {
    print("other bits from step ");
    print_number(uint64_t(wrong));
    print(" on\n");
  }
  return wrong < 0 ? 0 : 1;
}
