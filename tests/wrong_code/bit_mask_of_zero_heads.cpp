// expect: attend: extents of a mask must be at least 1
#include "objects.h"

attend::BitMask<1, 0, 8> mask;
