// expect: attend: decode_finish takes attend::Partials of the cache's shape second
#include "objects.h"

void wrong() { attend::decode_finish(cache, floats, token_output, all_options); }
