// expect: attend: a workspace needs at least 1 query token
#include "objects.h"

attend::OptionWorkspace<Shape, 0> work;
