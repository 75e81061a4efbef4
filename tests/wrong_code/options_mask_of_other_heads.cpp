// expect: attend: options.mask takes a mask of 1 head, for all of them, or of the shape's query heads
#include "objects.h"

static attend::BitMask<queries, 2, keys> mask;

void wrong() { score_options.mask = mask; }
