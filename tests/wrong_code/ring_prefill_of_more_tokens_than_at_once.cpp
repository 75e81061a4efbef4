// expect: attend: a RingCache serves at most as many query tokens at once as its last parameter says
#include "objects.h"

static attend::RingCache<Shape, 16> narrow;

void wrong() { attend::prefill(query, narrow, output, option_workspace, score_options); }
