// expect: attend: attention takes an attend::Value of the query's shape, with as many tokens as the key, third
#include "objects.h"

static attend::Value<Shape, keys - 1> fewer;

void wrong() { attend::attention(query, key, fewer, output, workspace); }
