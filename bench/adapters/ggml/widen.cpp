#include "widen.h"

#include <cmath>

// Compiled for processors with AVX2 too, where the compiler and the C library choose between versions of a function. Every
// version computes the same, because nothing here is rounded but what a single operation rounds.
#if defined(__x86_64__) && defined(__gnu_linux__)
#define ATTEND_GGML_VERSIONS __attribute__((target_clones("avx2", "default")))
#else
#define ATTEND_GGML_VERSIONS
#endif

namespace attend_ggml {
namespace {

struct Q4Block {
  std::uint8_t scale[2];
  std::uint8_t numbers[16];
};

ATTEND_GGML_VERSIONS void widen_halves(const std::uint16_t* from, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = widened_half(from[i]);
}

ATTEND_GGML_VERSIONS void widen_bfloats(const std::uint16_t* from, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = widened_bfloat(from[i]);
}

ATTEND_GGML_VERSIONS void widen_q8_row(const Q8Block* from, std::int64_t blocks, float* to) {
  for (std::int64_t b = 0; b < blocks; ++b, to += q8_numbers) {
    const float scale = widened_half(from[b].scale);
    for (int i = 0; i < q8_numbers; ++i) to[i] = float(from[b].numbers[i]) * scale;
  }
}

ATTEND_GGML_VERSIONS void widen_q4_row(const Q4Block* from, std::int64_t blocks, float* to) {
  for (std::int64_t b = 0; b < blocks; ++b, to += 32) {
    const float scale = widened_half(std::uint16_t(from[b].scale[0] | from[b].scale[1] << 8));
    for (int i = 0; i < 16; ++i) {
      to[i] = float((from[b].numbers[i] & 15) - 8) * scale;
      to[i + 16] = float((from[b].numbers[i] >> 4) - 8) * scale;
    }
  }
}

ATTEND_GGML_VERSIONS void narrow_halves(const float* from, std::int64_t count, std::uint16_t* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = narrowed_half(from[i]);
}

void narrow_q8_row(const float* from, std::int64_t blocks, Q8Block* to) {
  for (std::int64_t b = 0; b < blocks; ++b, from += q8_numbers) {
    float largest = 0;
    for (int i = 0; i < q8_numbers; ++i) largest = std::fmax(largest, std::fabs(from[i]));
    const float scale = largest / 127.0f, inverse = scale == 0 ? 0.0f : 1.0f / scale;
    to[b].scale = narrowed_half(scale);
    for (int i = 0; i < q8_numbers; ++i) {
      const float quotient = std::round(from[i] * inverse);
      to[b].numbers[i] =
          quotient >= -128.0f && quotient <= 127.0f ? std::int8_t(quotient) : std::int8_t(0);  // 0: of what is not finite
    }
  }
}

}  // namespace

std::size_t row_bytes(int type, std::int64_t count) {
  if (type == type_q8_0) return count % q8_numbers == 0 ? std::size_t(count) / q8_numbers * sizeof(Q8Block) : 0;
  if (type == type_q4_0) return count % 32 == 0 ? std::size_t(count) / 32 * sizeof(Q4Block) : 0;
  if (type == type_float32) return std::size_t(count) * 4;
  return type == type_float16 || type == type_bfloat16 ? std::size_t(count) * 2 : 0;
}

void widen_row(int type, const void* from, std::int64_t count, float* to) {
  switch (type) {
    case type_float16:
      return widen_halves(static_cast<const std::uint16_t*>(from), count, to);
    case type_bfloat16:
      return widen_bfloats(static_cast<const std::uint16_t*>(from), count, to);
    case type_q8_0:
      return widen_q8_row(static_cast<const Q8Block*>(from), count / q8_numbers, to);
    case type_q4_0:
      return widen_q4_row(static_cast<const Q4Block*>(from), count / 32, to);
    default:
      std::memcpy(to, from, std::size_t(count) * sizeof(float));
  }
}

void narrow_row(int type, const float* from, std::int64_t count, void* to) {
  switch (type) {
    case type_float16:
      return narrow_halves(from, count, static_cast<std::uint16_t*>(to));
    case type_bfloat16: {
      std::uint16_t* const numbers = static_cast<std::uint16_t*>(to);
      for (std::int64_t i = 0; i < count; ++i) numbers[i] = narrowed_bfloat(from[i]);
      return;
    }
    case type_q8_0:
      return narrow_q8_row(from, count / q8_numbers, static_cast<Q8Block*>(to));
    default:
      std::memcpy(to, from, std::size_t(count) * sizeof(float));
  }
}

}  // namespace attend_ggml
