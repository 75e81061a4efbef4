// Passes over rows on the way to numbers of 8 bits and back, as vector code
// with the same bits on every processor.
#pragma once

#include <cstdint>

namespace attend_adapter::onnx {

// uint8 numbers of floats by the definition of DynamicQuantizeLinear: number =
// round(x / scale) + zero, ties to even.
struct Quantised {
  float scale;
  uint8_t zero;
};
Quantised quantisation_of(float least, float most);

// Widens [least, most] by numbers; NaN changes nothing.
void range_of(const float* x, int64_t count, float& least, float& most);

// Each number plus `lift`, modulo 256: 128 makes int8 numbers of them, which
// are 128 less.
void quantise(const float* x, int64_t count, const Quantised& by, uint8_t lift, uint8_t* to);

int32_t sum_of(const int8_t* numbers, int count);

// Sums of a row of a product, modulo 2^32: sums -= factor * zeros.
void subtract(int32_t* sums, const int32_t* zeros, uint32_t factor, int count);

// to = float(sum - factor * zeros) * (scale of the row * scale of the column),
// plus bias.
struct FloatEnd {
  const int32_t* zeros;
  uint32_t factor;
  float row_scale;
  const float* scales;  // of columns, or one number
  bool one_scale;
  const float* bias;  // or null
};
void to_floats(const int32_t* sums, const FloatEnd& end, int count, float* to);

}  // namespace attend_adapter::onnx
