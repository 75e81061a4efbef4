// expect: attend: attention takes an attend::Key of the query's shape second
#include "objects.h"

void wrong() { attend::attention(query, other_key, value, output, option_workspace, score_options); }
