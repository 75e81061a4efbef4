// expect: attend: finish takes an attend::Output of the state's shape, with as many tokens as the state, second
#include "objects.h"

void wrong() { attend::finish(state, other_output, all_options); }
