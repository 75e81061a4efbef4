// expect: attend: decode takes an attend::Query of one token and of the cache's shape first
#include "objects.h"

void wrong() { attend::decode(other_token_query, cache, token_output); }
