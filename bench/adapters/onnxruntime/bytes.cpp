#include "bytes.h"

#include <cstring>

#define ATTEND_ADAPTER_INLINE __attribute__((always_inline))

namespace attend_adapter::onnx {

namespace {

// A pass is compiled twice on x86-64: for every processor, and for those with
// AVX2. It is passed by value, so that what it points to cannot be itself.
#if defined(__x86_64__)
template <class Pass>
__attribute__((target("avx2"), noinline)) void run_with_avx2(const Pass pass) {
  pass();
}
template <class Pass>
void run(const Pass& pass) {
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  has_avx2 ? run_with_avx2(pass) : pass();
}
#else
template <class Pass>
void run(const Pass pass) {
  pass();
}
#endif

template <bool one_scale, bool has_bias>
void floats_of(const int32_t* sums, const FloatEnd& end, int count, float* to) {
  const float row_scale = end.row_scale, both = end.row_scale * end.scales[0];
  const float *const scales = end.scales, *const bias = end.bias;
  const int32_t* const zeros = end.zeros;
  const uint32_t factor = end.factor;
  run([=]() ATTEND_ADAPTER_INLINE {
    for (int n = 0; n < count; ++n) {
      const auto sum = int32_t(uint32_t(sums[n]) - factor * uint32_t(zeros[n]));
      const float product = float(sum) * (one_scale ? both : row_scale * scales[n]);
      to[n] = has_bias ? product + bias[n] : product;
    }
  });
}

}  // namespace

void range_of(const float* x, int64_t count, float& least, float& most) {
  constexpr int width = 8, vectors = 2;
  using Floats = float __attribute__((vector_size(width * sizeof(float))));
  float* const low = &least;
  float* const high = &most;
  run([=]() ATTEND_ADAPTER_INLINE {
    // Chains side by side: neither a minimum nor a maximum depends on the
    // order.
    Floats lows[vectors], highs[vectors];
    for (int v = 0; v < vectors; ++v) {
      lows[v] = Floats{} + *low;
      highs[v] = Floats{} + *high;
    }
    int64_t i = 0;
    for (; i + width * vectors <= count; i += width * vectors) {
      for (int v = 0; v < vectors; ++v) {
        Floats numbers;
        std::memcpy(&numbers, x + i + v * width, sizeof numbers);
        lows[v] = numbers < lows[v] ? numbers : lows[v];
        highs[v] = numbers > highs[v] ? numbers : highs[v];
      }
    }
    for (int v = 1; v < vectors; ++v) {
      lows[0] = lows[v] < lows[0] ? lows[v] : lows[0];
      highs[0] = highs[v] > highs[0] ? highs[v] : highs[0];
    }
    float all_low = *low, all_high = *high;
    for (int k = 0; k < width; ++k) {
      all_low = lows[0][k] < all_low ? lows[0][k] : all_low;
      all_high = highs[0][k] > all_high ? highs[0][k] : all_high;
    }
    for (; i < count; ++i) {
      all_low = x[i] < all_low ? x[i] : all_low;
      all_high = x[i] > all_high ? x[i] : all_high;
    }
    *low = all_low;
    *high = all_high;
  });
}

Quantised quantisation_of(float least, float most) {
  Quantised by{};
  by.scale = most == least ? 1 : (most - least) / 255;
  const float zero = -least / by.scale;
  by.zero = uint8_t(zero >= 0 ? (zero <= 255 ? __builtin_nearbyintf(zero) : 255.0f) : 0.0f);
  return by;
}

void quantise(const float* x, int64_t count, const Quantised& by, uint8_t lift, uint8_t* to) {
  // 1.5 * 2^23: the last bits of a sum with it are a whole number, rounded with
  // ties to even.
  constexpr float to_whole = 12582912;
  const float scale = by.scale, low = -float(by.zero), high = 255 - float(by.zero);
  const int32_t added = by.zero + lift;
  run([=]() ATTEND_ADAPTER_INLINE {
    for (int64_t i = 0; i < count; ++i) {
      const float step = x[i] / scale;
      const float above = step > low ? step : low;  // of NaN too
      const float whole = (above < high ? above : high) + to_whole;
      int32_t bits;
      std::memcpy(&bits, &whole, sizeof bits);
      to[i] = uint8_t(bits + added);
    }
  });
}

int32_t sum_of(const int8_t* numbers, int count) {
  uint32_t sum = 0;
  for (int i = 0; i < count; ++i) sum += uint32_t(numbers[i]);
  return int32_t(sum);
}

void subtract(int32_t* sums, const int32_t* zeros, uint32_t factor, int count) {
  run([=]() ATTEND_ADAPTER_INLINE {
    for (int n = 0; n < count; ++n) sums[n] = int32_t(uint32_t(sums[n]) - factor * uint32_t(zeros[n]));
  });
}

void to_floats(const int32_t* sums, const FloatEnd& end, int count, float* to) {
  if (count == 0) return;
  const auto floats = end.one_scale ? (end.bias != nullptr ? floats_of<true, true> : floats_of<true, false>)
                                    : (end.bias != nullptr ? floats_of<false, true> : floats_of<false, false>);
  floats(sums, end, count, to);
}

}  // namespace attend_adapter::onnx
