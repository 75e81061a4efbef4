// Whole chains of six rows and four vectors, and their ends: 24 sums, four vectors and a factor. Compilers spill sums, copy
// them, and put stores of a chain's end side by side, which hold up the multiply-adds around them. To be included where the
// instruction set is switched on.

#ifdef ATTEND_WHOLE_CHAINS
// clang-format off
// Addresses are written in both ways, as AT&T and as Intel have them; sums of row r are zmm4r to zmm4r+3.
#define ATTEND_LOAD(to, at, at_intel) "vmovups {" at ", %%zmm" to "|zmm" to ", zmmword ptr [" at_intel "]}\n"
#define ATTEND_STORE(from, at, at_intel) "vmovups {%%zmm" from ", " at "|zmmword ptr [" at_intel "], zmm" from "}\n"
#define ATTEND_MULTIPLY_ADD(vector, sum) "vfmadd231ps {%%zmm" vector ", %%zmm28, %%zmm" sum "|zmm" sum ", zmm28, zmm" vector "}\n"
#define ATTEND_ROW(at, at_intel, s0, s1, s2, s3)                              \
  "vbroadcastss {" at ", %%zmm28|zmm28, dword ptr [" at_intel "]}\n"          \
  ATTEND_MULTIPLY_ADD("24", s0) ATTEND_MULTIPLY_ADD("25", s1) ATTEND_MULTIPLY_ADD("26", s2) ATTEND_MULTIPLY_ADD("27", s3)
// Step d of six rows, whose factors lie `by` bytes apart.
#define ATTEND_SIX_ROWS                                                                                      \
  ATTEND_ROW("4*\\d(%[row0])", "%[row0]+4*\\d", "0", "1", "2", "3")                                         \
  ATTEND_ROW("4*\\d(%[row0],%[by])", "%[row0]+%[by]+4*\\d", "4", "5", "6", "7")                             \
  ATTEND_ROW("4*\\d(%[row0],%[by],2)", "%[row0]+%[by]*2+4*\\d", "8", "9", "10", "11")                       \
  ATTEND_ROW("4*\\d(%[row3])", "%[row3]+4*\\d", "12", "13", "14", "15")                                     \
  ATTEND_ROW("4*\\d(%[row3],%[by])", "%[row3]+%[by]+4*\\d", "16", "17", "18", "19")                         \
  ATTEND_ROW("4*\\d(%[row3],%[by],2)", "%[row3]+%[by]*2+4*\\d", "20", "21", "22", "23")
#define ATTEND_ZEROS                                                                                                    \
  ".irp s, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23\n"                      \
  "vpxorq {%%zmm\\s, %%zmm\\s, %%zmm\\s|zmm\\s, zmm\\s, zmm\\s}\n"                                                      \
  ".endr\n"
// Additions and stores take turns.
#define ATTEND_ADD(sum, at, at_intel) \
  "vaddps {" at ", %%zmm" sum ", %%zmm" sum "|zmm" sum ", zmm" sum ", zmmword ptr [" at_intel "]}\n" ATTEND_STORE(sum, at, at_intel)
#define ATTEND_END_ROW(end, at, at_intel, s0, s1, s2, s3)                                                       \
  end(s0, "0" at, at_intel) end(s1, "64" at, at_intel "+64") end(s2, "128" at, at_intel "+128") end(s3, "192" at, at_intel "+192")
#define ATTEND_END_ROWS(end)                                                                       \
  ATTEND_END_ROW(end, "(%[to0])", "%[to0]", "0", "1", "2", "3")                                 \
  ATTEND_END_ROW(end, "(%[to0],%[to_by])", "%[to0]+%[to_by]", "4", "5", "6", "7")               \
  ATTEND_END_ROW(end, "(%[to0],%[to_by],2)", "%[to0]+%[to_by]*2", "8", "9", "10", "11")         \
  ATTEND_END_ROW(end, "(%[to3])", "%[to3]", "12", "13", "14", "15")                             \
  ATTEND_END_ROW(end, "(%[to3],%[to_by])", "%[to3]+%[to_by]", "16", "17", "18", "19")           \
  ATTEND_END_ROW(end, "(%[to3],%[to_by],2)", "%[to3]+%[to_by]*2", "20", "21", "22", "23")
#define ATTEND_REGISTERS                                                                                                     \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", \
  "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", \
  "memory", "cc"

// The end of a chain: added to what is there, or stored.
#define ATTEND_ENDS                       \
  "test {%[adds], %[adds]|%[adds], %[adds]}\n" \
  "jz 3f\n"                               \
  ATTEND_END_ROWS(ATTEND_ADD)             \
  "jmp 4f\n"                              \
  "3:\n"                                  \
  ATTEND_END_ROWS(ATTEND_STORE)           \
  "4:\n"
#define ATTEND_ADVANCE(at, bytes) "add {$" bytes ", %[" at "]|%[" at "], " bytes "}\n"

// to[r][k] += or = sum over d < 16 chains of query[r][d] * panels[k / 16][d][k % 16]: chains of 16, d ascending, each step rounded
// once, added up in ascending order.
ATTEND_ALWAYS_INLINE void chains_of_scores(const float* query, ptrdiff_t stride, const float* panels, ptrdiff_t panel_stride, int chains,
                                           float* to, ptrdiff_t to_stride, bool adds) {
  const float *row3 = query + 3 * stride, *panel3 = panels + 3 * panel_stride;
  int add = adds;
  __asm__ volatile(
      "2:\n"
      ATTEND_ZEROS
      ".irp d, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
      ATTEND_LOAD("24", "64*\\d(%[panel0])", "%[panel0]+64*\\d")
      ATTEND_LOAD("25", "64*\\d(%[panel0],%[panel_by])", "%[panel0]+%[panel_by]+64*\\d")
      ATTEND_LOAD("26", "64*\\d(%[panel0],%[panel_by],2)", "%[panel0]+%[panel_by]*2+64*\\d")
      ATTEND_LOAD("27", "64*\\d(%[panel3])", "%[panel3]+64*\\d")
      ATTEND_SIX_ROWS
      ".endr\n"
      ATTEND_ENDS
      "mov {$1, %[adds]|%[adds], 1}\n"
      ATTEND_ADVANCE("row0", "64") ATTEND_ADVANCE("row3", "64") ATTEND_ADVANCE("panel0", "1024") ATTEND_ADVANCE("panel3", "1024")
      "sub {$1, %[left]|%[left], 1}\n"
      "jne 2b\n"
      "vzeroupper\n"
      : [row0] "+&r"(query), [row3] "+&r"(row3), [panel0] "+&r"(panels), [panel3] "+&r"(panel3), [left] "+&r"(chains), [adds] "+&r"(add)
      : [by] "r"(stride * ptrdiff_t(sizeof(float))), [panel_by] "r"(panel_stride * ptrdiff_t(sizeof(float))), [to0] "r"(to),
        [to3] "r"(to + 3 * to_stride), [to_by] "r"(to_stride * ptrdiff_t(sizeof(float)))
      : ATTEND_REGISTERS);
}

// Step d of four, whose vectors lie side by side.
#define ATTEND_VALUE_STEP(d, at, at_intel)                                                                                  \
  ".irp d, " d "\n" ATTEND_LOAD("24", "0" at, at_intel) ATTEND_LOAD("25", "64" at, at_intel "+64")                          \
  ATTEND_LOAD("26", "128" at, at_intel "+128") ATTEND_LOAD("27", "192" at, at_intel "+192") ATTEND_SIX_ROWS ".endr\n"

// to[r][c] += or = sum over k < keys of weights[r][k] * values[k][c]: one chain, k ascending; keys: a multiple of 4, not 0.
ATTEND_ALWAYS_INLINE void chain_of_values(const float* weights, ptrdiff_t stride, const float* values, ptrdiff_t value_stride, int keys,
                                          float* to, ptrdiff_t to_stride, bool adds) {
  const float *row3 = weights + 3 * stride, *value3 = values + 3 * value_stride;
  __asm__ volatile(
      ATTEND_ZEROS
      "2:\n"
      ATTEND_VALUE_STEP("0", "(%[value0])", "%[value0]")
      ATTEND_VALUE_STEP("1", "(%[value0],%[value_by])", "%[value0]+%[value_by]")
      ATTEND_VALUE_STEP("2", "(%[value0],%[value_by],2)", "%[value0]+%[value_by]*2")
      ATTEND_VALUE_STEP("3", "(%[value3])", "%[value3]")
      "lea {(%[value0],%[value_by],4), %[value0]|%[value0], [%[value0]+%[value_by]*4]}\n"
      "lea {(%[value3],%[value_by],4), %[value3]|%[value3], [%[value3]+%[value_by]*4]}\n"
      ATTEND_ADVANCE("row0", "16") ATTEND_ADVANCE("row3", "16")
      "sub {$4, %[left]|%[left], 4}\n"
      "jne 2b\n"
      ATTEND_ENDS
      "vzeroupper\n"
      : [row0] "+&r"(weights), [row3] "+&r"(row3), [value0] "+&r"(values), [value3] "+&r"(value3), [left] "+&r"(keys)
      : [by] "r"(stride * ptrdiff_t(sizeof(float))), [value_by] "r"(value_stride * ptrdiff_t(sizeof(float))), [to0] "r"(to),
        [to3] "r"(to + 3 * to_stride), [to_by] "r"(to_stride * ptrdiff_t(sizeof(float))), [adds] "r"(int(adds))
      : ATTEND_REGISTERS);
}
#undef ATTEND_VALUE_STEP
#undef ATTEND_ADVANCE
#undef ATTEND_ENDS
#undef ATTEND_REGISTERS
#undef ATTEND_END_ROWS
#undef ATTEND_END_ROW
#undef ATTEND_ADD
#undef ATTEND_ZEROS
#undef ATTEND_SIX_ROWS
#undef ATTEND_ROW
#undef ATTEND_MULTIPLY_ADD
#undef ATTEND_STORE
#undef ATTEND_LOAD
// clang-format on
#endif
