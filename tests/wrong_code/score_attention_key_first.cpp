// expect: attend: attention takes an attend::Query first
#include "objects.h"

void wrong() { attend::attention(key, key, value, output, option_workspace, score_options); }
