// Integer attention with AVX-512 VNNI. Chunks of keys and values are packed sixteen keys, or two rows of values, at a time.

struct Quads512 {
  using Vector = __m512i;
  static constexpr int lanes = 16, weighed_rows = 4;
  static ATTEND_ALWAYS_INLINE __m512i load(const void* from) { return _mm512_loadu_si512(from); }
  static ATTEND_ALWAYS_INLINE void store(void* to, __m512i a) { _mm512_storeu_si512(to, a); }
  static ATTEND_ALWAYS_INLINE __m512i load_lanes(const void* from, int count) {
    return _mm512_maskz_loadu_epi32(first(count), from);
  }
  static ATTEND_ALWAYS_INLINE void store_lanes(void* to, __m512i a, int count) {
    _mm512_mask_storeu_epi32(to, first(count), a);
  }
  static ATTEND_ALWAYS_INLINE __m512i all(int32_t a) { return _mm512_set1_epi32(a); }
  static ATTEND_ALWAYS_INLINE __m512i difference(__m512i a, __m512i b) { return _mm512_sub_epi32(a, b); }
  static ATTEND_ALWAYS_INLINE __m512i shift_up(__m512i a) { return _mm512_slli_epi32(a, 8); }
  static ATTEND_ALWAYS_INLINE __m512i shift_down(__m512i a, __m512i by) { return _mm512_srav_epi32(a, by); }
  static ATTEND_ALWAYS_INLINE __m512i shift_down_unsigned(__m512i a, __m512i by) { return _mm512_srlv_epi32(a, by); }

  static ATTEND_ALWAYS_INLINE __m512i words(uint32_t a) { return _mm512_set1_epi16(int16_t(a)); }
  static ATTEND_ALWAYS_INLINE __m512i pack(__m512i a, __m512i b) { return _mm512_packus_epi32(a, b); }
  static ATTEND_ALWAYS_INLINE __m512i shift_words(__m512i a, int by) { return _mm512_sll_epi16(a, _mm_cvtsi32_si128(by)); }
  static ATTEND_ALWAYS_INLINE __m512i add_words(__m512i a, __m512i b) { return _mm512_add_epi16(a, b); }
  static ATTEND_ALWAYS_INLINE __m512i difference_of_words(__m512i a, __m512i b) { return _mm512_sub_epi16(a, b); }
  static ATTEND_ALWAYS_INLINE __m512i high_product(__m512i a, __m512i b) { return _mm512_mulhi_epu16(a, b); }
  static ATTEND_ALWAYS_INLINE __m512i sum_of_pairs(__m512i a) { return _mm512_madd_epi16(a, words(1)); }

  // In assembly, because GCC copies what the intrinsics add to.
  static ATTEND_ALWAYS_INLINE void add_pairs(__m512i& sum, __m512i a, __m512i b) {
#if ATTEND_ASSEMBLY
    __asm__("vpdpwssd {%2, %1, %0|%0, %1, %2}" : "+v"(sum) : "v"(a), "v"(b));
#else
    sum = _mm512_dpwssd_epi32(sum, a, b);
#endif
  }
  static ATTEND_ALWAYS_INLINE void add_quads(__m512i& sum, __m512i bytes, __m512i signed_bytes) {
#if ATTEND_ASSEMBLY
    __asm__("vpdpbusd {%2, %1, %0|%0, %1, %2}" : "+v"(sum) : "v"(bytes), "v"(signed_bytes));
#else
    add_quads_of_tile(sum, bytes, signed_bytes);
#endif
  }
  // Not in assembly, with which GCC would copy one of the vectors.
  static ATTEND_ALWAYS_INLINE void add_quads_of_tile(__m512i& sum, __m512i bytes, __m512i signed_bytes) {
    sum = _mm512_dpbusd_epi32(sum, bytes, signed_bytes);
  }

  using Ends = __mmask32;  // before the end
  static ATTEND_ALWAYS_INLINE Ends ends_of(__m512i distances, __m512i end) { return _mm512_cmplt_epu16_mask(distances, end); }
  static ATTEND_ALWAYS_INLINE __m512i mark_ends(__m512i t, Ends /*counts*/) { return t; }
  static ATTEND_ALWAYS_INLINE __m512i power_of(__m512i t) { return _mm512_srli_epi16(t, weight_octave_bits); }
  static ATTEND_ALWAYS_INLINE __m512i fraction_of(__m512i t) { return _mm512_slli_epi16(t, 16 - weight_octave_bits); }
  static ATTEND_ALWAYS_INLINE __m512i times_power(__m512i a, __m512i octaves, Ends counts) {
    const __m512i shifted = _mm512_srlv_epi16(a, octaves);
    return _mm512_maskz_avg_epu16(counts, shifted, _mm512_setzero_si512());  // (shifted + 1) >> 1
  }

  static ATTEND_ALWAYS_INLINE __m512i flip(__m512i a) { return _mm512_xor_si512(a, _mm512_set1_epi8(-128)); }
  static ATTEND_ALWAYS_INLINE void cut_weights(const int32_t* weights, uint8_t* low, uint8_t* high) {
    // Quads of weights in the order of their keys.
    const __m512i words = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), load(weights));
    _mm256_store_si256(reinterpret_cast<__m256i*>(low), _mm512_cvtepi16_epi8(words));
    _mm256_store_si256(reinterpret_cast<__m256i*>(high), _mm512_cvtepi16_epi8(_mm512_srli_epi16(words, 8)));
  }
  static ATTEND_ALWAYS_INLINE __mmask64 bytes_of(int count) {
    return count >= 64 ? ~__mmask64(0) : (__mmask64(1) << count) - 1;
  }
  static ATTEND_ALWAYS_INLINE __m512i load_some(const int8_t* from, __mmask64 bytes) {
    return _mm512_maskz_loadu_epi8(bytes, from);
  }
  static ATTEND_ALWAYS_INLINE void in_order(__m512i (&rows)[4]) { transpose_128(rows); }

 private:
  static ATTEND_ALWAYS_INLINE __mmask16 first(int count) { return count >= 16 ? 0xffff : __mmask16((1u << count) - 1); }
};

struct IntegerAvx512Vnni : IntegerQuads<Quads512> {
  static constexpr int tile_rows = 8, in_place_step = 1;

  static void pack_keys(const int8_t* keys, ptrdiff_t stride, int count, int head_dim, int8_t* to) {
    pack_quads(keys, stride, count, head_dim, -128, to);
  }

  // Keys as quads of dimensions, with these bits flipped.
  static ATTEND_ALWAYS_INLINE void pack_quads(const int8_t* keys, ptrdiff_t stride, int count, int head_dim, int8_t flips,
                                              int8_t* to) {
    const __m512i flipped = _mm512_set1_epi8(flips);
    for (int k = 0; k < integer_chunk; k += 16) {
      for (int d = 0; d < head_dim; d += 64) {
        // Row i of group g has, in each quarter, the quad i of dimensions of the quarter's four, of four keys.
        __m512i groups[4][4];
        ATTEND_UNROLL
        for (int g = 0; g < 4; ++g) {
          load_four(keys + (k + 4 * g) * stride + d, stride, count - (k + 4 * g), head_dim - d, groups[g]);
          transpose_32(groups[g]);
        }
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          __m512i quads[4] = {groups[0][i], groups[1][i], groups[2][i], groups[3][i]};
          transpose_128(quads);
          ATTEND_UNROLL
          for (int q = 0; q < 4; ++q) {
            const int quad = d + 16 * q + 4 * i;
            if (quad < head_dim) Quads512::store(to + quad * integer_chunk + 4 * k, _mm512_xor_si512(quads[q], flipped));
          }
        }
      }
    }
  }

  static void pack_values(const int8_t* values, ptrdiff_t stride, int count, int width, int16_t* to) {
    // Quarters of 16 columns: their first eight, and then their last eight.
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    for (int c = 0; c < width; c += 64) {
      for (int place = 0; place < integer_chunk / 4; ++place) {
        const int k = 4 * quad_at_place(place);
        __m512i rows[4];
        load_four(values + k * stride + c, stride, count - k, width - c, rows);
        ATTEND_UNROLL
        for (int i = 0; i < 4; i += 2) {
          const __m512i low = _mm512_unpacklo_epi8(rows[i], rows[i + 1]), high = _mm512_unpackhi_epi8(rows[i], rows[i + 1]);
          const __m512i halves[2] = {_mm512_permutex2var_epi64(low, first, high), _mm512_permutex2var_epi64(low, second, high)};
          ATTEND_UNROLL
          for (int q = 0; q < 4; ++q) {
            if (c + 16 * q >= width) continue;
            const __m256i bytes =
                q % 2 == 0 ? _mm512_castsi512_si256(halves[q / 2]) : _mm512_extracti64x4_epi64(halves[q / 2], 1);
            Quads512::store(to + (c + 16 * q) * integer_chunk + (4 * place + i) * 16, _mm512_cvtepi8_epi16(bytes));
          }
        }
      }
    }
  }

  // As pack_values, of a chunk that lies in quads, 16 columns at a time.
  static void pack_value_quads(const int8_t* from, int width, int16_t* to) {
    for (int c = 0; c < width; c += 16) {
      for (int place = 0; place < integer_chunk / 4; ++place, to += 64) {
        const __m512i quads = Quads512::load_lanes(from + (ptrdiff_t(quad_at_place(place)) * width + c) * 4, width - c);
        Quads512::store(to, _mm512_cvtepi8_epi16(_mm512_cvtepi32_epi16(quads)));
        Quads512::store(to + 32, _mm512_cvtepi8_epi16(_mm512_cvtepi32_epi16(_mm512_srli_epi32(quads, 16))));
      }
    }
  }

  template <class Output>
  static ATTEND_ALWAYS_INLINE void eight_outputs(const ProjectionEnd& of, int k, Output* to, ptrdiff_t to_stride) {
    const __m512i multiplier = of.stride == 0 ? _mm512_set1_epi64(load_two(of.by)) : Quads512::load(of.by + k);
    const __m512i shift = _mm512_srli_epi64(multiplier, 32), zero = _mm512_set1_epi64(of.output_zero);
    const __m512i half = _mm512_srli_epi64(_mm512_sllv_epi64(_mm512_set1_epi64(1), shift), 1);
    const __m256i starts = starts_of(of, k);
    for (int t = 0; t < of.tokens; ++t, to += to_stride) {
      const __m512i sums = _mm512_cvtepi32_epi64(_mm256_add_epi32(load(of.sums[t] + k), starts));
      const __m512i product = _mm512_add_epi64(_mm512_mul_epi32(sums, multiplier), half);
      const __m512i output = _mm512_add_epi64(_mm512_srav_epi64(product, shift), zero);
      if constexpr (sizeof(Output) == 1) {
        _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm512_cvtsepi64_epi8(output));
      } else {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtsepi64_epi16(output));
      }
    }
  }

  // Not inlined: there GCC would keep sums in memory.
  template <int rows>
  ATTEND_NOINLINE static void values(int32_t (*weights)[integer_chunk], const int16_t* values, int width,
                                     const RowMerges& merges, int32_t* sums) {
    int c = 0;
    // Of more rows, sums of four vectors would be too many for the registers.
    if constexpr (rows <= 6)
      for (; width - c > 48; c += 64) columns<rows, 4>(weights, values, width, c, merges, sums);
    for (; width - c > 16; c += 32) columns<rows, 2>(weights, values, width, c, merges, sums);
    if (c < width) columns<rows, 1>(weights, values, width, c, merges, sums);
  }

 protected:
  // Up to 64 bytes of four rows; zeros behind them, and for rows from `count` on.
  static ATTEND_ALWAYS_INLINE void load_four(const int8_t* from, ptrdiff_t stride, int count, int bytes, __m512i (&rows)[4]) {
    const __mmask64 mask = Quads512::bytes_of(bytes);
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) rows[i] = _mm512_maskz_loadu_epi8(i < count ? mask : 0, from + i * stride);
  }
};
