// expect: attend: options.relative takes a bias of 1 head, for all of them, or of the shape's query heads
#include "objects.h"

static attend::RelativeBias<2, 8, 0> relative;

void wrong() { score_options.relative = relative; }
