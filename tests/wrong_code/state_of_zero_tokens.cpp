// expect: attend: a state needs at least 1 query token
#include "objects.h"

attend::State<Shape, 0> wrong;
