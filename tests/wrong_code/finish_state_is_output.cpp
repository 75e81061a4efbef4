// expect: attend: finish takes an attend::State first
#include "objects.h"

void wrong() { attend::finish(output, output, all_options); }
