// A whole chain of scores of six rows against a panel, where registers are just enough: compilers spill sums, or compute
// addresses anew. To be included where the instruction set is switched on.

#ifdef ATTEND_WHOLE_CHAINS
// clang-format off
// Step d of two rows, whose queries lie at `even` and `odd`, in both ways to write an address: factors, then multiply-adds.
#define ATTEND_ROWS(multiply, even, odd, even_intel, odd_intel, even_sum, odd_sum)          \
  "vbroadcastss {4*\\d(" even "), %[even]|%[even], dword ptr [" even_intel "+4*\\d]}\n"      \
  "vbroadcastss {4*\\d(" odd "), %[odd]|%[odd], dword ptr [" odd_intel "+4*\\d]}\n"          \
  multiply " {%[low], %[even], %[" even_sum "l]|%[" even_sum "l], %[even], %[low]}\n"       \
  multiply " {%[low], %[odd], %[" odd_sum "l]|%[" odd_sum "l], %[odd], %[low]}\n"           \
  multiply " {%[high], %[even], %[" even_sum "h]|%[" even_sum "h], %[even], %[high]}\n"     \
  multiply " {%[high], %[odd], %[" odd_sum "h]|%[" odd_sum "h], %[odd], %[high]}\n"
#define ATTEND_STEP(multiply)                                                                                   \
  "vmovups {64*\\d(%[panel]), %[low]|%[low], ymmword ptr [%[panel]+64*\\d]}\n"                                  \
  "vmovups {64*\\d+32(%[panel]), %[high]|%[high], ymmword ptr [%[panel]+64*\\d+32]}\n"                          \
  ATTEND_ROWS(multiply, "%[row0]", "%[row0],%[by]", "%[row0]", "%[row0]+%[by]", "s0", "s1")                     \
  ATTEND_ROWS(multiply, "%[row0],%[by],2", "%[row3]", "%[row0]+%[by]*2", "%[row3]", "s2", "s3")                 \
  ATTEND_ROWS(multiply, "%[row3],%[by]", "%[row3],%[by],2", "%[row3]+%[by]", "%[row3]+%[by]*2", "s4", "s5")

// sums[r] = sum over d < 16 of query[r][d] * panel[d], d ascending, each rounded once; its zeros may be negative. Factors of two
// rows come together: with one row's at a time the multiply-adds wait for each other around the end of a chain.
ATTEND_ALWAYS_INLINE bool Avx2::chain(const float* query, ptrdiff_t stride, const float* panel, ptrdiff_t /*panel_stride*/,
                                      int /*steps*/, Vec (&sums)[6][2]) {
  Vec low, high, even, odd;
  __asm__ volatile(
      ".irp d, 0\n" ATTEND_STEP("vmulps") ".endr\n"
      ".irp d, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n" ATTEND_STEP("vfmadd231ps") ".endr\n"
      : [s0l] "=&x"(sums[0][0]), [s0h] "=&x"(sums[0][1]), [s1l] "=&x"(sums[1][0]), [s1h] "=&x"(sums[1][1]),
        [s2l] "=&x"(sums[2][0]), [s2h] "=&x"(sums[2][1]), [s3l] "=&x"(sums[3][0]), [s3h] "=&x"(sums[3][1]),
        [s4l] "=&x"(sums[4][0]), [s4h] "=&x"(sums[4][1]), [s5l] "=&x"(sums[5][0]), [s5h] "=&x"(sums[5][1]),
        [low] "=&x"(low), [high] "=&x"(high), [even] "=&x"(even), [odd] "=&x"(odd)
      : [row0] "r"(query), [row3] "r"(query + 3 * stride), [by] "r"(stride * ptrdiff_t(sizeof(float))), [panel] "r"(panel)
      : "memory");
  return true;
}
#undef ATTEND_STEP
#undef ATTEND_ROWS
// clang-format on
#endif
