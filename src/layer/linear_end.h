// The end of a projection: scales of int8 weights, and the bias.
#ifndef ATTEND_LAYER_LINEAR_END_H
#define ATTEND_LAYER_LINEAR_END_H

#include <stddef.h>

#include "../kernel/vectors.h"

namespace attend::ATTEND_ISA {
namespace {

// sums[o] * scales[o] + bias[o], rounded once, for one vector; where only one of the two is there, the product or the sum.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec ended(typename Isa::Vec sum, const typename Isa::Vec* scale,
                                             const typename Isa::Vec* bias) {
  if (scale == nullptr) return bias == nullptr ? sum : Isa::add(sum, *bias);
  return bias == nullptr ? Isa::mul(sum, *scale) : Isa::fma(sum, *scale, *bias);
}

// The same for the sums of a token's outputs, in place.
//   scales, bias  of these outputs, or null
template <class Isa>
ATTEND_NOINLINE void end_outputs(float* sums, int count, const float* scales, const float* bias) {
  if (scales == nullptr && bias == nullptr) return;
  using Vec = typename Isa::Vec;
  for (int o = 0; o < count; o += Isa::lanes) {
    const int step_size = count - o >= Isa::lanes ? Isa::lanes : count - o;
    const auto load = [&](const float* from) ATTEND_INLINE_LAMBDA { return load_some<Isa>(from + o, step_size); };
    const Vec scale = scales == nullptr ? Isa::zero() : load(scales), added = bias == nullptr ? Isa::zero() : load(bias);
    const Vec end = ended<Isa>(load(sums), scales == nullptr ? nullptr : &scale, bias == nullptr ? nullptr : &added);
    store_some<Isa>(sums + o, end, step_size);
  }
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
