// expect: attend: attention needs an attend::Workspace<Shape, query tokens, key tokens>
#include "objects.h"

static attend::Workspace<Shape, queries - 1, keys> small;

void wrong() { attend::attention(query, key, value, output, small); }
