// expect: attend: an array needs at least 1 token
#include "objects.h"

attend::Lse<Shape, 0> lse;
