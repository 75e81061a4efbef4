// expect: attend: attention takes an attend::Output of the query's shape, with as many tokens as the query, fourth
#include "objects.h"

void wrong() { attend::attention(query, key, value, token_output, option_workspace, score_options); }
