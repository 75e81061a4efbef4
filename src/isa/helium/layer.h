// Helium for functions around attention, which need more operations than the embedded form of attention does.
#ifndef ATTEND_ISA_HELIUM_LAYER_H
#define ATTEND_ISA_HELIUM_LAYER_H

#include "operations.h"

namespace attend::ATTEND_ISA {
namespace {

struct HeliumLayer : Helium {
  static Vec max(Vec a, Vec b) { return vpselq_f32(b, a, vcmpgtq_f32(b, a)); }  // a where one is NaN, unlike Helium's own
  static Vec min(Vec a, Vec b) { return vpselq_f32(b, a, vcmpgtq_f32(a, b)); }  // likewise
  static Vec where_equal(Vec a, Vec b, Vec then, Vec otherwise) { return vpselq_f32(then, otherwise, vcmpeqq_f32(a, b)); }
  static Vec minus_reciprocal_guess(Vec a) {
    return vreinterpretq_f32_u32(vsubq_u32(vdupq_n_u32(0xfef311c7u), vreinterpretq_u32_f32(a)));
  }
  static Vec two_to(Vec n) { return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_n_s32(vreinterpretq_s32_f32(n), 127), 23)); }
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
