// expect: attend: prefill takes an attend::KvCache second
#include "objects.h"

void wrong() { attend::prefill(query, key, output, prefill_workspace); }
