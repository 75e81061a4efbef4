// expect: attend: decode_finish takes an attend::Output of the cache's shape, with as many tokens as the partials, third
#include "objects.h"

void wrong() { attend::decode_finish(cache, partials, other_token_output, all_options); }
