// expect: attend: RingCache::append takes an attend::Value of the cache's own shape, with as many tokens as the key, second
#include "objects.h"

void wrong() { ring.append(key, floats); }
