// expect: attend: decode_part takes an attend::KvCache second
#include "objects.h"

void wrong() { attend::decode_part(token_query, key, partials, all_options, half); }
