// expect: attend: absorb takes an attend::KvCache, FormatCache or RingCache second
#include "objects.h"

void wrong() { attend::absorb(query, key, state, 9, option_workspace, score_options); }
