// Runs the example of a package on a board: EXAMPLE is its file, CALL what its system would call. In place of <stdio.h>
// and <zephyr/sys/printk.h> it is given package_system.h.
#include "package_system.h"

#define main example_main
#include EXAMPLE
#undef main

int firmware::run() {
  CALL();
  return 0;
}
