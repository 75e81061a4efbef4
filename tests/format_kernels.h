// What an instruction set does with numbers of other formats, compiled with that instruction set and checked without it:
// tests/test_formats*.cpp.
#pragma once

#include <cstddef>

#include "attend/core_options.h"

namespace attend_test {

struct FormatKernels {
  void (*widen_row)(attend::core::Format, const void* from, int count, float* to);
};

// Against the scalar ones, which are checked against the definition of the formats.
void check_format_kernels(const FormatKernels& kernels);

}  // namespace attend_test
