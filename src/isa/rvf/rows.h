// One row on 32-bit RISC-V processors that have the extension F and no vectors: chains over numbers of two bytes or one, over
// columns that lie apart, and widening. No instruction converts halves, so words of two are taken apart by integers.

struct RvfRows : Scalar {
  static constexpr int widened_columns = 16;
  static constexpr float two_to_112 = 5.192297e+33f;

  ATTEND_HOT ATTEND_NOINLINE static void widen(const float* from, int count, float* to) { widen_all(from, count, to); }
  ATTEND_HOT ATTEND_NOINLINE static void widen(const Bfloat* from, int count, float* to) { widen_all(from, count, to); }
  ATTEND_HOT ATTEND_NOINLINE static void widen(const int8_t* from, int count, float* to) { widen_all(from, count, to); }
  ATTEND_HOT ATTEND_NOINLINE static void widen(const Half* from, int count, float* to) {
    for (; count >= 8 && is_word(from); count -= 8, from += 8, to += 8) {
      uint32_t special = 0;
      ATTEND_UNROLL
      for (int i = 0; i < 8; i += 2) {
        const uint32_t two = load_two(from + i);
        to[i] = first_of(two) * two_to_112;
        to[i + 1] = second_of(two) * two_to_112;
        special |= beyond_numbers(two);
      }
      if ((special & beyond) != 0) Scalar::widen(from, 8, to);
    }
    Scalar::widen(from, count, to);
  }

  // row[i] *= by[i]
  ATTEND_HOT ATTEND_NOINLINE static void multiply_rows(float* row, const float* by, int count) {
    for (; count >= 8; count -= 8, row += 8, by += 8) {
      ATTEND_UNROLL
      for (int i = 0; i < 8; ++i) row[i] *= by[i];
    }
    for (int i = 0; i < count; ++i) row[i] *= by[i];
  }

  // Row by row.
  template <class Number>
  ATTEND_HOT static void chains(const ChainsOf<Number>& c) {
    ChainsOf<Number> row = c;
    row.rows = 1;
    if (c.rows > 1) row.a_scale = 1.0f;
    for (int r = 0; r < c.rows; ++r, row.a += c.a_stride, ++row.to) {
      const bool in_words = sizeof(Number) == 1 || (is_word(c.b) && c.b_step % 2 == 0);
      if (c.columns == 16 && c.b_stride == 1 && in_words && chains_1x16(row)) continue;
      rest(row, 0);
    }
  }

 protected:
  // The columns from `first` on: of one row four at a time, and the last ones singly.
  template <class Number>
  ATTEND_NOINLINE static void rest(const ChainsOf<Number>& c, int first) {
    if (c.rows == 1) {
      for (; c.columns - first >= 4; first += 4) c.b_stride == 1 ? chains_1x4(c, first) : chains_of_rows_1x4(c, first);
    }
    if (first == c.columns) return;
    ChainsOf<Number> last = c;
    last.columns -= first;
    last.column += first;
    last.b += first * c.b_stride;
    single_chains(last);
  }

  // 1 row x 4 columns whose steps lie side by side, four steps a round.
  template <class Number>
  ATTEND_NOINLINE static void chains_of_rows_1x4(const ChainsOf<Number>& c, int first) {
    const float *a = c.a, *const end = a + c.steps;
    const Number* b[4];
    ATTEND_UNROLL
    for (int column = 0; column < 4; ++column) b[column] = c.b + (first + column) * c.b_stride;
    float sums[4] = {};
    for (; end - a >= 4; a += 4) add_steps<4>(a, b, sums);
    for (; a != end; ++a) add_steps<1>(a, b, sums);
    store_sums(c, first, sums);
  }

 private:
  // 1 row x 4 columns that lie side by side.
  template <class Number>
  ATTEND_ALWAYS_INLINE static void chains_1x4(const ChainsOf<Number>& c, int first) {
    float sums[4] = {};
    const Number* b = c.b + first;
    for (const float *a = c.a, *const end = a + c.steps; a != end; ++a, b += c.b_step) {
      const float factor = *a * c.a_scale;
      ATTEND_UNROLL
      for (int column = 0; column < 4; ++column) sums[column] = fma(factor, widen_one(b[column]), sums[column]);
    }
    store_sums(c, first, sums);
  }

  template <class Number>
  ATTEND_ALWAYS_INLINE static float widen_one(Number number) {
    return ATTEND_ISA::widen(number);
  }
  ATTEND_ALWAYS_INLINE static float widen_one(Half number) {
    return (beyond_numbers(number.bits) & beyond) != 0 ? widen_beyond(number) : first_of(number.bits) * two_to_112;
  }
  ATTEND_NOINLINE static float widen_beyond(Half number) { return ATTEND_ISA::widen(number); }

  template <class Number>
  ATTEND_ALWAYS_INLINE static void widen_all(const Number* from, int count, float* to) {
    for (; count >= 8; count -= 8, from += 8, to += 8) {
      ATTEND_UNROLL
      for (int i = 0; i < 8; ++i) to[i] = ATTEND_ISA::widen(from[i]);
    }
    Scalar::widen(from, count, to);
  }

  template <int steps, class Number>
  ATTEND_ALWAYS_INLINE static void add_steps(const float* a, const Number* (&b)[4], float (&sums)[4]) {
    ATTEND_UNROLL
    for (int step = 0; step < steps; ++step) {
      ATTEND_UNROLL
      for (int column = 0; column < 4; ++column) sums[column] = fma(a[step], widen_one(b[column][step]), sums[column]);
    }
    ATTEND_UNROLL
    for (int column = 0; column < 4; ++column) b[column] += steps;
  }

  template <int columns, class Number>
  ATTEND_ALWAYS_INLINE static void store_sums(const ChainsOf<Number>& c, int first, float (&sums)[columns]) {
    float* const to = c.to[0] + c.column + first;
    if (c.adds) {
      ATTEND_UNROLL
      for (int column = 0; column < columns; ++column) sums[column] += to[column];
    }
    ATTEND_UNROLL
    for (int column = 0; column < columns; ++column) to[column] = sums[column];
  }

  static bool is_word(const void* address) { return reinterpret_cast<uintptr_t>(address) % 4 == 0; }
  template <class Number>
  static uint32_t load_two(const Number* from) {
    uint32_t two;
    __builtin_memcpy(&two, __builtin_assume_aligned(from, 4), sizeof two);
    return two;
  }

  // The numbers of a word. Halves as 2^-112 of what they are, which is exact for subnormals too; wrong where they are infinite
  // or NaN, and then beyond_numbers has a bit of `beyond`.
  static constexpr uint32_t beyond = 0x80008000u;
  static uint32_t beyond_numbers(uint32_t halves) { return (halves & 0x7fff7fffu) + 0x04000400u; }
  static float second_of(uint32_t halves) { return bits_to<float>(uint32_t(bits_to<int32_t>(halves) >> 3) & 0x8fffe000u); }
  static float first_of(uint32_t halves) { return second_of(halves << 16); }

  // 1 row x 16 columns; whether that gave the sums, which it did not where there are infinities or NaN, or factors so large
  // that they are not representable 2^112 times.
  ATTEND_HOT ATTEND_NOINLINE static bool chains_1x16(const ChainsOf<Half>& c) {
    float sums[16] = {};
    uint32_t special = 0;
    const Half* b = c.b;
    for (const float *a = c.a, *const end = a + c.steps; a != end; ++a, b += c.b_step) {
      const float factor = *a * c.a_scale, scaled = factor * two_to_112;
      if (!(__builtin_fabsf(factor) < 32768)) return false;
      ATTEND_UNROLL
      for (int column = 0; column < 16; column += 2) {
        const uint32_t two = load_two(b + column);
        sums[column] = fma(scaled, first_of(two), sums[column]);
        sums[column + 1] = fma(scaled, second_of(two), sums[column + 1]);
        special |= beyond_numbers(two);
      }
    }
    if ((special & beyond) != 0) return false;
    store_sums(c, 0, sums);
    return true;
  }

  ATTEND_HOT ATTEND_NOINLINE static bool chains_1x16(const ChainsOf<Bfloat>& c) {
    float sums[16] = {};
    const Bfloat* b = c.b;
    for (const float *a = c.a, *const end = a + c.steps; a != end; ++a, b += c.b_step) {
      const float factor = *a * c.a_scale;
      ATTEND_UNROLL
      for (int column = 0; column < 16; column += 2) {
        const uint32_t two = load_two(b + column);
        sums[column] = fma(factor, bits_to<float>(two << 16), sums[column]);
        sums[column + 1] = fma(factor, bits_to<float>(two & 0xffff0000u), sums[column + 1]);
      }
    }
    store_sums(c, 0, sums);
    return true;
  }

  ATTEND_HOT ATTEND_NOINLINE static bool chains_1x16(const ChainsOf<int8_t>& c) {
    float sums[16] = {};
    const int8_t* b = c.b;
    for (const float *a = c.a, *const end = a + c.steps; a != end; ++a, b += c.b_step) {
      const float factor = *a * c.a_scale;
      ATTEND_UNROLL
      for (int column = 0; column < 16; ++column) {
        sums[column] = fma(factor, float(b[column]), sums[column]);
        // Loads stay behind: GCC would have more numbers on the way than there are registers.
        if (column % 4 == 3) __asm__ volatile("" : : : "memory");
      }
    }
    store_sums(c, 0, sums);
    return true;
  }
};
