// expect: attend: extents of a bias must be at least 1
#include "objects.h"

attend::Bias<0, 1, 8> bias;
