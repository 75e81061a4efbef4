// expect: attend: absorb needs an attend::OptionWorkspace<Shape, query tokens>
#include "objects.h"

void wrong() { attend::absorb(query, key, value, state, 9, floats, all_options); }
