// The kernels of integer attention with AVX-VNNI: those of AVX2, with one instruction where that takes two.
#pragma once

#include "integer_avx2.h"

namespace attend {
namespace {

struct DotProduct {
  static ATTEND_ALWAYS_INLINE void add(__m256i& sum, __m256i a, __m256i b) {
    __asm__("%{vex%} vpdpwssd {%2, %1, %0|%0, %1, %2}" : "+x"(sum) : "x"(a), "x"(b));
  }
};

}  // namespace
}  // namespace attend
