// Arithmetic of one float, the same to the bit on every target: by the processor, or by software where it has no floats.
#ifndef ATTEND_NUMERICS_ARITHMETIC_H
#define ATTEND_NUMERICS_ARITHMETIC_H

#include "../../include/attend/core/config.h"
#include "fma.h"

namespace attend::ATTEND_ISA {
namespace {

struct FloatArithmetic {
#if ATTEND_SOFT_FLOAT
  static float add(float a, float b) { return soft_fma(a, 1.0f, b); }
  static float sub(float a, float b) { return soft_fma(b, -1.0f, a); }
  static float mul(float a, float b) { return soft_fma(a, b, 0.0f); }
  static bool less(float a, float b) { return soft_less(a, b); }
  static float reciprocal(float a) { return soft_reciprocal(a); }
  static int whole(float a) { return soft_truncated(a); }
#else
  static float add(float a, float b) { return a + b; }
  static float sub(float a, float b) { return a - b; }
  static float mul(float a, float b) { return a * b; }
  static bool less(float a, float b) { return a < b; }
  static float reciprocal(float a) { return 1.0f / a; }
  static int whole(float a) { return a == a ? int(a) : 0; }  // toward zero, of an int's range; any number for NaN
#endif
  static float fma(float a, float b, float c) { return fused_multiply_add(a, b, c); }
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
