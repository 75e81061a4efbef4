// expect: attend: RingCache::append takes an attend::Key of the cache's own shape first
#include "objects.h"

void wrong() { ring.append(other_key, value); }
