// expect: attend: absorb takes attend::Options, or attend::ScoreOptions of the cache's shape, last
#include "objects.h"

void wrong() { attend::absorb(query, ring, state, 9, option_workspace, other_score_options); }
