// expect: attend: heads of a relative bias must be at least 1
#include "objects.h"

attend::RelativeBias<0, 1, 8> bias;
