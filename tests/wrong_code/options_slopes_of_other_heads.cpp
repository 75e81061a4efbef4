// expect: attend: options.slopes and options.sinks take a float[] with as many numbers as the shape has query heads
#include "objects.h"

static const float slopes[2] = {};

void wrong() { score_options.slopes = slopes; }
