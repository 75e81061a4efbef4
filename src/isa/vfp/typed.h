// Numbers of two bytes or one on Cortex-M4F, M7 and M33: chains of fused multiply-adds, and widening. Halves are loaded by
// words, two in each, and converted by an instruction a number. Bfloats are shifted in general registers; bytes are loaded
// there with their sign. Both move on two at a time.

struct VfpTyped : Scalar {
  template <class Number>
  static float widen(Number number) {
    return ATTEND_ISA::widen(number);
  }
  static float widen(Half number) {
    float wide = bits_to<float>(uint32_t(number.bits));
    __asm__("vcvtb.f32.f16 %0, %0" : "+t"(wide));
    return wide;
  }

  ATTEND_HOT ATTEND_NOINLINE static void widen(const float* from, int count, float* to) {
    for (; count >= 8; count -= 8) {
      __asm__ volatile(
          "vldmia %[from]!, {s0-s7}\n"
          "vstmia %[to]!, {s0-s7}\n"
          : [from] "+r"(from), [to] "+r"(to)
          :
          : "d0", "d1", "d2", "d3", "memory");
    }
    for (; count > 0; --count) *to++ = *from++;
  }

  // row[i] *= by[i]
  ATTEND_HOT ATTEND_NOINLINE static void multiply_rows(float* row, const float* by, int count) {
    for (; count >= 8; count -= 8) {
      __asm__ volatile(
          "vldmia %[row], {s0-s7}\n"
          "vldmia %[by]!, {s8-s15}\n"
          "vmul.f32 s0, s0, s8; vmul.f32 s1, s1, s9; vmul.f32 s2, s2, s10; vmul.f32 s3, s3, s11\n"
          "vmul.f32 s4, s4, s12; vmul.f32 s5, s5, s13; vmul.f32 s6, s6, s14; vmul.f32 s7, s7, s15\n"
          "vstmia %[row]!, {s0-s7}\n"
          : [row] "+r"(row), [by] "+r"(by)
          :
          : "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "memory");
    }
    for (; count > 0; --count, ++row) *row *= *by++;
  }

  ATTEND_HOT ATTEND_NOINLINE static void widen(const Half* from, int count, float* to) { widen_all(from, count, to); }
  ATTEND_HOT ATTEND_NOINLINE static void widen(const Bfloat* from, int count, float* to) { widen_all(from, count, to); }
  ATTEND_HOT ATTEND_NOINLINE static void widen(const int8_t* from, int count, float* to) { widen_all(from, count, to); }

  // One of the two chains of a group of 4 bits, its numbers 1 or 16 floats apart: n - 8 is the signed number of n ^ 8.
  ATTEND_HOT ATTEND_NOINLINE static void widen_chain(const Int4Numbers& from, int chain, float* to, ptrdiff_t stride) {
    if (!loads_words_anywhere && from.step == 4) return Scalar::widen_chain(from, chain, to, stride);
    const float scale = widen(scale_of(from));
    if (stride == 1) {
      widen_half_bytes<false>(from, 4 * chain, scale, to);
    } else {
      widen_half_bytes<true>(from, 4 * chain, scale, to);
    }
  }

  static constexpr int widened_columns = 16;
  static constexpr bool widens_apart = false;

  ATTEND_HOT static void chains(const ChainsOf<Half>& c) { is_word(c.b) && c.b_step % 2 == 0 ? half_rows(c) : rest(c, 0); }
  ATTEND_HOT static void chains(const ChainsOf<Bfloat>& c) { is_word(c.b) && c.b_step % 2 == 0 ? bfloat_rows(c) : rest(c, 0); }
  ATTEND_HOT static void chains(const ChainsOf<int8_t>& c) { byte_rows(c); }

 protected:
  enum Format { half, bfloat, byte };

  // Words of groups that lie in rows are aligned for halves.
#if defined(__ARM_FEATURE_UNALIGNED) && !defined(ATTEND_ALIGNED)
  static constexpr bool loads_words_anywhere = true;
#else
  static constexpr bool loads_words_anywhere = false;
#endif

  static bool is_word(const void* address) { return reinterpret_cast<uintptr_t>(address) % 4 == 0; }

  // 8 numbers a round; numbers before the first whole word and behind the last round go one by one.
  template <class Number>
  ATTEND_ALWAYS_INLINE static void widen_all(const Number* from, int count, float* to) {
    if (sizeof(Number) == 2 && !is_word(from) && count > 0) {
      *to++ = widen(*from++);
      --count;
    }
    if (count >= 8) widen_rounds(unsigned(count) / 8, from, to);
    for (count &= 7; count > 0; --count) *to++ = widen(*from++);
  }
  ATTEND_ALWAYS_INLINE static void widen_rounds(unsigned rounds, const Half*& from, float*& to) {
    __asm__ volatile(
        "1:\n"
        "vldmia %[from]!, {s8-s11}\n"
        "vcvtb.f32.f16 s0, s8; vcvtt.f32.f16 s1, s8\n"
        "vcvtb.f32.f16 s2, s9; vcvtt.f32.f16 s3, s9\n"
        "vcvtb.f32.f16 s4, s10; vcvtt.f32.f16 s5, s10\n"
        "vcvtb.f32.f16 s6, s11; vcvtt.f32.f16 s7, s11\n"
        "subs %[rounds], %[rounds], #1\n"
        "vstmia %[to]!, {s0-s7}\n"
        "bne 1b\n"
        : [from] "+r"(from), [to] "+r"(to), [rounds] "+r"(rounds)
        :
        : "d0", "d1", "d2", "d3", "d4", "d5", "cc", "memory");
  }
  ATTEND_ALWAYS_INLINE static void widen_rounds(unsigned count, const Bfloat*& from, float*& to) {
    // Registers by name, because without optimisation compilers do not find enough.
    register const Bfloat* words __asm__("r10") = from;
    register float* floats __asm__("r11") = to;
    register unsigned rounds __asm__("r12") = count;
    __asm__ volatile(
        "1:\n"
        "ldmia %[words]!, {r1, r3, r5, r8}\n"
        "lsl r0, r1, #16; bfc r1, #0, #16\n"
        "lsl r2, r3, #16; bfc r3, #0, #16\n"
        "lsl r4, r5, #16; bfc r5, #0, #16\n"
        "lsl r6, r8, #16; bfc r8, #0, #16\n"
        "subs %[rounds], %[rounds], #1\n"
        "stmia %[floats]!, {r0, r1, r2, r3, r4, r5, r6, r8}\n"
        "bne 1b\n"
        : [words] "+r"(words), [floats] "+r"(floats), [rounds] "+r"(rounds)
        :
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "cc", "memory");
    from = words;
    to = floats;
  }
  ATTEND_ALWAYS_INLINE static void widen_rounds(unsigned rounds, const int8_t*& from, float*& to) {
    __asm__ volatile(
        "1:\n"
        "ldrsb r0, [%[from]], #8\n"
        "ldrsb r1, [%[from], #-7]\n"
        "ldrsb r2, [%[from], #-6]\n"
        "ldrsb r3, [%[from], #-5]\n"
        "vmov s0, s1, r0, r1; vmov s2, s3, r2, r3\n"
        ".irpc i, 0123\n"
        "ldrsb r\\i, [%[from], #\\i - 4]\n"
        ".endr\n"
        "vmov s4, s5, r0, r1; vmov s6, s7, r2, r3\n"
        ".irpc i, 01234567\n"
        "vcvt.f32.s32 s\\i, s\\i\n"
        ".endr\n"
        "subs %[rounds], %[rounds], #1\n"
        "vstmia %[to]!, {s0-s7}\n"
        "bne 1b\n"
        : [from] "+r"(from), [to] "+r"(to), [rounds] "+r"(rounds)
        :
        : "r0", "r1", "r2", "r3", "d0", "d1", "d2", "d3", "cc", "memory");
  }

  // Four bytes a round.
  template <bool apart>
  ATTEND_ALWAYS_INLINE static void widen_half_bytes(const Int4Numbers& from, int shift, float scale, float* to) {
    // Registers by name: without optimisation compilers do not find enough, and two that hold the same number would be one.
    register ptrdiff_t step __asm__("r6") = from.step;
    register int places __asm__("r8") = shift;
    register const uint8_t* bytes __asm__("r10") = from.bytes;
    register float* floats __asm__("r11") = to;
    register int words __asm__("r12") = 4;
    __asm__ volatile(
        "1:\n"
        "ldr r0, [%[bytes]]\n"
        "add %[bytes], %[bytes], %[step]\n"
        "eor r0, r0, #0x88888888\n"
        "lsr r0, r0, %[places]\n"
        "sbfx r1, r0, #0, #4; sbfx r2, r0, #8, #4\n"
        "vmov s0, s1, r1, r2\n"
        "sbfx r1, r0, #16, #4; sbfx r2, r0, #24, #4\n"
        "vmov s2, s3, r1, r2\n"
        ".irpc i, 0123\n"
        "vcvt.f32.s32 s\\i, s\\i\n"
        ".endr\n"
        ".irpc i, 0123\n"
        "vmul.f32 s\\i, s\\i, %[scale]\n"
        ".endr\n"
        "subs %[words], %[words], #1\n"
        ".if %c[apart]\n"
        ".irpc i, 0123\n"
        "vstr s\\i, [%[floats], #64 * \\i]\n"
        ".endr\n"
        "add %[floats], %[floats], #256\n"
        ".else\n"
        "vstmia %[floats]!, {s0-s3}\n"
        ".endif\n"
        "bne 1b\n"
        : [bytes] "+r"(bytes), [floats] "+r"(floats), [words] "+r"(words)
        : [step] "r"(step), [places] "r"(places), [scale] "t"(scale), [apart] "i"(int(apart))
        : "r0", "r1", "r2", "d0", "d1", "cc", "memory");
  }

  // Not templates, because GCC ignores sections of these.
  ATTEND_HOT ATTEND_NOINLINE static void half_rows(const ChainsOf<Half>& c) { rows<half>(c); }
  ATTEND_HOT ATTEND_NOINLINE static void bfloat_rows(const ChainsOf<Bfloat>& c) { rows<bfloat>(c); }
  ATTEND_HOT ATTEND_NOINLINE static void byte_rows(const ChainsOf<int8_t>& c) { rows<byte>(c); }

  template <Format format, class Number>
  ATTEND_ALWAYS_INLINE static void rows(const ChainsOf<Number>& c) {
    if (c.columns >= 8) {
      for (int r = 0; r < c.rows; ++r) row<format>(c, r);
    }
    if (c.columns % 8 != 0) rest(c, c.columns & -8);
  }

  // The columns from `first` on, one by one.
  template <class Number>
  ATTEND_ALWAYS_INLINE static void singly(const ChainsOf<Number>& c, int first) {
    const float scale = c.rows == 1 ? c.a_scale : 1.0f;
    for (int r = 0; r < c.rows; ++r) {
      for (int column = first; column < c.columns; ++column) {
        const float* a = c.a + r * c.a_stride;
        const Number* b = c.b + (sizeof(Number) == sizeof(float) ? column * c.b_stride : column);
        float sum = 0.0f;
        for (int left = c.steps; left != 0; --left, b += c.b_step) sum = fma(mul(*a++, scale), widen(*b), sum);
        float& to = c.to[r][c.column + column];
        to = c.adds ? add(to, sum) : sum;
      }
    }
  }

  template <class Number>
  ATTEND_NOINLINE static void rest(const ChainsOf<Number>& c, int first) {
    singly(c, first);
  }

  // 1 row x 16 columns, or 8: sums in s0-s7 and s10-s17, 8 numbers of b in s20-s27, a factor in s8. The assembler chooses by
  // the format how numbers become floats.
  template <Format format, class Number>
  ATTEND_ALWAYS_INLINE static void row(const ChainsOf<Number>& c, int r) {
    // Registers by name, because without optimisation compilers do not find enough.
    register float scale __asm__("s9") = c.rows == 1 ? c.a_scale : 1.0f;
    register int has_sixteen __asm__("r4") = c.columns == 16;
    register const float* a __asm__("r5") = c.a + r * c.a_stride;
    register const Number* b __asm__("r6") = c.b;
    register int steps __asm__("r8") = c.steps;
    register ptrdiff_t b_step __asm__("r10") = ptrdiff_t(sizeof(Number)) * c.b_step - (format == byte ? 0 : 16);
    register float* to __asm__("r11") = c.to[r] + c.column;
    register int adds __asm__("r12") = c.adds;
    __asm__ volatile(
        "movs r0, #0\n"
        ".irpc i, 01235678\n"
        "vmov d\\i, r0, r0\n"
        ".endr\n"
        "1:\n"
        "vldmia r5!, {s8}\n"
        "vmul.f32 s8, s8, s9\n"
        ".irp half, 0, 1\n"
        ".if %c[byte]\n"
        ".irpc i, 0123\n"
        "ldrsb r\\i, [r6, #8 * \\half + \\i]\n"
        ".endr\n"
        "vmov d10, r0, r1; vmov d11, r2, r3\n"
        ".irpc i, 0123\n"
        "ldrsb r\\i, [r6, #8 * \\half + 4 + \\i]\n"
        ".endr\n"
        "vmov d12, r0, r1; vmov d13, r2, r3\n"
        ".irpc i, 01234567\n"
        "vcvt.f32.s32 s2\\i, s2\\i\n"
        ".endr\n"
        ".elseif %c[bfloat]\n"
        ".if \\half\n"
        "ldm r6, {r0, r1, r2, r3}\n"
        ".else\n"
        "ldm r6!, {r0, r1, r2, r3}\n"
        ".endif\n"
        ".irpc i, 0123\n"
        "lsl lr, r\\i, #16\n"
        "bfc r\\i, #0, #16\n"
        "vmov d1\\i, lr, r\\i\n"
        ".endr\n"
        ".else\n"
        ".if \\half\n"
        "vldmia r6, {s24-s27}\n"
        ".else\n"
        "vldmia r6!, {s24-s27}\n"
        ".endif\n"
        "vcvtb.f32.f16 s20, s24; vcvtt.f32.f16 s21, s24\n"
        "vcvtb.f32.f16 s22, s25; vcvtt.f32.f16 s23, s25\n"
        "vcvtb.f32.f16 s24, s26; vcvtt.f32.f16 s25, s26\n"
        "vcvtb.f32.f16 s26, s27; vcvtt.f32.f16 s27, s27\n"
        ".endif\n"
        ".if \\half\n"
        ".irpc i, 01234567\n"
        "vfma.f32 s1\\i, s8, s2\\i\n"
        ".endr\n"
        ".else\n"
        ".irpc i, 01234567\n"
        "vfma.f32 s\\i, s8, s2\\i\n"
        ".endr\n"
        "cbz r4, 2f\n"
        ".endif\n"
        ".endr\n"
        "2:\n"
        "add r6, r6, r10\n"
        "subs r8, r8, #1\n"
        "bne 1b\n"
        "cmp r12, #0\n"
        "beq 3f\n"
        "vldmia r11, {s20-s27}\n"
        ".irpc i, 01234567\n"
        "vadd.f32 s\\i, s\\i, s2\\i\n"
        ".endr\n"
        "cbz r4, 3f\n"
        "add r0, r11, #32\n"
        "vldmia r0, {s20-s27}\n"
        ".irpc i, 01234567\n"
        "vadd.f32 s1\\i, s1\\i, s2\\i\n"
        ".endr\n"
        "3:\n"
        "vstmia r11!, {s0-s7}\n"
        "cbz r4, 4f\n"
        "vstmia r11!, {s10-s17}\n"
        "4:\n"
        : "+r"(a), "+r"(b), "+r"(steps), "+r"(to)
        : "r"(has_sixteen), "r"(b_step), "r"(adds),
          "t"(scale), [bfloat] "i"(int(format == bfloat)), [byte] "i"(int(format == byte))
        : "r0", "r1", "r2", "r3", "lr", "d0", "d1", "d2", "d3", "s8", "d5", "d6", "d7", "d8", "s18", "d10", "d11", "d12", "d13",
          "cc", "memory");
  }
};
