// The inner loops of integer attention in Thumb's first instructions (Cortex-M0, M0+, M1, M23), which multiply two registers
// and name eight of them in most instructions. The sums are in ip and lr, which `add` reaches; where code is made small,
// compilers use none of the others above r7, and r7 may be the frame's. No operand is marked as written early: GCC then finds
// no registers where r7 is the frame's. Those that are only read share none with the others, as their values differ.
#ifndef ATTEND_ISA_SCALAR_INTEGER_THUMB1_H
#define ATTEND_ISA_SCALAR_INTEGER_THUMB1_H

#include <stddef.h>
#include <stdint.h>

namespace attend::ATTEND_ISA {
namespace {

// sums[0] += first . key, sums[1] += second . key over the first `dims` dimensions, a multiple of 4 above 0.
inline void add_two_products(const int8_t* first, const int8_t* second, const int8_t* key, int dims, int32_t* sums) {
  int d = dims - 1, k = sums[0], x = sums[1];
#define ATTEND_STEP                                                                                   \
  "ldrsb %[k], [%[key], %[d]]\n\tldrsb %[x], [%[first], %[d]]\n\tmuls %[x], %[k]\n\tadd ip, %[x]\n\t" \
  "ldrsb %[x], [%[second], %[d]]\n\tmuls %[k], %[x]\n\tadd lr, %[k]\n\tsubs %[d], #1\n\t"
  __asm__ volatile(".syntax unified\n\tmov ip, %[k]\n\tmov lr, %[x]\n1:\t" ATTEND_STEP ATTEND_STEP ATTEND_STEP ATTEND_STEP
                   "bcs 1b\n\tmov %[k], ip\n\tmov %[x], lr"
                   : [k] "+l"(k), [x] "+l"(x), [d] "+l"(d)
                   : [key] "l"(key), [first] "l"(first), [second] "l"(second)
                   : "cc", "memory", "r12", "lr");
#undef ATTEND_STEP
  sums[0] = k;
  sums[1] = x;
}

// sums[r] += weights[2 k + r] * values[k * stride] over `keys` keys, a multiple of 4 above 0.
ATTEND_ALWAYS_INLINE void add_two_weighted(const void* weights, const int8_t* values, ptrdiff_t stride, int keys, int32_t* sums) {
  const char *at = static_cast<const char*>(weights), *const end = at + 4 * keys;
  int offset = 0, v = sums[0], w = sums[1];
#define ATTEND_STEP(first, second)                                    \
  "ldrsb %[v], [%[values], %[offset]]\n\tldrh %[w], [%[at], #" #first \
  "]\n\tmuls %[w], %[v]\n\tadd ip, %[w]\n\t"                          \
  "ldrh %[w], [%[at], #" #second "]\n\tmuls %[v], %[w]\n\tadd lr, %[v]\n\tadds %[offset], %[offset], %[stride]\n\t"
  __asm__ volatile(".syntax unified\n\tmov ip, %[v]\n\tmov lr, %[w]\n1:\t" ATTEND_STEP(0, 2) ATTEND_STEP(4, 6)
                       ATTEND_STEP(8, 10)
                           ATTEND_STEP(12, 14) "adds %[at], #16\n\tcmp %[at], %[end]\n\tbne 1b\n\tmov %[v], ip\n\tmov %[w], lr"
                   : [v] "+l"(v), [w] "+l"(w), [at] "+l"(at), [offset] "+l"(offset)
                   : [values] "l"(values), [stride] "l"(stride), [end] "l"(end)
                   : "cc", "memory", "r12", "lr");
#undef ATTEND_STEP
  sums[0] = v;
  sums[1] = w;
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
