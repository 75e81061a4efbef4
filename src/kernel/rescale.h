// Bringing sums to another maximum: what is relative to 2^from becomes relative to 2^to. Maxima are whole numbers, so this is a
// multiplication by a power of two, which rounds nothing.
#pragma once

#include "../simd/scalar.h"

namespace attend {
namespace {

// The factor, for from <= to; 0 where sums relative to `from` are next to nothing beside 2^to.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec rescaling(float from, float to) {
  return Isa::scale_by_power(Isa::broadcast(1.0f), Isa::broadcast(Scalar::sub(from, to)));
}

}  // namespace
}  // namespace attend
