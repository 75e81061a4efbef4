// expect: attend: absorb takes an attend::Key of the query's shape second
#include "objects.h"

void wrong() { attend::absorb(query, other_key, value, state, 9, option_workspace, score_options); }
