// expect: attend: options.mask takes an attend::Mask or an attend::BitMask
#include "objects.h"

static attend::Bias<1, 1, keys> bias;

void wrong() { score_options.mask = bias; }
