// expect: attend: finish takes attend::Options, or attend::ScoreOptions of the state's shape, third
#include "objects.h"

void wrong() { attend::finish(state, output, other_score_options); }
