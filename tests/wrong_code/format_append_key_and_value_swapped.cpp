// expect: attend: FormatCache::append takes an attend::Key of the cache's own shape first
#include "objects.h"

void wrong() { half_cache.append(value, key); }
