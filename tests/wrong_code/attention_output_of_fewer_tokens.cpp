// expect: attend: attention takes an attend::Output of the query's shape, with as many tokens as the query, fourth
#include "objects.h"

static attend::Output<Shape, queries - 1> fewer;

void wrong() { attend::attention(query, key, value, fewer, workspace); }
