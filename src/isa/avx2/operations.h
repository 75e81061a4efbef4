// AVX2 with FMA and F16C: 8 lanes, 16 registers. To be included where the instruction set is switched on.

struct Avx2 : X86Transposes<ByChains<6, 2>> {
  using Vec = __m256;
  using Factor = Vec;
  static constexpr int lanes = 8;

  // Tiles: 6 x 2 sums, 2 vectors and 1 broadcast fill 15 of 16 registers. Fewer rows take more vectors, because 8 sums must be
  // under way to hide the 4 cycles that each of 2 multiply-adds per cycle takes.
  // 6, 5, 4, 3, 2, 1
  ATTEND_ALWAYS_INLINE static constexpr int kernel_rows(int left) {
    return left <= 6 ? left : left <= 8 ? 4 : left <= 10 ? 5 : 6;
  }
  ATTEND_ALWAYS_INLINE static constexpr int tile_vecs(int rows) { return rows == 1 ? 8 : rows <= 3 ? 4 : 2; }
  // weighed side by side
  ATTEND_ALWAYS_INLINE static constexpr int softmax_rows(int left) { return left == 4 ? 2 : left < 3 ? left : 3; }
  static bool chain(const float* query, ptrdiff_t stride, const float* panel, ptrdiff_t, int, Vec (&sums)[6][2]);  // chain.h

  // Hardware prefetches too late for processors that wait for memory about as long as they compute: with 2 to 4 rows that read
  // the same keys or values, of these the lines that the next columns and the next chain need.
  template <int rows>
  ATTEND_ALWAYS_INLINE static void prefetch_keys(const float* line) {
    if constexpr (rows >= 2 && rows <= 4) prefetch_line(line + 512, line + 4096);
  }
  // One row is bound by memory. It prefetches 512 floats ahead at most, a whole number of keys, so that the lines are this
  // head's; nothing where keys lie further apart than that.
  static ptrdiff_t values_ahead(ptrdiff_t stride) { return stride > 0 && stride <= 512 ? 512 / int(stride) * stride : 0; }
  template <int rows, int floats>
  ATTEND_ALWAYS_INLINE static void prefetch_values(const float* value, ptrdiff_t stride, ptrdiff_t ahead) {
    ATTEND_UNROLL
    for (int i = 0; i < 4 && rows <= 4; ++i) {
      value += stride;
      ATTEND_UNROLL
      for (int c = 0; c < floats; c += 16) {
        if constexpr (rows > 1) {
          prefetch_line(value + floats + c, value + chain_keys * stride + c);
        } else {
          ATTEND_PREFETCH(value + ahead + c);
        }
      }
    }
  }
  // At the end of a chain multiply-adds would wait for the sums: many columns do not stay in caches from block to block.
  template <int rows>
  ATTEND_ALWAYS_INLINE static void prefetch_sums(const Sums& sums, int column) {
    if (!sums.begun) return;
    const float* to = sums.data + column;
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      ATTEND_PREFETCH(to, 1);
      to = opaque(to + sums.value_dim);
    }
  }

  static Vec zero() { return _mm256_setzero_ps(); }
  static Vec broadcast(float a) { return _mm256_set1_ps(a); }
  static Factor factor(float a) { return broadcast(a); }
  static Vec load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* to, Vec a) { _mm256_storeu_ps(to, a); }
  static Vec load_first(const float* from, int count) { return _mm256_maskload_ps(from, first(count)); }
  static void store_first(float* to, Vec a, int count) { _mm256_maskstore_ps(to, first(count), a); }
  static Vec load(const Half* from) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))); }
  static Vec load(const Bfloat* from) {
    // One shuffle behind a load that repeats: bytes 0 to 7 in the low half, 8 to 15 in the high one, each two behind two zeros.
    const __m256i twice = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    const __m256i place = _mm256_setr_epi8(-1, -1, 0, 1, -1, -1, 2, 3, -1, -1, 4, 5, -1, -1, 6, 7,  //
                                           -1, -1, 8, 9, -1, -1, 10, 11, -1, -1, 12, 13, -1, -1, 14, 15);
    return _mm256_castsi256_ps(_mm256_shuffle_epi8(twice, place));
  }
  static Vec load(const int8_t* from) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
  }

  static Vec add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
  static Vec sub(Vec a, Vec b) { return _mm256_sub_ps(a, b); }
  static Vec mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
  static Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
  // With the function, GCC chooses among three forms of the instruction, and copies and spills sums of a tile; Clang loads what
  // later steps need before they come, and spills too.
  static Vec accumulate(Vec a, Vec b, Vec sum) {
#if ATTEND_ASSEMBLY
    __asm__ volatile("vfmadd231ps {%2, %1, %0|%0, %1, %2}" : "+x"(sum) : "x"(a), "x"(b));
    return sum;
#else
    return fma(a, b, sum);
#endif
  }
  static Vec max(Vec a, Vec b) { return _mm256_max_ps(b, a); }  // a where b is NaN: the instruction gives its second operand
  static Vec higher(Vec a, Vec b) { return max(a, b); }
  static float highest_lane(Vec a) {
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
  }

  static Vec first_of(Vec a, Vec b, int count) { return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(first(count))); }
  static bool any_above(Vec a, Vec b) { return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)) != 0; }

  static Vec min(Vec a, Vec b) { return _mm256_min_ps(b, a); }  // a where one is NaN

  static Vec minus_reciprocal_guess(Vec a) {
    return _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_set1_epi32(int(0xfef311c7)), _mm256_castps_si256(a)));
  }

  static Vec where_equal(Vec a, Vec b, Vec then, Vec otherwise) {
    return _mm256_blendv_ps(otherwise, then, _mm256_cmp_ps(a, b, _CMP_EQ_OQ));
  }

  static Vec where_bytes(const uint8_t* bytes, Vec a, Vec b) {
    const __m256i wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
    return _mm256_blendv_ps(a, b, _mm256_castsi256_ps(_mm256_cmpeq_epi32(wide, _mm256_setzero_si256())));
  }
  static Vec where_bits(unsigned bits, Vec a, Vec b) {
    const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i set = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(int(bits)), each), each);
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(set));
  }

  static Vec two_to(Vec n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_castps_si256(n), _mm256_set1_epi32(127)), 23));
  }

  static Vec scale_by_power(Vec a, Vec n) {
    const __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    const Vec power = _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
    const Vec kept = _mm256_cmp_ps(n, _mm256_set1_ps(-125.0f), _CMP_NLT_UQ);  // true for NaN too
    return _mm256_and_ps(kept, _mm256_mul_ps(a, power));
  }

  static Vec scale_by_low_bits(Vec a, Vec n, Vec bias, Vec lowest) {
    const __m256i exponent = _mm256_slli_epi32(_mm256_castps_si256(n), 23);
    const Vec power = _mm256_castsi256_ps(_mm256_add_epi32(exponent, _mm256_castps_si256(bias)));
    return _mm256_and_ps(_mm256_cmp_ps(n, lowest, _CMP_NLT_UQ), _mm256_mul_ps(a, power));
  }

  static void load_words(const uint8_t* from, Vec* to) {
    const __m256i twice = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    const __m256i first = _mm256_setr_epi8(0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, 3, -1, -1, -1,  //
                                           4, -1, -1, -1, 5, -1, -1, -1, 6, -1, -1, -1, 7, -1, -1, -1);
    const __m256i second = _mm256_setr_epi8(8, -1, -1, -1, 9, -1, -1, -1, 10, -1, -1, -1, 11, -1, -1, -1,  //
                                            12, -1, -1, -1, 13, -1, -1, -1, 14, -1, -1, -1, 15, -1, -1, -1);
    to[0] = _mm256_castsi256_ps(_mm256_shuffle_epi8(twice, first));
    to[1] = _mm256_castsi256_ps(_mm256_shuffle_epi8(twice, second));
  }
  static Vec broadcast_half(Half number) { return _mm256_cvtph_ps(_mm_set1_epi16(short(number.bits))); }
  static Vec low_half(Vec words) { return four_bits<0>(words); }
  static Vec high_half(Vec words) { return _mm256_cvtepi32_ps(_mm256_srli_epi32(_mm256_castps_si256(words), 4)); }

  static constexpr float four_bits_above(float /*power*/) { return 0.0f; }
  template <int at>
  static Vec four_bits(Vec words) {
    __m256i bits = _mm256_castps_si256(words);
    if (at > 0) bits = _mm256_srli_epi32(bits, at);
    if (at < 28) bits = _mm256_and_si256(bits, _mm256_set1_epi32(15));
    return _mm256_cvtepi32_ps(bits);
  }

  template <class Number>
  ATTEND_ALWAYS_INLINE static void columns_of_rows(const Number* rows, ptrdiff_t stride, Vec (&to)[4]) {
    const Number* const fifth = opaque(rows + 4 * stride);  // or compilers compute more addresses than there are registers for
    columns_of(load_row_pair(rows, fifth), load_row_pair(rows + stride, fifth + stride),
               load_row_pair(rows + 2 * stride, fifth + 2 * stride), load_row_pair(rows + 3 * stride, fifth + 3 * stride), to);
  }
  static float sum_lanes(const float* sums) { return sum_of_8(add(load(sums), load(sums + 8))); }

 private:
  ATTEND_ALWAYS_INLINE static void prefetch_line(const float* near, const float* far) {
    ATTEND_PREFETCH(far, 0, 2);
    ATTEND_PREFETCH(near, 0, 3);
  }
  static __m256i first(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
};
