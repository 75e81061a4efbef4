// expect: attend: decode takes attend::ScoreOptions of the cache's shape
#include "objects.h"

void wrong() { attend::decode(token_query, cache, token_output, option_workspace, other_score_options); }
