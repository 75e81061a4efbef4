// expect: attend: decode takes an attend::Query of one token and of the cache's shape first
#include "objects.h"

void wrong() { attend::decode(query, cache, token_output, option_workspace, score_options); }
