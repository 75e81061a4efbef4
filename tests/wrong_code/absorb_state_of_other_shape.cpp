// expect: attend: absorb takes an attend::State of the cache's shape, with as many tokens as the query, third
#include "objects.h"

void wrong() { attend::absorb(query, cache, other_state, 9, option_workspace, score_options); }
