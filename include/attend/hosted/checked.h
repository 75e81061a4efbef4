// Checks of misuse for programs that have a C library: compile all sources with `-include attend/hosted/checked.h`. It sets
// ATTEND_CHECKED; misuse prints a sentence to the standard error stream and aborts.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define ATTEND_CHECKED
#define ATTEND_MISUSE(sentence) (fputs(sentence "\n", stderr), abort())
