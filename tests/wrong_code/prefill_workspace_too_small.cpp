// expect: attend: prefill needs an attend::PrefillWorkspace<Shape, query tokens>
#include "objects.h"

static attend::PrefillWorkspace<Shape, queries - 1> small;

void wrong() { attend::prefill(query, cache, output, small); }
