// expect: attend: options.scores takes attend::Scores of the options' shape
#include "objects.h"

void wrong() { score_options.scores = output; }
