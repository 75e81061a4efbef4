// expect: attend: distances of a relative bias must be at least 0
#include "objects.h"

attend::RelativeBias<1, -1, 8> bias;
