// expect: attend: options.scores takes attend::Scores of the options' shape
#include "objects.h"

static attend::Scores<OtherShape, queries, keys> scores;

void wrong() { score_options.scores = scores; }
