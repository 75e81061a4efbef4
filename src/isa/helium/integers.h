// The kernels of integer attention for Helium, with or without its floats: Cortex-M55 and M85. Scores are sums over 16 lanes of
// 8 bits, merging has 4 lanes of 32 bits, sums of values 8 of 16 bits. Weights lie at the beginning of a row's scores, as 16
// bits. In assembly r7 is saved, because compilers may keep the frame pointer in it.

struct IntegerHelium : IntegerHeliumSoftmax {
  static constexpr int tile_rows = 2;
  static constexpr bool packs = false;

  using Query = int8_t;

  static constexpr bool copies_queries = false;
  static const Query* prepare(const int8_t* query, int /*head_dim*/, const IntegerQueryMemory& /*memory*/) { return query; }

  // 2 keys at a time; a last single key is taken twice. The loop ends within a vector where head_dim does.
  //   r0 r2 r4 r6 sums [row][key]   r1 r3 keys   r5 r8 queries   r9 next key   r10 where scores go
  template <int rows>
  ATTEND_HOT ATTEND_NOINLINE static void scores(const Query* const* query, const int8_t* keys, ptrdiff_t stride, int count,
                                                int head_dim, Tile scores) {
    struct {
      int32_t zero;
      int32_t* last;
      int32_t zeros[2];
      const Query* first;
      int32_t another_zero;
      const Query* second;
    } const numbers = {0, scores[0] + (count - 2), {0, 0}, query[0], 0, query[rows - 1]};  // as one instruction loads them
    register const void* from __asm__("r0") = &numbers;
    register const int8_t* key __asm__("r9") = keys;
    register int32_t* to __asm__("r10") = scores[0];
    register ptrdiff_t step __asm__("r11") = stride;
    register int dimensions __asm__("r12") = head_dim;
    __asm__ volatile(
        "push {r0, r7}\n"
        "mov r7, r0\n"
        "1:\n"
        "ldm r7, {r0, r1, r2, r4, r5, r6, r8}\n"
        "cmp r10, r1\n"
        "mov r1, r9\n"
        "ite ls\n"
        "addls r3, r9, r11\n"
        "movhi r3, r9\n"
        "add r9, r9, r11, lsl #1\n"
        "dlstp.8 lr, r12\n"
        "2:\n"
        "vldrb.u8 q0, [r5], #16\n"
        "vldrb.u8 q2, [r1], #16\n"
        "vmladava.s8 r0, q0, q2\n"
        "vldrb.u8 q3, [r3], #16\n"
        "vmladava.s8 r2, q0, q3\n"
        ".if %c[rows] == 2\n"
        "vldrb.u8 q1, [r8], #16\n"
        "vmladava.s8 r4, q1, q2\n"
        "vmladava.s8 r6, q1, q3\n"
        ".endif\n"
        "letp lr, 2b\n"
        ".if %c[rows] == 2\n"
        "strd r4, r6, [r10, %[row]]\n"
        ".endif\n"
        "strd r0, r2, [r10], #8\n"
        "blo 1b\n"
        "pop {r0, r7}\n"
        : "+r"(from), "+r"(key), "+r"(to)
        : "r"(step), "r"(dimensions), [rows] "i"(rows), [row] "i"(4 * integer_chunk)
        : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "lr", "q0", "q1", "q2", "q3", "cc", "memory");
  }

  static int16_t* weight(Tile tile, int row, int key) { return reinterpret_cast<int16_t*>(tile[row]) + key; }

  template <int rows>
  static void values(Tile weights, const int8_t* values, ptrdiff_t stride, int count, const IntegerSums& to) {
    const int width = to.width;
    const Merge* const merges = to.merges;
    int32_t* const sums = to.data;
    const int whole = size_t(stride) <= longest_stride ? width & -8 : 0;
    if (whole > 0) {
      const Merge &first = merges[0], &last = merges[rows - 1];
      Values call = {{{-first.total, -first.chunk}, {-last.total, -last.chunk}},
                     {sums, sums + (rows - 1) * width},
                     int(stride),
                     int(stride) * (count - 1)};
      values_of_rows<rows>(call, values, weights[0], whole, count);
    }
    for (int r = 0; r < rows; ++r) {
      for (int c = whole; c < width; ++c) {
        add_column(weight(weights, r, 0), values + c, stride, count, merges[r], sums + r * width + c);
      }
    }
  }

 private:
  // Distances of keys have 16 bits; columns of longer rows are taken one by one.
  static constexpr size_t longest_stride = 0xffff / (integer_chunk - 1);

  // In the order in which assembly reads it.
  struct Values {
    struct {
      int32_t total, chunk;
    } left[2];  // by how much sums are shifted left
    int32_t* sums[2];
    int stride;
    int last;  // distance of the last key
  };

  // 2 columns of 2 rows, all keys: values of a column are gathered, 8 keys at a time, and serve both rows. Keys after the last
  // one are the last one, with weights of 0. 8 columns go to the second half of the first row's scores, behind its weights, and
  // are added to the sums from there.
  //   q0 q1 values   q2 q3 weights   q4-q7 distances of keys   r0 r2 r4 r6 sums [row][column]   r1 r3 columns   r8 columns left
  //   r5 where sums go   r9 weights   r10 keys   r11 numbers that values_of_rows is called with, r12 numbers of merging
  template <int rows>
  ATTEND_HOT ATTEND_NOINLINE static void values_of_rows(Values& call, const int8_t* values, const int32_t* weights, int columns,
                                                        int count) {
#ifdef __OPTIMIZE_SIZE__
    constexpr int rounds = 4;  // for 8 columns
#else
    constexpr int rounds = 1;
#endif
    register const int8_t* column __asm__("r1") = values;
    register int left __asm__("r8") = columns;
    register const int32_t* key_weights __asm__("r9") = weights;
    register int keys __asm__("r10") = count;
    register Values* numbers __asm__("r11") = &call;
    __asm__ volatile(
        ".macro attend_keys offsets, at, a\n"
        "vldrb.s16 q0, [r1, \\offsets]\n"
        "vldrh.u16 q2, [r9, #\\at]\n"
        "vmladav\\a\\().s16 r0, q0, q2\n"
        "vldrb.s16 q1, [r3, \\offsets]\n"
        "vmladav\\a\\().s16 r2, q1, q2\n"
        ".if %c[rows] == 2\n"
        "vldrh.u16 q3, [r9, #\\at + %c[row]]\n"
        "vmladav\\a\\().s16 r4, q0, q3\n"
        "vmladav\\a\\().s16 r6, q1, q3\n"
        ".endif\n"
        ".endm\n"
        ".macro attend_merge at, total, chunk, to\n"
        "vldrw.u32 q0, [r9, #\\at]\n"
        "vldrw.u32 q1, [\\to]\n"
        "vrshl.s32 q0, \\chunk\n"
        "vshl.s32 q1, \\total\n"
        "vadd.i32 q0, q0, q1\n"
        "vstrw.32 q0, [\\to], #16\n"
        ".endm\n"
        "ldrd r4, r6, [r11, #24]\n"
        "mov r0, #0\n"
        "vidup.u16 q4, r0, #1\n"
        "vdup.16 q3, r6\n"
        "vmul.i16 q4, q4, r4\n"
        "lsl r4, r4, #3\n"
        "vadd.i16 q5, q4, r4\n"
        "vadd.i16 q6, q5, r4\n"
        "vadd.i16 q7, q6, r4\n"
        ".irpc i, 4567\n"
        "vmin.u16 q\\i, q\\i, q3\n"
        ".endr\n"
        "1:\n"
        "add r5, r9, #64\n"
        "add r3, r1, #1\n"
        "cmp r10, #16\n"
        ".if %c[rounds] > 1\n"
        "mov lr, #%c[rounds]\n"
        "dls lr, lr\n"
        ".endif\n"
        "2:\n"
        ".rept 4 / %c[rounds]\n"
        "attend_keys q4, 0,\n"
        "attend_keys q5, 16, a\n"
        "bls 3f\n"
        "attend_keys q6, 32, a\n"
        "attend_keys q7, 48, a\n"
        "3:\n"
        ".if %c[rows] == 2\n"
        "strd r4, r6, [r5, #32]\n"
        ".endif\n"
        "strd r0, r2, [r5], #8\n"
        "add r1, r1, #2\n"
        "add r3, r3, #2\n"
        ".endr\n"
        ".if %c[rounds] > 1\n"
        "le lr, 2b\n"
        ".endif\n"
        "ldrd r0, r2, [r11, #16]\n"
        "ldrd r4, r6, [r11]\n"
        "attend_merge 64, r4, r6, r0\n"
        "attend_merge 80, r4, r6, r0\n"
        ".if %c[rows] == 2\n"
        "ldrd r4, r6, [r11, #8]\n"
        "attend_merge 96, r4, r6, r2\n"
        "attend_merge 112, r4, r6, r2\n"
        ".endif\n"
        "strd r0, r2, [r11, #16]\n"
        "subs r8, r8, #8\n"
        "bne 1b\n"
        ".purgem attend_keys\n"
        ".purgem attend_merge\n"
        : "+r"(column), "+r"(left)
        : "r"(key_weights), "r"(keys), "r"(numbers), [rounds] "i"(rounds), [rows] "i"(rows), [row] "i"(4 * integer_chunk)
        : "r0", "r2", "r3", "r4", "r5", "r6", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
  }

  // A column of a row; weights: the row's.
  ATTEND_NOINLINE static void add_column(const int16_t* weights, const int8_t* values, ptrdiff_t stride, int count,
                                         const Merge& merge, int32_t* sum) {
    int32_t added = merge.half;
    for (int k = 0; k < count; ++k) {
      int16_t number;
      __builtin_memcpy(&number, weights + k, sizeof number);
      added += number * values[k * stride];
    }
    *sum = (*sum >> merge.total) + (added >> merge.chunk);
  }
};
