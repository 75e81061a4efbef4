#include "q8.h"

#if defined(__x86_64__) && defined(__gnu_linux__)
#include <attend/backend.h>
#include <immintrin.h>
#define ATTEND_GGML_AVX2 __attribute__((target("avx2,fma")))
#endif

namespace attend_ggml {

void pack_q8(const Q8Block* rows, std::int64_t stride, int outputs, int groups, Q8Panel* to) {
  for (int g = 0; g < groups; ++g) {
    for (int o = 0; o < q8_outputs; ++o) {
      static constexpr Q8Block none = {};
      const Q8Block& block = o < outputs ? rows[o * stride + g] : none;
      to[g].scales[o] = block.scale;
      for (int i = 0; i < q8_numbers; ++i) to[g].numbers[i][o] = block.numbers[i];
    }
  }
}

void unpack_q8(const Q8Panel* from, int outputs, int groups, Q8Block* rows, std::int64_t stride) {
  for (int g = 0; g < groups; ++g) {
    for (int o = 0; o < outputs; ++o) {
      Q8Block& block = rows[o * stride + g];
      block.scale = from[g].scales[o];
      for (int i = 0; i < q8_numbers; ++i) block.numbers[i] = from[g].numbers[i][o];
    }
  }
}

namespace {

// (`__restrict`: numbers of 8 bits may be the bytes of anything, and the compiler would look at each row whether they are those
// of `to`.)
void widen_portably(const Q8Panel* __restrict from, int groups, float* __restrict to) {
  for (int g = 0; g < groups; ++g) {
    float scales[q8_outputs];
    for (int o = 0; o < q8_outputs; ++o) scales[o] = widened_half(from[g].scales[o]);
    for (int i = 0; i < q8_numbers; ++i, to += q8_outputs) {
      for (int o = 0; o < q8_outputs; ++o) to[o] = float(from[g].numbers[i][o]) * scales[o];
    }
  }
}

}  // namespace

#ifdef ATTEND_GGML_AVX2
namespace {

constexpr int ahead = 4096;  // bytes that weights are prefetched: the hardware stops where a panel ends

// The 16 scales of a group, and its weights as floats: half 0 is of the first 8 outputs.
struct Group {
  const Q8Panel* panel;
  __m256 scales[2];

  ATTEND_GGML_AVX2 explicit Group(const Q8Panel* from) : panel(from) {
    for (int line = 0; line < int(sizeof(Q8Panel)); line += 64)
      _mm_prefetch(reinterpret_cast<const char*>(from) + ahead + line, _MM_HINT_T0);
    float floats[q8_outputs];
    for (int o = 0; o < q8_outputs; ++o) floats[o] = widened_half(from->scales[o]);
    for (int half = 0; half < 2; ++half) scales[half] = _mm256_loadu_ps(floats + 8 * half);
  }
  ATTEND_GGML_AVX2 void weights(int input, int half, __m256& to) const {
    const void* const numbers = panel->numbers[input] + 8 * half;
    const __m256i whole = _mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(numbers)));
    to = _mm256_mul_ps(_mm256_cvtepi32_ps(whole), scales[half]);
  }
};

ATTEND_GGML_AVX2 void widen_by_avx2(const Q8Panel* from, int groups, float* to) {
  for (int g = 0; g < groups; ++g) {
    const Group group(from + g);
    for (int i = 0; i < q8_numbers; ++i, to += q8_outputs) {
      for (int half = 0; half < 2; ++half) {
        __m256 weights;
        group.weights(i, half, weights);
        _mm256_storeu_ps(to + 8 * half, weights);
      }
    }
  }
}

}  // namespace

// (Not beside the library's code without vectors: tests compare the two.)
bool can_multiply_q8() {
  static const bool can =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && std::strncmp(attend::active_backend(), "avx", 3) == 0;
  return can;
}

void widen_q8(const Q8Panel* from, int groups, float* to) {
  can_multiply_q8() ? widen_by_avx2(from, groups, to) : widen_portably(from, groups, to);
}

// The two chains of a group side by side, each from 0, added up in ascending order.
ATTEND_GGML_AVX2 void multiply_q8_panel(const Q8Panel* from, int groups, const float* input, float* output) {
  constexpr int chain = 16;
  __m256 totals[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  for (int g = 0; g < groups; ++g, input += q8_numbers) {
    const Group group(from + g);
    __m256 sums[2][2] = {{_mm256_setzero_ps(), _mm256_setzero_ps()}, {_mm256_setzero_ps(), _mm256_setzero_ps()}};
    for (int i = 0; i < chain; ++i) {
      for (int c = 0; c < 2; ++c) {
        const __m256 number = _mm256_broadcast_ss(input + c * chain + i);
        for (int half = 0; half < 2; ++half) {
          __m256 weights;
          group.weights(c * chain + i, half, weights);
          sums[c][half] = _mm256_fmadd_ps(number, weights, sums[c][half]);
        }
      }
    }
    for (int half = 0; half < 2; ++half) {
      totals[half] = g == 0 ? sums[0][half] : _mm256_add_ps(totals[half], sums[0][half]);
      totals[half] = _mm256_add_ps(totals[half], sums[1][half]);
    }
  }
  for (int half = 0; half < 2; ++half) _mm256_storeu_ps(output + 8 * half, totals[half]);
}

#else
void widen_q8(const Q8Panel* from, int groups, float* to) { widen_portably(from, groups, to); }
bool can_multiply_q8() { return false; }
void multiply_q8_panel(const Q8Panel*, int, const float*, float*) {}
#endif

}  // namespace attend_ggml
