// expect: attend: attention takes an attend::Value of the query's shape, with as many tokens as the key, third
#include "objects.h"

void wrong() { attend::attention(query, key, other_value, output, option_workspace, score_options); }
