// expect: attend: options.lse takes an attend::Lse of the options' shape
#include "objects.h"

void wrong() { score_options.lse = floats; }
