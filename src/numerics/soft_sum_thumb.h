// The sum of a multiply-add in software, in Thumb's first instructions (Cortex-M0, M0+, M1, M23): compilers have too few
// registers for it, and move numbers about for a quarter of the time.

// ARM's own instructions of these architectures, and Thumb's before the sixth, have what C++ says.
#if ATTEND_ASSEMBLY && defined(__thumb__) && !defined(__thumb2__) && __ARM_ARCH >= 6
#define ATTEND_SOFT_SUM_THUMB 1
#else
#define ATTEND_SOFT_SUM_THUMB 0
#endif

// A number of 64 bits. Its halves are kept apart, because pairs of registers are what the smallest processors have too few of,
// and shifts of 64 bits by a number that is not known are calls there.
struct Words {
  uint32_t high, low;
};

#if ATTEND_SOFT_SUM_THUMB
// What soft_fma takes from its C++ on other processors: a * b + c exactly, but for a trace of what is cut off, as 63 bits whose
// highest is the last but one. `exponent` is the product's and then the sum's, `sign` is in the highest bit. A sum that is zero
// has the exponent 0. There is no product of more than 32 bits: the upper word is the sum of three that fit, without a carry.
//
// Seven registers, as r7 may be the frame's; beside them, lr has the signs and ip the exponent meanwhile. A shift by more than
// 31 bits leaves nothing, unlike in C++.
ATTEND_ALWAYS_INLINE Words thumb_sum(uint32_t a, uint32_t b, uint32_t c, int c_exponent, int& exponent, uint32_t& sign) {
  uint32_t high = a ^ b, other = high ^ c;
  __asm__(
      ".syntax unified\n\t"
      // lr: whether the product is negative, and in the lowest bit whether c has another sign
      "lsrs %[high], %[high], #31\n\t"
      "lsls %[other], %[other], #1\n\t"
      "adcs %[high], %[high]\n\t"
      "mov lr, %[high]\n\t"
      "mov ip, %[exponent]\n\t"
      // the digits of c, the first one in bit 30
      "lsls %[c], %[c], #8\n\t"
      "lsrs %[c], %[c], #1\n\t"
      "movs %[high], #1\n\t"
      "lsls %[high], %[high], #31\n\t"
      "cmp %[less], #0\n\t"
      "beq 1f\n\t"
      "lsrs %[other], %[high], #1\n\t"
      "orrs %[c], %[other]\n"
      // the 24 digits of a and b
      "2:\tlsls %[low], %[low], #8\n\t"
      "orrs %[low], %[high]\n\t"
      "lsrs %[low], %[low], #8\n\t"
      "lsls %[b], %[b], #8\n\t"
      "orrs %[b], %[high]\n\t"
      "lsrs %[b], %[b], #8\n\t"
      // high: of the product's 48 digits all but the last 17, which are the highest of low
      "lsrs %[high], %[low], #8\n\t"
      "lsrs %[other], %[b], #8\n\t"
      "uxtb %[exponent], %[b]\n\t"
      "muls %[exponent], %[high], %[exponent]\n\t"
      "muls %[high], %[other], %[high]\n\t"
      "uxtb %[other], %[low]\n\t"
      "muls %[other], %[b], %[other]\n\t"
      "lsrs %[other], %[other], #8\n\t"
      "adds %[exponent], %[exponent], %[other]\n\t"
      "lsrs %[exponent], %[exponent], #8\n\t"
      "adds %[high], %[high], %[exponent]\n\t"
      "lsrs %[high], %[high], #1\n\t"
      "muls %[low], %[b], %[low]\n\t"
      "lsls %[low], %[low], #15\n\t"
      // c and b become c's two words where that has the smaller exponent
      "mov %[exponent], ip\n\t"
      "subs %[other], %[exponent], %[less]\n\t"
      "bmi 5f\n\t"
      "cmp %[other], #31\n\t"
      "bgt 6f\n\t"
      "movs %[b], %[c]\n\t"
      "lsrs %[c], %[other]\n\t"
      "movs %[less], #32\n\t"
      "subs %[less], %[less], %[other]\n\t"
      "lsls %[b], %[less]\n"
      "4:\tmov %[other], lr\n\t"
      "lsrs %[other], %[other], #1\n\t"
      "bcs 8f\n\t"
      "adds %[low], %[low], %[b]\n\t"
      "adcs %[high], %[c]\n\t"
      "bpl 10f\n\t"
      "lsrs %[high], %[high], #1\n\t"
      "bcc 9f\n\t"
      "movs %[low], #1\n"  // only whether the lower word is 0 counts from here on
      "9:\tadds %[exponent], #1\n\t"
      "b 14f\n"
      // c is zero or subnormal: its highest digit is not implied
      "1:\tadds %[less], #1\n\t"
      "b 2b\n"
      // c is larger: the product moves down
      "5:\tmov %[exponent], %[less]\n\t"
      "rsbs %[other], %[other], #0\n\t"
      "cmp %[other], #31\n\t"
      "bgt 7f\n"
      "3:\tmovs %[less], #32\n\t"
      "subs %[less], %[less], %[other]\n\t"
      "movs %[b], %[low]\n\t"
      "lsls %[b], %[less]\n\t"
      "beq 12f\n\t"
      "movs %[b], #1\n"
      "12:\tlsrs %[low], %[other]\n\t"
      "orrs %[low], %[b]\n\t"
      "movs %[b], %[high]\n\t"
      "lsls %[b], %[less]\n\t"
      "orrs %[low], %[b]\n\t"
      "lsrs %[high], %[other]\n\t"
      "movs %[b], #0\n\t"
      "b 4b\n"
      "7:\tcmp %[low], #0\n\t"
      "beq 12f\n\t"
      "movs %[b], #1\n\t"
      "orrs %[high], %[b]\n"
      "12:\tmovs %[low], %[high]\n\t"
      "movs %[high], #0\n\t"
      "subs %[other], #32\n\t"
      "cmp %[other], #31\n\t"
      "ble 3b\n\t"
      "movs %[low], #1\n\t"
      "movs %[b], #0\n\t"
      "b 4b\n"
      // c moves down by a word or more
      "6:\tsubs %[other], #32\n\t"
      "movs %[less], #32\n\t"
      "subs %[less], %[less], %[other]\n\t"
      "bmi 13f\n\t"
      "movs %[b], %[c]\n\t"
      "lsls %[b], %[less]\n\t"
      "beq 12f\n\t"
      "movs %[b], #1\n"
      "12:\tlsrs %[c], %[other]\n\t"
      "orrs %[b], %[c]\n\t"
      "movs %[c], #0\n\t"
      "b 4b\n"
      "13:\tmovs %[b], %[c]\n\t"
      "beq 4b\n\t"
      "movs %[b], #1\n\t"
      "movs %[c], #0\n\t"
      "b 4b\n"
      // a difference, which changes the sign where c is larger
      "8:\tsubs %[low], %[low], %[b]\n\t"
      "sbcs %[high], %[c]\n\t"
      "bpl 10f\n\t"
      "movs %[b], #1\n\t"
      "eors %[other], %[b]\n\t"
      "movs %[b], #0\n\t"
      "rsbs %[low], %[low], #0\n\t"
      "sbcs %[b], %[high]\n\t"
      "movs %[high], %[b]\n"
      // digits up until the highest one is the last but one of the upper word
      "10:\tlsls %[b], %[high], #1\n\t"
      "bmi 14f\n\t"
      "cmp %[high], #0\n\t"
      "bne 11f\n\t"
      "subs %[exponent], #31\n\t"
      "lsrs %[high], %[low], #1\n\t"
      "bcc 12f\n\t"
      "movs %[b], #1\n\t"
      "orrs %[high], %[b]\n"
      "12:\tmovs %[low], #0\n\t"
      "lsls %[b], %[high], #1\n\t"
      "bmi 14f\n\t"
      "bne 11f\n\t"
      "movs %[exponent], #0\n\t"  // zero
      "movs %[other], #0\n\t"
      "b 14f\n"
      "11:\tsubs %[exponent], #1\n\t"
      "adds %[low], %[low], %[low]\n\t"
      "adcs %[high], %[high]\n\t"
      "lsls %[b], %[high], #1\n\t"
      "bpl 11b\n"
      "14:\tlsls %[other], %[other], #31"
      : [low] "+l"(a), [b] "+l"(b), [c] "+l"(c), [less] "+l"(c_exponent), [exponent] "+l"(exponent), [high] "+l"(high),
        [other] "+l"(other)
      :
      : "cc", "r12", "lr");
  sign = other;
  return {high, a};
}
#endif
