// Chains of one row and widening with Helium, for numbers of all formats. Registers are named in the code; r7 is left to frame
// pointers. A load widens numbers of two bytes or one as integers, and one instruction makes them floats: the assembler chooses
// both by the format, so that there is one text for all. GNU as up to 2.40 writes other registers into "vcvtb.f32.f16 q0, q0"
// than it says, so this instruction is a number here.

// A macro of the assembler: a register of numbers, loaded as integers, becomes floats.
#define ATTEND_HELIUM_TO_FLOATS         \
  ".macro to_floats v\n"                \
  ".if %c[half]\n"                      \
  ".inst.w 0xfe3f0e01 + 0x2002 * \\v\n" \
  ".elseif %c[bfloat]\n"                \
  "vshl.i32 q\\v, q\\v, #16\n"          \
  ".elseif %c[byte]\n"                  \
  "vcvt.f32.s32 q\\v, q\\v\n"           \
  ".endif\n"                            \
  ".endm\n"

struct HeliumRow {
 protected:
  enum Format { single, half, bfloat, byte };

  // 16 numbers a round, then 4.
  template <Format format>
  ATTEND_ALWAYS_INLINE static void widen_as(const void* from, int count, float* to) {
    __asm__ volatile(
        ".macro load v\n"
        ".if %c[single]\n"
        "vldrw.u32 q\\v, [%[from]], #16\n"
        ".elseif %c[byte]\n"
        "vldrb.s32 q\\v, [%[from]], #4\n"
        ".else\n"
        "vldrh.u32 q\\v, [%[from]], #8\n"
        ".endif\n"
        ".endm\n" ATTEND_HELIUM_TO_FLOATS
        "lsr lr, %[count], #4\n"
        "and %[count], %[count], #15\n"
        "wls lr, lr, 2f\n"
        "1:\n"
        ".irpc v, 0123\n"
        "load \\v\n"
        ".endr\n"
        ".irpc v, 0123\n"
        "to_floats \\v\n"
        "vstrw.32 q\\v, [%[to]], #16\n"
        ".endr\n"
        "le lr, 1b\n"
        "2:\n"
        "wlstp.32 lr, %[count], 4f\n"
        "3:\n"
        "load 0\n"
        "to_floats 0\n"
        "vstrw.32 q0, [%[to]], #16\n"
        "letp lr, 3b\n"
        "4:\n"
        ".purgem load\n"
        ".purgem to_floats\n"
        : [from] "+r"(from), [count] "+r"(count), [to] "+r"(to)
        : [single] "i"(int(format == single)), [half] "i"(int(format == half)), [bfloat] "i"(int(format == bfloat)),
          [byte] "i"(int(format == byte))
        : "lr", "q0", "q1", "q2", "q3", "cc", "memory");
  }

  // Row r of a: 16 columns with their sums in q0-q3, or others, 4 at a time. Sums begin at zero, or go on from sums of 16
  // columns in memory. Loads, conversions and multiply-adds alternate as in a tile; a conversion to float runs where
  // multiply-adds do, so four of each take turns.
  //   r0-r3 factors   r4 a   r5 b   r6 b_step in bytes   r8 a_scale   r9 steps   r10 to   r11 adds   r12 columns left
  template <Format format, bool continues, class Number>
  ATTEND_ALWAYS_INLINE static void row(const ChainsOf<Number>& c, int r) {
    const struct {
      ptrdiff_t stride;
      int adds;
    } numbers = {4 * c.b_stride, c.adds};  // of floats, instead of r11
    register const float* a __asm__("r4") = c.a + r * c.a_stride;
    register const Number* b __asm__("r5") = c.b;
    register ptrdiff_t step __asm__("r6") = ptrdiff_t(sizeof(Number)) * c.b_step;
    register float scale __asm__("r8") = format == single || c.rows == 1 ? c.a_scale : 1.0f;
    register int steps __asm__("r9") = c.steps;
    register float* to __asm__("r10") = c.to[r] + c.column;
    register intptr_t more __asm__("r11") = format == single && !continues ? reinterpret_cast<intptr_t>(&numbers) : c.adds;
    register int left __asm__("r12") = c.columns;
    if (format != single || continues || (left == 16 && c.b_stride == 1)) {
      __asm__ volatile(
          ATTEND_HELIUM_TO_FLOATS
          ".macro load_floats v\n"
          ".if %c[single]\n"
          "vldrw.u32 q\\v, [r5, #16 * (\\v - 4)]\n"
          ".elseif %c[byte]\n"
          "vldrb.s32 q\\v, [r5, #4 * (\\v - 4)]\n"
          ".else\n"
          "vldrh.u32 q\\v, [r5, #8 * (\\v - 4)]\n"
          ".endif\n"
          "to_floats \\v\n"
          ".endm\n"
          ".macro multiply_add_16 factor\n"
          ".if %c[half] || %c[byte]\n"
          ".irpc v, 4567\n"
          "load_floats \\v\n"
          ".endr\n"
          "add r5, r5, r6\n"
          "vfma.f32 q0, q4, \\factor\n"
          "vfma.f32 q1, q5, \\factor\n"
          "vfma.f32 q2, q6, \\factor\n"
          "vfma.f32 q3, q7, \\factor\n"
          ".else\n"
          "load_floats 4\n"
          "vfma.f32 q0, q4, \\factor\n"
          "load_floats 5\n"
          "vfma.f32 q1, q5, \\factor\n"
          "load_floats 6\n"
          "vfma.f32 q2, q6, \\factor\n"
          "load_floats 7\n"
          "vfma.f32 q3, q7, \\factor\n"
          "add r5, r5, r6\n"
          ".endif\n"
          ".endm\n"
          ".if !%c[single]\n"
          "cmp r12, #16\n"
          "bne 6f\n"
          ".endif\n"
          ".irpc v, 0123\n"
          ".if %c[continues]\n"
          "vldrw.u32 q\\v, [r10, #16 * \\v]\n"
          ".else\n"
          "vmov.i32 q\\v, #0\n"
          ".endif\n"
          ".endr\n"
          "lsr r0, r9, #2\n"
          "wls lr, r0, 2f\n"
          "1:\n"
          "vldrw.u32 q4, [r4], #16\n"
          "vmul.f32 q4, q4, r8\n"
          "vmov r0, r1, d8; vmov r2, r3, d9\n"
          ".irp factor, r0, r1, r2, r3\n"
          "multiply_add_16 \\factor\n"
          ".endr\n"
          "le lr, 1b\n"
          "2:\n"
          "and r0, r9, #3\n"
          "wls lr, r0, 4f\n"
          "3:\n"
          "ldr r0, [r4], #4\n"
          "vdup.32 q4, r0\n"
          "vmul.f32 q4, q4, r8\n"
          "vmov r0, s16\n"
          "multiply_add_16 r0\n"
          "le lr, 3b\n"
          "4:\n"
          ".if !%c[continues]\n"
          ".if %c[single]\n"
          "ldr r0, [r11, #4]\n"
          "cbz r0, 5f\n"
          ".else\n"
          "cmp r11, #0\n"
          "beq 5f\n"
          ".endif\n"
          "vldrw.u32 q4, [r10, #0]; vldrw.u32 q5, [r10, #16]\n"
          "vldrw.u32 q6, [r10, #32]; vldrw.u32 q7, [r10, #48]\n"
          "vadd.f32 q0, q0, q4; vadd.f32 q1, q1, q5; vadd.f32 q2, q2, q6; vadd.f32 q3, q3, q7\n"
          ".endif\n"
          "5:\n"
          ".irpc v, 0123\n"
          "vstrw.32 q\\v, [r10, #16 * \\v]\n"
          ".endr\n"
          ".if !%c[single]\n"
          ".macro multiply_add_4 factor\n"
          "vpst\n"
          ".if %c[byte]\n"
          "vldrbt.s32 q4, [r5]\n"
          ".else\n"
          "vldrht.u32 q4, [r5]\n"
          ".endif\n"
          "to_floats 4\n"
          "add r5, r5, r6\n"
          "vfma.f32 q0, q4, \\factor\n"
          ".endm\n"
          "b 12f\n"
          "6:\n"
          "vctp.32 r12\n"
          "vmov.i32 q0, #0\n"
          "lsr r0, r9, #2\n"
          "wls lr, r0, 8f\n"
          "7:\n"
          "vldrw.u32 q4, [r4], #16\n"
          "vmul.f32 q4, q4, r8\n"
          "vmov r0, r1, d8; vmov r2, r3, d9\n"
          ".irp factor, r0, r1, r2, r3\n"
          "multiply_add_4 \\factor\n"
          ".endr\n"
          "le lr, 7b\n"
          "8:\n"
          "and r0, r9, #3\n"
          "wls lr, r0, 10f\n"
          "9:\n"
          "ldr r0, [r4], #4\n"
          "vdup.32 q5, r0\n"
          "vmul.f32 q5, q5, r8\n"
          "multiply_add_4 q5\n"
          "le lr, 9b\n"
          "10:\n"
          "cmp r11, #0\n"
          "beq 11f\n"
          "vpst\n"
          "vldrwt.u32 q4, [r10]\n"
          "vadd.f32 q0, q0, q4\n"
          "11:\n"
          "vpst\n"
          "vstrwt.32 q0, [r10], #16\n"
          "sub r4, r4, r9, lsl #2\n"
          "mls r5, r6, r9, r5\n"
          "add r5, r5, #4 * %c[bytes]\n"
          "subs r12, r12, #4\n"
          "bgt 6b\n"
          "12:\n"
          ".purgem multiply_add_4\n"
          ".endif\n"
          ".purgem multiply_add_16\n"
          ".purgem load_floats\n"
          ".purgem to_floats\n"
          : "+r"(a), "+r"(b), "+r"(to), "+r"(left)
          : "r"(step), "r"(scale), "r"(steps),
            "r"(more), [continues] "i"(int(continues)), [bytes] "i"(int(sizeof(Number))), [single] "i"(int(format == single)),
            [half] "i"(int(format == half)), [bfloat] "i"(int(format == bfloat)), [byte] "i"(int(format == byte))
          : "r0", "r1", "r2", "r3", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
      return;
    }
    __asm__ volatile(
        // q7: as in a tile
        "1:\n"
        "movs r0, #0\n"
        "vmov.i32 q0, #0\n"
        "vidup.u32 q7, r0, #1\n"
        "subs r0, r12, #1\n"
        "vdup.32 q6, r0\n"
        "ldr r0, [r11]\n"
        "vmin.u32 q7, q7, q6\n"
        "vmul.i32 q7, q7, r0\n"
        "sub r2, r5, r6\n"
        "add r5, r5, r0, lsl #2\n"
        "vadd.i32 q7, q7, r2\n"
        "lsr r0, r9, #2\n"
        "wls lr, r0, 3f\n"
        "2:\n"
        "vldrw.u32 q4, [r4], #16\n"
        "vmul.f32 q4, q4, r8\n"
        "vmov r0, r1, d8; vmov r2, r3, d9\n"
        ".irp factor, r0, r1, r2, r3\n"
        "vadd.i32 q7, q7, r6\n"
        "vldrw.u32 q4, [q7]\n"
        "vfma.f32 q0, q4, \\factor\n"
        ".endr\n"
        "le lr, 2b\n"
        "3:\n"
        "and r0, r9, #3\n"
        "wls lr, r0, 5f\n"
        "4:\n"
        "ldr r0, [r4], #4\n"
        "vdup.32 q4, r0\n"
        "vmul.f32 q4, q4, r8\n"
        "vmov r0, s16\n"
        "vadd.i32 q7, q7, r6\n"
        "vldrw.u32 q4, [q7]\n"
        "vfma.f32 q0, q4, r0\n"
        "le lr, 4b\n"
        "5:\n"
        "ldr r0, [r11, #4]\n"
        "vctp.32 r12\n"
        "cbz r0, 6f\n"
        "vpst\n"
        "vldrwt.u32 q4, [r10]\n"
        "vadd.f32 q0, q0, q4\n"
        "6:\n"
        "vpst\n"
        "vstrwt.32 q0, [r10], #16\n"
        "sub r4, r4, r9, lsl #2\n"
        "subs r12, r12, #4\n"
        "bgt 1b\n"
        : "+r"(a), "+r"(b), "+r"(to), "+r"(left)
        : "r"(step), "r"(scale), "r"(steps), "r"(more)
        : "r0", "r1", "r2", "r3", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
  }
};

#undef ATTEND_HELIUM_TO_FLOATS
