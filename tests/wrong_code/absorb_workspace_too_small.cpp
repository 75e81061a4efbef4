// expect: attend: absorb needs an attend::OptionWorkspace<Shape, query tokens>
#include "objects.h"

void wrong() { attend::absorb(query, ring, state, 9, small_option_workspace, score_options); }
