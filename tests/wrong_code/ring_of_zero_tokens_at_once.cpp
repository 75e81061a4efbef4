// expect: attend: a RingCache takes at least 1 token at once
#include "objects.h"

attend::RingCache<Shape, 8, 0, float, float, 0> wrong;
