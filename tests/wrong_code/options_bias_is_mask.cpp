// expect: attend: options.bias takes an attend::Bias
#include "objects.h"

static attend::Mask<1, 1, keys> mask;

void wrong() { score_options.bias = mask; }
