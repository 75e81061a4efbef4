// expect: attend: prefill takes an attend::Query of the cache's shape first
#include "objects.h"

void wrong() { attend::prefill(other_query, cache, output, option_workspace, score_options); }
