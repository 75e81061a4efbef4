// expect: attend: merge takes an attend::State of the same type second
#include "objects.h"

void wrong() { attend::merge(state, other_state); }
