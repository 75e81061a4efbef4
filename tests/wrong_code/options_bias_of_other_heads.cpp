// expect: attend: options.bias takes a bias of 1 head, for all of them, or of the shape's query heads
#include "objects.h"

static attend::Bias<1, 3, keys> bias;

void wrong() { score_options.bias = bias; }
