// The products of AVX-VNNI and AVX-512 VNNI, lane by lane, in place of the library's assembly: EmulatedQuads is IntegerQuads
// with them. To be included after begin.h.
#pragma once

#include <cstdint>
#include <cstring>

namespace attend::ATTEND_ISA {
namespace {
// clang-format off
#include "../../src/isa/x86/integer_vectors.h"
#include "../../src/isa/x86/integers.h"
#include "../../src/isa/x86/integer_pairs.h"
#include "../../src/isa/x86/integer_quads.h"
// clang-format on

// sum += the products of so many neighbours, whose numbers are `First` on one side and `Second` on the other; sums wrap.
template <class First, class Second, class Vector>
void add_products(Vector& sum, Vector a, Vector b) {
  constexpr int numbers = int(sizeof(Vector) / sizeof(First)), of_lane = 4 / int(sizeof(First));
  std::uint32_t sums[std::size_t(numbers / of_lane)];
  First first[std::size_t(numbers)];
  Second second[std::size_t(numbers)];
  std::memcpy(sums, &sum, sizeof sum), std::memcpy(first, &a, sizeof a), std::memcpy(second, &b, sizeof b);
  for (int i = 0; i < numbers; ++i) sums[i / of_lane] += std::uint32_t(first[i] * second[i]);
  std::memcpy(&sum, sums, sizeof sum);
}

template <class Operations>
struct EmulatedProducts : Operations {
  using Vector = typename Operations::Vector;
  static void add_pairs(Vector& sum, Vector a, Vector b) { add_products<std::int16_t, std::int16_t>(sum, a, b); }
  static void add_pairs_of_two(Vector (&sums)[2], Vector low, Vector high, std::int32_t pair) {
    add_pairs(sums[0], low, Operations::all(pair));
    add_pairs(sums[1], high, Operations::all(pair));
  }
  static void add_quads(Vector& sum, Vector bytes, Vector signed_bytes) {
    add_products<std::uint8_t, std::int8_t>(sum, bytes, signed_bytes);
  }
  static void add_quads_of_tile(Vector& sum, Vector bytes, Vector signed_bytes) { add_quads(sum, bytes, signed_bytes); }
};

template <class Operations>
struct EmulatedQuads : IntegerQuads<EmulatedProducts<Operations>> {};

#ifdef ATTEND_AVX512
inline __m512i _mm512_dpbusd_epi32(__m512i sum, __m512i bytes, __m512i signed_bytes) {
  add_products<std::uint8_t, std::int8_t>(sum, bytes, signed_bytes);
  return sum;
}
#endif

}  // namespace
}  // namespace attend::ATTEND_ISA

// The operations of an instruction set are included next, and then these are undefined.
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define IntegerQuads EmulatedQuads
#define __asm__(...) static_cast<void>(0)
