// Residual addition in integers as its definition says, one number at a time in 64 bits. Without an allocation, for boards too.
#pragma once

#include <stdint.h>

#include "../support/random.h"
#include "attend/layers/core_linear.h"

namespace attend_test {

// `output_bytes` is that of the output's type.
inline int64_t added(const attend::core::IntegerSum& of, int64_t a, int64_t b, int output_bytes) {
  const int64_t sum = (a - of.a_zero) * of.by.a + (b - of.b_zero) * of.by.b, divisor = int64_t(1) << of.by.shift;
  int64_t whole = sum / divisor, rest = sum % divisor;
  if (rest < 0) rest += divisor, --whole;
  const int64_t number = whole + (rest >= divisor / 2) + of.zero, largest = (int64_t(1) << (8 * output_bytes - 1)) - 1;
  return number < of.lowest ? of.lowest : number > largest ? largest : number;
}

// Random sums beside the definition, of all lengths from 0 to 40.
template <class A, class B, class Output>
bool are_added(Random& random) {
  constexpr int most = 40;
  A a[most];
  B b[most];
  Output output[most];
  for (int count = 0; count <= most; ++count) {
    for (int i = 0; i < count; ++i) {
      a[i] = A(random.between(0, 3) == 0 ? -(1 << (8 * sizeof(A) - 1)) : random.between(-32768, 32767));
      b[i] = B(random.between(0, 3) == 0 ? -(1 << (8 * sizeof(B) - 1)) : random.between(-32768, 32767));
    }
    const int lowest = random.between(0, 1) == 0 ? -9 : -(1 << (8 * sizeof(Output) - 1));
    const attend::core::IntegerSumFactors by = {random.between(1 << 20, (1 << 21) - 1), random.between(0, (1 << 21) - 1),
                                                random.between(8, 30)};
    const attend::core::IntegerSum sum = {
        a, b, output, count, by, random.between(-128, 127), random.between(-128, 127), random.between(-128, 127), lowest};
    attend::core::run_integer_sum<A, B, Output>(sum);
    for (int i = 0; i < count; ++i) {
      if (output[i] != added(sum, a[i], b[i], int(sizeof(Output)))) return false;
    }
  }
  return true;
}
inline bool are_added(Random& random) {
  return are_added<int8_t, int8_t, int8_t>(random) && are_added<int8_t, int8_t, int16_t>(random) &&
         are_added<int8_t, int16_t, int8_t>(random) && are_added<int8_t, int16_t, int16_t>(random) &&
         are_added<int16_t, int8_t, int8_t>(random) && are_added<int16_t, int8_t, int16_t>(random) &&
         are_added<int16_t, int16_t, int8_t>(random) && are_added<int16_t, int16_t, int16_t>(random);
}

}  // namespace attend_test
