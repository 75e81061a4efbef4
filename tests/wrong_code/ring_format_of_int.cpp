// expect: attend: formats of a cache are float, attend::float16, attend::bfloat16 and attend::int8
#include "objects.h"

attend::RingCache<Shape, 8, 0, float, signed char> wrong;
