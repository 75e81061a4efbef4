// Numbers of other formats with AVX-512. Nothing of std is used where that is switched on.
#include <doctest/doctest.h>

#include <cstddef>

#include "../support/needed.h"
#include "attend/attend.h"
#include "attend/core/options.h"

#if ATTEND_X86

#include "../../src/backend/list.h"

#define ATTEND_AVX512
#include "../../src/isa/x86/on.h"
#include "../support/tested.h"

#include "../../src/isa/avx512/set.h"
#include "format_kernels.h"
#include "operations.h"

namespace {
constexpr attend_test::FormatKernels kernels = format_kernels<attend::Avx512>();
constexpr auto first_wrong = Operations<attend::Avx512>::first_wrong;
}  // namespace

#include "../../src/backend/end.h"

TEST_CASE("formats: vectors of x86, AVX-512, widen to the same floats, in rows of scores and sums too" *
          attend_test::needs_backend("avx512")) {
  attend_test::check_format_kernels(kernels);
}

TEST_CASE("operations of x86, AVX-512, do what they must" * attend_test::needs_backend("avx512")) {
  attend_test::check_operations(first_wrong);
}

#endif
