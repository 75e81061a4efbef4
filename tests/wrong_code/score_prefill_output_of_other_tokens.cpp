// expect: attend: prefill takes an attend::Output of the cache's shape, with as many tokens as the query, third
#include "objects.h"

void wrong() { attend::prefill(query, half_cache, token_output, option_workspace, score_options); }
