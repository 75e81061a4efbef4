// A tile of rows with Helium, in assembly: compilers take more registers for addresses than there are, and load factors one by
// one. Registers are named in the code; r7 is left to frame pointers.

struct HeliumTile {
  static constexpr int tile_rows = 4;

 protected:
  struct Tile {
    const float* a[tile_rows];
    float* to[tile_rows];  // the assembly is given the address of this
    int fours, kind;       // rounds of the loop of this kind, 4 steps each
    int adds;
    ptrdiff_t next;  // from where that loop leaves b to the next 4 columns, in bytes
    int ones;        // steps left over
    ptrdiff_t stride;
  };
  static constexpr int panel = 0, together = 1, apart = 2;
  static constexpr size_t offset(size_t member) { return member - offsetof(Tile, to); }

  // 4 rows and 4 columns at a time: the sums in q0-q3, and 4 steps of the columns in q4-q7, so that one instruction loads a
  // row's factors for all four. Where steps lie side by side, q7 is for addresses, and two steps go together.
  // Loads and multiply-adds alternate as far as they can: a vector instruction takes two cycles, and the second of one overlaps
  // with the first of another, unless both are of the same kind.
  //   r0-r3 rows of a   r4 r5 r6 r8 factors   r9 b   r10 columns left   r11 b_step in bytes   r12 the tile
  ATTEND_HOT ATTEND_NOINLINE static void tile(const Chains& c) {
    Tile t;
    ATTEND_UNROLL
    for (int r = 0; r < tile_rows; ++r) {
      t.a[r] = c.a + r * c.a_stride;
      t.to[r] = c.to[r] + c.column;
    }
    t.adds = c.adds;
    t.stride = 4 * c.b_stride;
    t.fours = int(unsigned(c.steps) / 4);
    t.ones = c.steps & 3;
    t.kind = c.b_stride != 1 ? apart : c.b_step == panel_keys ? panel : together;
    t.next = t.kind == apart ? 4 * t.stride : 16 * (1 - t.fours * c.b_step);
    const int count = c.columns;
    int rest = t.kind == apart ? 0 : count & 3;
    register const float* b __asm__("r9") = c.b;
    register int left __asm__("r10") = count - rest;
    register ptrdiff_t step __asm__("r11") = 4 * c.b_step;
    register float** to __asm__("r12") = t.to;
    for (;;) {
      if (left == 0) {  // columns that do not fill a vector, without reading what lies past them
        t.fours = 0;
        t.ones = c.steps;
        left = rest;
        rest = 0;
      }
      __asm__ volatile(
          ".macro other_rows\n"
          ".irp row, 1, 2, 3\n"
          "ldm r\\row!, {r4, r5, r6, r8}\n"
          "vfma.f32 q\\row, q4, r4\n"
          "vfma.f32 q\\row, q5, r5\n"
          "vfma.f32 q\\row, q6, r6\n"
          "vfma.f32 q\\row, q7, r8\n"
          ".endr\n"
          ".endm\n"
          "1:\n"
          "ldmdb r12, {r0, r1, r2, r3}\n"
          "ldrd r4, r5, [r12, %[fours]]\n"
          ".irpc v, 0123\n"
          "vmov.i32 q\\v, #0\n"
          ".endr\n"
          "cbnz r5, 3f\n"
          "wls lr, r4, 5f\n"
          "2:\n"
          "ldm r0!, {r4, r5, r6, r8}\n"
          "vldrw.u32 q4, [r9], #64\n"
          "vfma.f32 q0, q4, r4\n"
          "vldrw.u32 q5, [r9], #64\n"
          "vfma.f32 q0, q5, r5\n"
          "vldrw.u32 q6, [r9], #64\n"
          "vfma.f32 q0, q6, r6\n"
          "vldrw.u32 q7, [r9], #64\n"
          "vfma.f32 q0, q7, r8\n"
          "other_rows\n"
          "le lr, 2b\n"
          "b 5f\n"
          "3:\n"
          "cmp r5, %[apart]\n"
          "beq 6f\n"
          "wls lr, r4, 5f\n"
          "4:\n"
          "ldm r0!, {r4, r5, r6, r8}\n"
          "vldrw.u32 q4, [r9]\n"
          "add r9, r9, r11\n"
          "vfma.f32 q0, q4, r4\n"
          "vldrw.u32 q5, [r9]\n"
          "add r9, r9, r11\n"
          "vfma.f32 q0, q5, r5\n"
          "vldrw.u32 q6, [r9]\n"
          "add r9, r9, r11\n"
          "vfma.f32 q0, q6, r6\n"
          "vldrw.u32 q7, [r9]\n"
          "add r9, r9, r11\n"
          "vfma.f32 q0, q7, r8\n"
          "other_rows\n"
          "le lr, 4b\n"
          "5:\n"
          "ldr r6, [r12, %[ones]]\n"
          "cmp r6, #0\n"
          "beq 10f\n"
          "movs r4, #0\n"
          "6:\n"
          // q7: one step before the next one of each column. Columns that do not exist are the last one that does.
          "movs r6, #0\n"
          "vidup.u32 q7, r6, #1\n"
          "subs r6, r10, #1\n"
          "vdup.32 q6, r6\n"
          "ldr r6, [r12, %[stride]]\n"
          "vmin.u32 q7, q7, q6\n"
          "vmul.i32 q7, q7, r6\n"
          "sub r6, r9, r11\n"
          "vadd.i32 q7, q7, r6\n"
          "wls lr, r4, 8f\n"
          "7:\n"
          ".rept 2\n"
          "vldrw.u32 q4, [q7, #4]\n"
          "ldrd r4, r5, [r0], #8\n"
          "vfma.f32 q0, q4, r4\n"
          "vldrw.u32 q5, [q7, #8]!\n"
          "vfma.f32 q0, q5, r5\n"
          ".irp row, 1, 2, 3\n"
          "ldrd r4, r5, [r\\row], #8\n"
          "vfma.f32 q\\row, q4, r4\n"
          "vfma.f32 q\\row, q5, r5\n"
          ".endr\n"
          ".endr\n"
          "le lr, 7b\n"
          "8:\n"
          "ldr r4, [r12, %[ones]]\n"
          "wls lr, r4, 10f\n"
          "9:\n"
          "vadd.i32 q7, q7, r11\n"
          "vldrw.u32 q4, [q7]\n"
          ".irp row, 0, 1, 2, 3\n"
          "ldr r4, [r\\row], #4\n"
          "vfma.f32 q\\row, q4, r4\n"
          ".endr\n"
          "le lr, 9b\n"
          "10:\n"
          "ldm r12, {r0, r1, r2, r3}\n"
          "ldrd r4, r5, [r12, %[adds]]\n"
          "vctp.32 r10\n"
          "cbz r4, 11f\n"
          "vpstttt\n"
          "vldrwt.u32 q4, [r0]\n"
          "vldrwt.u32 q5, [r1]\n"
          "vldrwt.u32 q6, [r2]\n"
          "vldrwt.u32 q7, [r3]\n"
          "vadd.f32 q0, q0, q4; vadd.f32 q1, q1, q5; vadd.f32 q2, q2, q6; vadd.f32 q3, q3, q7\n"
          "11:\n"
          "vpstttt\n"
          ".irpc v, 0123\n"
          "vstrwt.32 q\\v, [r\\v], #16\n"
          ".endr\n"
          "stm r12, {r0, r1, r2, r3}\n"
          "add r9, r9, r5\n"
          "subs r10, r10, #4\n"
          "bgt 1b\n"
          ".purgem other_rows\n"
          : "+r"(b), "+r"(left)
          : "r"(step), "r"(to), [fours] "i"(offset(offsetof(Tile, fours))), [adds] "i"(offset(offsetof(Tile, adds))),
            [ones] "i"(offset(offsetof(Tile, ones))), [stride] "i"(offset(offsetof(Tile, stride))), [apart] "i"(apart)
          : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc",
            "memory");
      if (rest == 0) break;
    }
  }
};
