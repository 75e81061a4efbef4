// What nearly every test includes, which the Makefile compiles once for all of them. Tests include what they use by themselves,
// too.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>
