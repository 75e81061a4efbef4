// expect: attend: prefill needs an attend::PrefillWorkspace<Shape, query tokens>
#include "objects.h"

void wrong() {
  float* pointer = floats;
  attend::prefill(query, cache, output, pointer);
}
