// expect: attend: decode_part takes an attend::Query of the cache's shape first
#include "objects.h"

void wrong() { attend::decode_part(other_token_query, cache, partials, all_options, half); }
