// expect: attend: the pinned tokens of a RingCache must be at least 0
#include "objects.h"

attend::RingCache<Shape, 8, -1> wrong;
