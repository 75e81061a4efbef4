// expect: attend: merge takes an attend::State first
#include "objects.h"

void wrong() { attend::merge(output, state); }
