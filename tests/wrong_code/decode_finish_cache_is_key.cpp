// expect: attend: decode_finish takes an attend::KvCache first
#include "objects.h"

void wrong() { attend::decode_finish(key, partials, token_output, all_options); }
