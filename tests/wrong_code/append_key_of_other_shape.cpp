// expect: attend: KvCache::append takes an attend::Key of the cache's own shape first
#include "objects.h"

void wrong() { cache.append(other_key, value); }
