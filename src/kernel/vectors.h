// Rows of any length, vector by vector: the last one may be shorter.
#ifndef ATTEND_KERNEL_VECTORS_H
#define ATTEND_KERNEL_VECTORS_H

#include "../../include/attend/core/config.h"
#include "../numerics/float_rules.h"

namespace attend::ATTEND_ISA {
namespace {

// Calls with each vector of `count` floats: its first lane, and how many of its lanes count.
template <class Isa, class Call>
ATTEND_ALWAYS_INLINE void for_each_vector(int count, Call call) {
  int k = 0;
  for (; count - k >= Isa::lanes; k += Isa::lanes) call(k, Isa::lanes);
  if (k < count) call(k, count - k);
}
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec load_some(const float* from, int count) {
  return count == Isa::lanes ? Isa::load(from) : Isa::load_first(from, count);
}
template <class Isa>
ATTEND_ALWAYS_INLINE void store_some(float* to, typename Isa::Vec a, int count) {
  if (count == Isa::lanes) {
    Isa::store(to, a);
  } else {
    Isa::store_first(to, a, count);
  }
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
