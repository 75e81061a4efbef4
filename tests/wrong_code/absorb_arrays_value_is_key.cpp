// expect: attend: absorb takes an attend::Value of the query's shape, with as many tokens as the key, third
#include "objects.h"

void wrong() { attend::absorb(query, key, key, state, 9, option_workspace, score_options); }
