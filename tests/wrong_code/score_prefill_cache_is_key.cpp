// expect: attend: prefill takes an attend::KvCache, FormatCache or RingCache second
#include "objects.h"

void wrong() { attend::prefill(query, key, output, option_workspace, score_options); }
