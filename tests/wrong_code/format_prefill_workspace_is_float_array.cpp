// expect: attend: prefill with ScoreOptions needs an attend::OptionWorkspace<Shape, query tokens>
#include "objects.h"

void wrong() { attend::prefill(query, half_cache, output, floats); }
