// expect: attend: attention takes an attend::Query first
#include "objects.h"

void wrong() { attend::attention(floats, key, value, output, workspace); }
