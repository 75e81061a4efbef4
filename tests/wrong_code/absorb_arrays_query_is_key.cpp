// expect: attend: absorb takes an attend::Query first
#include "objects.h"

void wrong() { attend::absorb(key, key, value, state, 9, option_workspace, score_options); }
