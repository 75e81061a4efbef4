// expect: attend: attention needs an attend::Workspace<Shape, query tokens, key tokens>
#include "objects.h"

void wrong() { attend::attention(query, key, value, output, floats); }
