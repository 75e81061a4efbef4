// expect: attend: partials need at least 1 query token
#include "objects.h"

attend::Partials<Shape, 0> none;
