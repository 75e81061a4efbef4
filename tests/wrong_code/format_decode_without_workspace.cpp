// expect: attend: decode takes an attend::KvCache second
#include "objects.h"

void wrong() { attend::decode(token_query, half_cache, token_output); }
