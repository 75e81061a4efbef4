// Numbers of other formats with SSE2.
#include <doctest/doctest.h>

#include <cstddef>

#include "../support/needed.h"
#include "attend/attend.h"
#include "attend/core/options.h"

#if ATTEND_X86

#include "../support/tested.h"

#include "../../src/isa/sse2/set.h"
#include "format_kernels.h"
#include "operations.h"

namespace {
constexpr attend_test::FormatKernels kernels = format_kernels<attend::Sse2>();
constexpr auto first_wrong = Operations<attend::Sse2>::first_wrong;
}  // namespace

TEST_CASE("formats: vectors of x86, SSE2, widen to the same floats, in rows of scores and sums too" *
          attend_test::needs_backend("sse2")) {
  attend_test::check_format_kernels(kernels);
}

TEST_CASE("operations of x86, SSE2, do what they must" * attend_test::needs_backend("sse2")) {
  attend_test::check_operations(first_wrong);
}

#endif
