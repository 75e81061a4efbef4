// expect: attend: decode_part takes attend::Partials of the cache's shape, with as many tokens as the query, third
#include "objects.h"

void wrong() { attend::decode_part(query, cache, partials, all_options, half); }
