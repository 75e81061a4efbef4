// expect: attend: prefill with ScoreOptions needs an attend::OptionWorkspace<Shape, query tokens>
#include "objects.h"

void wrong() { attend::prefill(query, cache, output, small_option_workspace, score_options); }
