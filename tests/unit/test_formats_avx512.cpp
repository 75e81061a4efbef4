// Numbers of other formats with AVX-512. Nothing of std is used where that is switched on.
#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include "attend/attend.h"
#include "attend/core_options.h"

#if ATTEND_X86

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push  // GCC 12 takes its own intrinsics' "undefined" operands for mistakes
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <stddef.h>
#include <stdint.h>

#include "../../src/simd/x86_intrinsics.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")
#endif

#include "../../src/simd/avx512.h"
#include "format_kernels.h"
#include "operations.h"

namespace {
constexpr attend_test::FormatKernels kernels = format_kernels<attend::Avx512>();
constexpr auto first_wrong = Operations<attend::Avx512>::first_wrong;
}  // namespace

#if defined(__clang__)
#pragma clang attribute pop
#elif defined(__GNUC__)
#pragma GCC pop_options
#pragma GCC diagnostic pop
#endif

TEST_CASE("formats: vectors of AVX-512 widen to the same floats, in rows of scores and sums too") {
  for (int i = 0; i < attend::backend_count(); ++i) {
    if (std::string(attend::backend_name(i)) == "avx512" && attend::backend_available(i))
      attend_test::check_format_kernels(kernels);
  }
}

TEST_CASE("operations of AVX-512 do what they must") {
  for (int i = 0; i < attend::backend_count(); ++i) {
    if (std::string(attend::backend_name(i)) == "avx512" && attend::backend_available(i))
      attend_test::check_operations(first_wrong);
  }
}

#endif
