// expect: attend: a RingCache takes at most as many tokens at once as its last parameter says
#include "objects.h"

void wrong() { ring.append(key, value); }
