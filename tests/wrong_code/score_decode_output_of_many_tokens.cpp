// expect: attend: decode takes an attend::Output of one token and of the cache's shape third
#include "objects.h"

void wrong() { attend::decode(token_query, cache, output, option_workspace, score_options); }
