// expect: attend: prefill takes an attend::Query of the cache's shape first
#include "objects.h"

void wrong() { attend::prefill(floats, cache, output, prefill_workspace); }
