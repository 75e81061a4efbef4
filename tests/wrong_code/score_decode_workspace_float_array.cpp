// expect: attend: decode with ScoreOptions needs an attend::OptionWorkspace<Shape>
#include "objects.h"

void wrong() { attend::decode(token_query, cache, token_output, floats, score_options); }
