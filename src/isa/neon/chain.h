// Whole chains of six rows and four vectors, and their ends: two vectors at a time, with 12 sums, 6 registers of factors and 8
// of vectors. So four steps take 14 loads side by side and 48 multiply-adds, and no multiply-add waits for one that began
// shortly before. Processors that start and end instructions in their order let a load wait for multiply-adds that began
// earlier, once for each time that loads follow multiply-adds; with four vectors at a time there would be room for two of them
// beside 24 sums and the factors, and that would be once in 12. To be included where the instruction set is switched on.

#ifdef ATTEND_WHOLE_CHAINS
// clang-format off
// Loads by an offset that may be negative, which reaches 256 bytes: Neoverse N1 takes others for two operations.
#define ATTEND_LOAD(to, at, offset) "ldur q" to ", [%[" at "], #" offset "]\n"
#define ATTEND_ADVANCE(at, by) "add %[" at "], %[" at "], " by "\n"
// Sums of row r are v2r and v2r+1, of the last row v16 and v17, because v10 to v15 would have to be kept; factors v18 to v23.
#define ATTEND_STEP_OF(vector, d, operation, s0, s1, s2, s3, s4, s5)                                                  \
  operation " v" s0 ".4s, v" vector ".4s, v18.s[" d "]\n" operation " v" s1 ".4s, v" vector ".4s, v19.s[" d "]\n"     \
  operation " v" s2 ".4s, v" vector ".4s, v20.s[" d "]\n" operation " v" s3 ".4s, v" vector ".4s, v21.s[" d "]\n"     \
  operation " v" s4 ".4s, v" vector ".4s, v22.s[" d "]\n" operation " v" s5 ".4s, v" vector ".4s, v23.s[" d "]\n"
#define ATTEND_STEP(d, vector, other, operation)                         \
  ATTEND_STEP_OF(vector, d, operation, "0", "2", "4", "6", "8", "16")    \
  ATTEND_STEP_OF(other, d, operation, "1", "3", "5", "7", "9", "17")
#define ATTEND_FOUR_STEPS(first)                                                                                      \
  ATTEND_STEP("0", "24", "25", first) ATTEND_STEP("1", "26", "27", "fmla")                                            \
  ATTEND_STEP("2", "28", "29", "fmla") ATTEND_STEP("3", "30", "31", "fmla")
#define ATTEND_STAY(at, by)
// Factors of six rows; `then` moves a row's pointer on, or lets it stay. Where it moves soon before its next load, that would wait.
#define ATTEND_FACTORS(offset, then, by)                                                                              \
  ATTEND_LOAD("18", "row0", offset) then("row0", by) ATTEND_LOAD("19", "row1", offset) then("row1", by)               \
  ATTEND_LOAD("20", "row2", offset) then("row2", by) ATTEND_LOAD("21", "row3", offset) then("row3", by)               \
  ATTEND_LOAD("22", "row4", offset) then("row4", by) ATTEND_LOAD("23", "row5", offset) then("row5", by)
#define ATTEND_ADD(sum, before) "fadd v" sum ".4s, v" sum ".4s, v" before ".4s\n"
// The end of a chain: added to what is there, or stored, where no zero shall be negative.
#define ATTEND_ENDS(to0, to1, to2, to3, to4, to5)                                                                     \
  "cbz %w[adds], 4f\n"                                                                                                \
  ATTEND_LOAD("18", to0, "0") ATTEND_LOAD("19", to0, "16") ATTEND_LOAD("20", to1, "0") ATTEND_LOAD("21", to1, "16")   \
  ATTEND_LOAD("22", to2, "0") ATTEND_LOAD("23", to2, "16") ATTEND_LOAD("24", to3, "0") ATTEND_LOAD("25", to3, "16")   \
  ATTEND_LOAD("26", to4, "0") ATTEND_LOAD("27", to4, "16") ATTEND_LOAD("28", to5, "0") ATTEND_LOAD("29", to5, "16")   \
  ATTEND_ADD("0", "18") ATTEND_ADD("1", "19") ATTEND_ADD("2", "20") ATTEND_ADD("3", "21")                             \
  ATTEND_ADD("4", "22") ATTEND_ADD("5", "23") ATTEND_ADD("6", "24") ATTEND_ADD("7", "25")                             \
  ATTEND_ADD("8", "26") ATTEND_ADD("9", "27") ATTEND_ADD("16", "28") ATTEND_ADD("17", "29")                           \
  "b 5f\n"                                                                                                            \
  "4:\n"                                                                                                              \
  "movi v18.4s, #0\n"                                                                                                 \
  ATTEND_ADD("0", "18") ATTEND_ADD("1", "18") ATTEND_ADD("2", "18") ATTEND_ADD("3", "18")                             \
  ATTEND_ADD("4", "18") ATTEND_ADD("5", "18") ATTEND_ADD("6", "18") ATTEND_ADD("7", "18")                             \
  ATTEND_ADD("8", "18") ATTEND_ADD("9", "18") ATTEND_ADD("16", "18") ATTEND_ADD("17", "18")                           \
  "5:\n"                                                                                                              \
  "st1 {v0.4s, v1.4s}, [%[" to0 "]]\n" "st1 {v2.4s, v3.4s}, [%[" to1 "]]\n" "st1 {v4.4s, v5.4s}, [%[" to2 "]]\n"      \
  "st1 {v6.4s, v7.4s}, [%[" to3 "]]\n" "st1 {v8.4s, v9.4s}, [%[" to4 "]]\n" "st1 {v16.4s, v17.4s}, [%[" to5 "]]\n"
#define ATTEND_REGISTERS                                                                                              \
  "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v16", "v17",                                           \
  "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory"

// Four steps of a panel, whose first vectors lie so many bytes from where `panel` points.
#define ATTEND_PANEL_STEPS(factor, then, first, o0, o1, o2, o3, o4, o5, o6, o7, panel_then)                            \
  ATTEND_LOAD("24", "panel", o0) ATTEND_FACTORS(factor, then, "#64") ATTEND_LOAD("25", "panel", o1)                   \
  ATTEND_LOAD("26", "panel", o2) ATTEND_LOAD("27", "panel", o3) ATTEND_LOAD("28", "panel", o4)                        \
  ATTEND_LOAD("29", "panel", o5) ATTEND_LOAD("30", "panel", o6) ATTEND_LOAD("31", "panel", o7)                        \
  panel_then("panel", "#512")                                                                                         \
  ATTEND_FOUR_STEPS(first)

// to[r][k] += or = sum over d < 16 chains of query[r][d] * panel[d][k], for 8 of the panel's 16 keys: chains of 16, d ascending,
// each step rounded once, added up in ascending order.
ATTEND_ALWAYS_INLINE void score_chains_of_eight(const float* query, ptrdiff_t stride, const float* panel, int chains,
                                                float* to, ptrdiff_t to_stride, bool adds) {
  const float *row1 = query + stride, *row2 = row1 + stride, *row3 = row2 + stride, *row4 = row3 + stride, *row5 = row4 + stride;
  float *to1 = to + to_stride, *to2 = to1 + to_stride, *to3 = to2 + to_stride, *to4 = to3 + to_stride, *to5 = to4 + to_stride;
  int add = adds;
  __asm__ volatile(
      ATTEND_ADVANCE("panel", "#256")
      "1:\n"
      ATTEND_PANEL_STEPS("0", ATTEND_STAY, "fmul", "-256", "-240", "-192", "-176", "-128", "-112", "-64", "-48", ATTEND_STAY)
      ATTEND_PANEL_STEPS("16", ATTEND_STAY, "fmla", "0", "16", "64", "80", "128", "144", "192", "208", ATTEND_ADVANCE)
      ATTEND_PANEL_STEPS("32", ATTEND_STAY, "fmla", "-256", "-240", "-192", "-176", "-128", "-112", "-64", "-48", ATTEND_STAY)
      "subs %w[left], %w[left], #1\n"
      ATTEND_PANEL_STEPS("48", ATTEND_ADVANCE, "fmla", "0", "16", "64", "80", "128", "144", "192", "208", ATTEND_ADVANCE)
      ATTEND_ENDS("to0", "to1", "to2", "to3", "to4", "to5")
      "mov %w[adds], #1\n"
      "b.ne 1b\n"
      : [row0] "+&r"(query), [row1] "+&r"(row1), [row2] "+&r"(row2), [row3] "+&r"(row3), [row4] "+&r"(row4), [row5] "+&r"(row5),
        [panel] "+&r"(panel), [left] "+&r"(chains), [adds] "+&r"(add)
      : [to0] "r"(to), [to1] "r"(to1), [to2] "r"(to2), [to3] "r"(to3), [to4] "r"(to4), [to5] "r"(to5)
      : ATTEND_REGISTERS);
}

// Four steps of values of four keys, whose pointers are moved on.
#define ATTEND_VALUE_STEPS(factor, then, by, first)                                                                   \
  ATTEND_LOAD("24", "value0", "0") ATTEND_FACTORS(factor, then, by)                                                   \
  ATTEND_LOAD("25", "value0", "16") ATTEND_ADVANCE("value0", "%[by]")                                                 \
  ATTEND_LOAD("26", "value1", "0") ATTEND_LOAD("27", "value1", "16") ATTEND_ADVANCE("value1", "%[by]")                \
  ATTEND_LOAD("28", "value2", "0") ATTEND_LOAD("29", "value2", "16") ATTEND_ADVANCE("value2", "%[by]")                \
  ATTEND_LOAD("30", "value3", "0") ATTEND_LOAD("31", "value3", "16") ATTEND_ADVANCE("value3", "%[by]")                \
  ATTEND_FOUR_STEPS(first)

// to[r][c] += or = sum over k < keys of weights[r][k] * values[k][c], 8 columns, one chain, k ascending; keys: 4, 8 …
ATTEND_ALWAYS_INLINE void value_chain_of_eight(const float* weights, ptrdiff_t stride, const float* values,
                                               ptrdiff_t value_stride, int keys, float* to, ptrdiff_t to_stride, bool adds) {
  const float *row1 = weights + stride, *row2 = row1 + stride, *row3 = row2 + stride, *row4 = row3 + stride, *row5 = row4 + stride;
  const float *value1 = values + value_stride, *value2 = value1 + value_stride, *value3 = value2 + value_stride;
  int left = keys / 4 - 1;
  // Eight keys are a round, and one that is left over begins in its middle.
  __asm__ volatile(
      ATTEND_VALUE_STEPS("0", ATTEND_STAY, "", "fmul")
      "cbz %w[left], 3f\n"
      "tbnz %w[left], #0, 2f\n"
      ATTEND_ADVANCE("row0", "#16") ATTEND_ADVANCE("row1", "#16") ATTEND_ADVANCE("row2", "#16")
      ATTEND_ADVANCE("row3", "#16") ATTEND_ADVANCE("row4", "#16") ATTEND_ADVANCE("row5", "#16")
      "1:\n"
      ATTEND_VALUE_STEPS("0", ATTEND_STAY, "", "fmla")
      "2:\n"
      "subs %w[left], %w[left], #2\n"
      ATTEND_VALUE_STEPS("16", ATTEND_ADVANCE, "#32", "fmla")
      "b.gt 1b\n"
      "3:\n"
      "mov %[row0], %[to]\n"
      "add %[row1], %[to], %[to_by]\n"
      "add %[row2], %[to], %[to_by], lsl #1\n"
      "add %[row4], %[to], %[to_by], lsl #2\n"
      "add %[row3], %[row1], %[to_by], lsl #1\n"
      "add %[row5], %[row1], %[to_by], lsl #2\n"
      ATTEND_ENDS("row0", "row1", "row2", "row3", "row4", "row5")
      : [row0] "+&r"(weights), [row1] "+&r"(row1), [row2] "+&r"(row2), [row3] "+&r"(row3), [row4] "+&r"(row4),
        [row5] "+&r"(row5), [value0] "+&r"(values), [value1] "+&r"(value1), [value2] "+&r"(value2), [value3] "+&r"(value3),
        [left] "+&r"(left)
      : [by] "r"(4 * value_stride * ptrdiff_t(sizeof(float))), [to] "r"(to), [to_by] "r"(to_stride * ptrdiff_t(sizeof(float))),
        [adds] "r"(int(adds))
      : ATTEND_REGISTERS);
}
#undef ATTEND_VALUE_STEPS
#undef ATTEND_PANEL_STEPS
#undef ATTEND_REGISTERS
#undef ATTEND_ENDS
#undef ATTEND_ADD
#undef ATTEND_FACTORS
#undef ATTEND_STAY
#undef ATTEND_FOUR_STEPS
#undef ATTEND_STEP
#undef ATTEND_STEP_OF
#undef ATTEND_ADVANCE
#undef ATTEND_LOAD
// clang-format on
#endif
