// expect: attend: attention with ScoreOptions needs an attend::OptionWorkspace<Shape, query tokens>
#include "objects.h"

void wrong() { attend::attention(query, key, value, output, small_option_workspace, score_options); }
