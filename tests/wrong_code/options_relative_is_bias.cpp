// expect: attend: options.relative takes an attend::RelativeBias
#include "objects.h"

static attend::Bias<1, 1, keys> bias;

void wrong() { score_options.relative = bias; }
