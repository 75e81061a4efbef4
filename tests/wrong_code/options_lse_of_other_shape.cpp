// expect: attend: options.lse takes an attend::Lse of the options' shape
#include "objects.h"

static attend::Lse<OtherShape, queries> lse;

void wrong() { score_options.lse = lse; }
