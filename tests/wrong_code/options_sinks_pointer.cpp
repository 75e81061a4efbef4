// expect: attend: options.slopes and options.sinks take a float[] with as many numbers as the shape has query heads
#include "objects.h"

static const float* sinks;

void wrong() { score_options.sinks = sinks; }
