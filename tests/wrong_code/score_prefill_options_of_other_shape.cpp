// expect: attend: prefill takes attend::ScoreOptions of the cache's shape
#include "objects.h"

void wrong() { attend::prefill(query, ring, output, option_workspace, other_score_options); }
