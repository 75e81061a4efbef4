// expect: attend: attention takes attend::ScoreOptions of the query's shape
#include "objects.h"

void wrong() { attend::attention(query, key, value, output, option_workspace, other_score_options); }
