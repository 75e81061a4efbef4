// expect: attend: FormatCache::append takes an attend::Value of the cache's own shape, with as many tokens as the key, second
#include "objects.h"

void wrong() { half_cache.append(key, other_value); }
