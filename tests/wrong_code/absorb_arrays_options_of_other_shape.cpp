// expect: attend: absorb takes attend::Options, or attend::ScoreOptions of the query's shape, last
#include "objects.h"

void wrong() { attend::absorb(query, key, value, state, 9, option_workspace, other_score_options); }
