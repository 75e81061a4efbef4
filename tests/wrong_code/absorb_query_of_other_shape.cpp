// expect: attend: absorb takes an attend::Query of the cache's shape first
#include "objects.h"

void wrong() { attend::absorb(other_query, cache, state, 9, option_workspace, score_options); }
