// expect: attend: the window of a RingCache must be at least 1 token
#include "objects.h"

attend::RingCache<Shape, 0> wrong;
