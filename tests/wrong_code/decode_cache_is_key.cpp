// expect: attend: decode takes an attend::KvCache second
#include "objects.h"

void wrong() { attend::decode(token_query, key, token_output); }
