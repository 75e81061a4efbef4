// expect: attend: attention takes an attend::Key of the query's shape second
#include "objects.h"

void wrong() { attend::attention(query, floats, value, output, workspace); }
