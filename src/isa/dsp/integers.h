// The kernels of integer attention for Cortex-M4, M7 and M33: SMLAD multiplies two numbers of 16 bits by two others and adds
// both products. What takes the time is in assembly, because it needs every register; r7 is saved there, because compilers may
// keep the frame pointer in it. What is kept of a tile of rows:
//   queries  [head_dim / 4][row][4] of 16 bits, dimensions in the order 0 2 1 3, as SXTB16 widens four of a key
//   weights  [key / 2][2 rows][2] of 16 bits, at the beginning of the scores

struct IntegerDsp : IntegerDspValues {
  static constexpr int tile_rows = 2;
  static constexpr bool packs = false;

  using Query = int16_t;

  static constexpr bool copies_queries = true;
  static const Query* prepare(const int8_t* query, int head_dim, const IntegerQueryMemory& memory) {
    int16_t* const to = static_cast<int16_t*>(memory.tile) + 4 * memory.row;
    const int step = 4 * memory.rows;
    int16_t* at = to;
    for (int left = head_dim; left > 0; left -= 4, query += 4, at += step) {
      store_widened(at, left >= 4 ? load(query) : load_last(query, left));
    }
    return to;
  }

  template <int rows>
  static void scores(const Query* const* query, const int8_t* keys, ptrdiff_t stride, int count, int head_dim, Tile scores) {
    if constexpr (code_is_small) return scores_called(rows, query, keys, stride, count, head_dim, scores);
    scores_by(rows, query, {keys, stride, count}, head_dim, scores);
  }

 private:
  static void store_widened(int16_t* to, uint32_t bytes) {
    store(to, even(bytes));
    store(to + 2, odd(bytes));
  }

  // Less than 4 bytes, and zeros.
  ATTEND_ALWAYS_INLINE static uint32_t load_last(const int8_t* from, int bytes) {
    uint32_t word = 0;
    for (int i = bytes; i > 0; --i) word = word << 8 | uint8_t(from[i - 1]);
    return word;
  }

  struct Keys {
    const int8_t* data;
    ptrdiff_t stride;
    int count;
  };

  ATTEND_ALWAYS_INLINE static void clear(int32_t* scores, int count) {
    const int32_t zero = opaque(0);  // otherwise GCC calls memset
    for (int k = 0; k < count; ++k) scores[k] = zero;
  }

  ATTEND_ALWAYS_INLINE static void scores_by(int rows, const Query* const* query, const Keys& keys, int head_dim, Tile scores) {
    const int fours = head_dim >> 2, last = head_dim & 3;
    const int step = 4 * rows;
    if (fours == 0) {  // the last ones are all that there are
      for (int r = 0; r < rows; ++r) clear(scores[r], keys.count);
    } else if (!code_is_small && rows == 1) {
      scores_of_row(query[0], keys.data, keys.stride, keys.count, fours, scores[0]);
    } else {
      Scores call;
      call.to = scores[0], call.left = keys.count;
      call.keys = keys.data, call.stride = keys.stride;
      call.query = query[0], call.query_end = query[0] + fours * step;
      if (code_is_small) {
        // A single row is taken as the second of two. What the first one is does not matter: its scores are written over.
        call.missing = 2 * step;
        call.second_row = rows == 1 ? 0 : 4 * integer_chunk;
        if (rows == 1) call.query -= 4, call.query_end -= 4;
      } else {
        call.missing = -fours & 3;
      }
      scores_of_rows(call);
    }
    if (last == 0) return;
    for (int r = 0; r < rows; ++r) {
      add_last_dimensions(query[r] + fours * step, keys.data + 4 * fours, keys.stride, keys.count, last, scores[r]);
    }
  }

  // 1 row, 2 keys at a time; a last single key is taken twice.
  ATTEND_HOT ATTEND_NOINLINE static void scores_of_row(const Query* query, const int8_t* keys, ptrdiff_t stride, int count,
                                                       int fours, int32_t* scores) {
    for (int k = 0; k < count; k += 2, keys += 2 * stride) {
      const int8_t *first = keys, *second = k + 1 < count ? keys + stride : keys;
      const Query* at = query;
      int32_t first_sum = 0, second_sum = 0;
      for (int i = 0; i < fours; ++i, at += 4, first += 4, second += 4) {
        const uint32_t a = load(at), b = load(at + 2), first_key = load(first), second_key = load(second);
        first_sum = multiply_add(b, odd(first_key), multiply_add(a, even(first_key), first_sum));
        second_sum = multiply_add(b, odd(second_key), multiply_add(a, even(second_key), second_sum));
      }
      scores[k] = first_sum;
      scores[k + 1] = second_sum;
    }
  }

  ATTEND_NOINLINE static void scores_called(int rows, const Query* const* query, const int8_t* keys, ptrdiff_t stride,
                                            int count, int head_dim, Tile scores) {
    scores_by(rows, query, {keys, stride, count}, head_dim, scores);
  }

  // Adds the products of 1 to 3 dimensions that are left.
  ATTEND_NOINLINE static void add_last_dimensions(const Query* query, const int8_t* keys, ptrdiff_t stride, int count, int last,
                                                  int32_t* scores) {
    for (int k = 0; k < count; ++k, keys += stride) {
      const uint32_t key = load_last(keys, last);
      scores[k] = multiply_add(load(query + 2), odd(key), multiply_add(load(query), even(key), scores[k]));
    }
  }

  // In the order in which assembly reads it.
  struct Scores {
    int32_t* to;
    int left;  // keys
    const int8_t* keys;
    ptrdiff_t stride;
    const Query *query, *query_end;
    int missing;     // fours of dimensions to a multiple of 4; where code is small, bytes from four dimensions to the next
    int second_row;  // where code is small: bytes from a row's scores to the next row's
  };

  // 2 rows, 2 keys at a time; a last single key is taken twice. 4 dimensions take 15 instructions for 16 products.
  //   r0-r3 sums [row][key]   r4-r7 query   r8 r9 four of a key   r10 r11 addresses of keys   r12 of the query   lr its end,
  //   where code is small the step to the next four of it
  ATTEND_HOT ATTEND_NOINLINE static void scores_of_rows(const Scores& scores) {
    register const Scores* call __asm__("r0") = &scores;
    __asm__ volatile(
        "ldr r6, [r0, #20]\n"
        "push {r0, r6, r7}\n"
        "1:\n"
        "ldr r12, [sp]\n"
        "ldm r12, {r4, r5, r10, r11}\n"
        "add r4, r4, #8\n"
        "subs r5, r5, #2\n"
        "it mi\n"
        "movmi r11, #0\n"
        "add r6, r10, r11, lsl #1\n"
        "add r11, r10, r11\n"
        "stm r12, {r4, r5, r6}\n"
        ".irpc i, 0123\n"
        "movs r\\i, #0\n"
        ".endr\n"
        ".if %c[small]\n"
        "ldr lr, [r12, #24]\n"
        "ldr r12, [r12, #16]\n"
        ".else\n"
        "ldr r4, [r12, #24]\n"
        "ldrd r12, lr, [r12, #16]\n"
        ".endif\n"
        ".macro attend_fours turns:vararg\n"
        ".irp turn, \\turns\n"
        "\\turn:\n"
        ".if %c[small]\n"
        "ldm r12, {r4, r5, r6, r7}\n"
        "add r12, r12, lr\n"
        ".else\n"
        "ldm r12!, {r4, r5, r6, r7}\n"
        ".endif\n"
        "ldr r8, [r10], #4\n"
        "sxtb16 r9, r8\n"
        "sxtb16 r8, r8, ror #8\n"
        "smlad r0, r4, r9, r0\n"
        "smlad r2, r6, r9, r2\n"
        "smlad r0, r5, r8, r0\n"
        "smlad r2, r7, r8, r2\n"
        "ldr r8, [r11], #4\n"
        "sxtb16 r9, r8\n"
        "sxtb16 r8, r8, ror #8\n"
        "smlad r1, r4, r9, r1\n"
        "smlad r3, r6, r9, r3\n"
        "smlad r1, r5, r8, r1\n"
        "smlad r3, r7, r8, r3\n"
        ".endr\n"
        ".endm\n"
        ".if %c[small]\n"
        "attend_fours 10\n"
        ".else\n"
        "tbb [pc, r4]\n"
        "2:\n"
        ".byte (10f - 2b) / 2, (11f - 2b) / 2, (12f - 2b) / 2, (13f - 2b) / 2\n"
        "attend_fours 10, 11, 12, 13\n"
        ".endif\n"
        ".purgem attend_fours\n"
        ".if %c[small]\n"
        "ldr r6, [sp, #4]\n"
        "cmp r12, r6\n"
        "bne 10b\n"
        "ldr r12, [sp]\n"
        "ldrd r4, r5, [r12]\n"
        "ldr r6, [r12, #28]\n"
        "add r6, r6, r4\n"
        "strd r0, r1, [r4, #-8]\n"
        "strd r2, r3, [r6, #-8]\n"
        ".else\n"
        "cmp r12, lr\n"
        "bne 10b\n"
        "ldr r12, [sp]\n"
        "ldrd r4, r5, [r12]\n"
        "strd r0, r1, [r4, #-8]\n"
        "strd r2, r3, [r4, #%c[row] - 8]\n"
        ".endif\n"
        "cmp r5, #0\n"
        "bgt 1b\n"
        "pop {r0, r6, r7}\n"
        : "+r"(call)
        : [row] "i"(4 * integer_chunk), [small] "i"(small)
        : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory");
  }
};
