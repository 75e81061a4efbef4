// expect: attend: options.mask takes an attend::Mask or an attend::BitMask
#include "objects.h"

void wrong() { score_options.mask = floats; }
