// expect: attend: extents of a mask must be at least 1
#include "objects.h"

attend::Mask<1, 1, 0> mask;
