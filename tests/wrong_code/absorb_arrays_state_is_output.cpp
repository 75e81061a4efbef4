// expect: attend: absorb takes an attend::State of the query's shape, with as many tokens as the query, fourth
#include "objects.h"

void wrong() { attend::absorb(query, key, value, output, 9, option_workspace, score_options); }
