// expect: attend: decode takes an attend::KvCache, FormatCache or RingCache second
#include "objects.h"

void wrong() { attend::decode(token_query, key, token_output, option_workspace, score_options); }
