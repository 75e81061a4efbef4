// expect: attend: scores need at least 1 key
#include "objects.h"

attend::Scores<Shape, 1, 0> scores;
