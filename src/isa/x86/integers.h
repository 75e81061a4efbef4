// The common operations of vectors of 256 and of 512 bits in integer attention on x86. A chunk of values lies as
//
//   [blocks of 16 columns][16 pairs of keys][16 columns][2 keys] of 16 bits
//
// so that an instruction which multiplies and adds pairs takes two keys at once. Quads of keys, and their weights, lie in the
// order 0 4 1 5 2 6 3 7, which comes of packing two vectors of scores into one of 16 bits.

// Where a quad of keys is in that order, and which quad is at a place.
constexpr int place_of_quad(int quad) { return quad % 4 * 2 + quad / 4; }
constexpr int quad_at_place(int place) { return place % 2 * 4 + place / 2; }

// The first `count` bytes, and zeros; no byte after them is read.
ATTEND_ALWAYS_INLINE __m128i load_bytes(const int8_t* from, int count) {
  if (count >= 16) return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  alignas(16) int8_t bytes[16] = {};
  for (int i = 0; i < count; ++i) bytes[i] = from[i];
  return _mm_load_si128(reinterpret_cast<const __m128i*>(bytes));
}

// 16 bytes of rows side by side. What lies behind `count` rows or `bytes` is zeros, and is not read.
template <int rows>
ATTEND_NOINLINE void load_some_rows(const int8_t* from, ptrdiff_t stride, int count, int bytes, __m128i (&to)[rows]) {
  for (int i = 0; i < rows; ++i) to[i] = load_bytes(from + i * stride, i < count ? bytes : 0);
}
template <int rows>
ATTEND_ALWAYS_INLINE void load_rows(const int8_t* from, ptrdiff_t stride, int count, int bytes, __m128i (&to)[rows]) {
  if (count < rows || bytes < 16) return load_some_rows(from, stride, count, bytes, to);
  ATTEND_UNROLL
  for (int i = 0; i < rows; ++i) to[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * stride));
}

// The next 16 of so many dimensions of keys k … k + 3: four[i] has dimensions 4 i … 4 i + 3. Keys from `count` on are 0.
ATTEND_ALWAYS_INLINE void load_four_keys(const int8_t* keys, ptrdiff_t stride, int k, int count, int dimensions,
                                         __m128i (&four)[4]) {
  load_rows(keys + k * stride, stride, count - k, dimensions, four);
  transpose_32(four);
}

// The first two bytes of each of four quads, and then the last two.
ATTEND_ALWAYS_INLINE __m128i pairs_apart(__m128i quads) {
  return _mm_shuffle_epi8(quads, _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
}

// 16 columns of two keys side by side, widened: columns 0-7, then 8-15.
ATTEND_ALWAYS_INLINE void pack_pair(__m128i even, __m128i odd, int16_t* to) {
  const __m256i low = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(even, odd));
  const __m256i high = _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(even, odd));
  _mm256_store_si256(reinterpret_cast<__m256i*>(to), low);
  _mm256_store_si256(reinterpret_cast<__m256i*>(to + 16), high);
}

inline uint32_t sum_of_four(__m128i a) {
  a = _mm_add_epi32(a, _mm_shuffle_epi32(a, 0x4e));
  return uint32_t(_mm_cvtsi128_si32(_mm_add_epi32(a, _mm_shuffle_epi32(a, 0xb1))));
}

// Rows of bytes that are read where they lie, four at a time.
class RowsInPlace {
 public:
  ATTEND_ALWAYS_INLINE explicit RowsInPlace(ptrdiff_t stride)
      : stride_(stride), three_(opaque(3 * stride)), ahead_(opaque(rows_ahead * stride)) {}

  ATTEND_ALWAYS_INLINE const int8_t* row(const int8_t* from, int i) const { return i < 3 ? from + i * stride_ : from + three_; }
  // Prefetches rows that are used some time later.
  ATTEND_ALWAYS_INLINE void prefetch_four(const int8_t* from) const {
    const int8_t* const ahead = opaque(from + ahead_);
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) ATTEND_PREFETCH(row(ahead, i));
  }
  ATTEND_ALWAYS_INLINE const int8_t* next(const int8_t* from) const { return opaque(from + 4 * stride_); }

 private:
  static constexpr int rows_ahead = 128;
  const ptrdiff_t stride_, three_, ahead_;
};

struct IntegerX86 {
  static constexpr bool packs = true;

  // merge_scaled by 8, of eight rows at once. States behind the rows keep their bits: weights that add nothing are
  // taken for them. Work memory has room for eight.
  template <int rows>
  static ATTEND_ALWAYS_INLINE void merge(RowWeights& weights, IntegerSoftmaxState* states, RowMerges& to) {
    ATTEND_UNROLL
    for (int r = rows; r < 8; ++r) weights.add_nothing(r);
    // Exponents and denominators apart.
    const __m256 first = _mm256_castsi256_ps(load(states)), second = _mm256_castsi256_ps(load(states + 4));
    const __m256i old_exponent = in_order(_mm256_castps_si256(_mm256_shuffle_ps(first, second, 0x88)));
    const __m256i old_denominator = in_order(_mm256_castps_si256(_mm256_shuffle_ps(first, second, 0xdd)));
    const __m256i common = _mm256_max_epi32(old_exponent, load(weights.exponent));
    const __m256i old = _mm256_min_epi32(_mm256_sub_epi32(common, old_exponent), _mm256_set1_epi32(31));
    const __m256i denominator = _mm256_add_epi32(_mm256_srlv_epi32(old_denominator, old), merge_sums(weights, common, old, to));
    const __m256i low = _mm256_unpacklo_epi32(common, denominator), high = _mm256_unpackhi_epi32(common, denominator);
    store(states, _mm256_permute2x128_si256(low, high, 0x20));
    store(states + 4, _mm256_permute2x128_si256(low, high, 0x31));
  }

  // merge_scaled by 8 of eight chunks of one row, one after the other.
  static ATTEND_ALWAYS_INLINE void merge_chunks(const RowWeights& weights, IntegerSoftmaxState& state, RowMerges& to) {
    const __m256i exponent = load(weights.exponent);
    const __m256i lowest = _mm256_set1_epi32(state.exponent);
    // The largest exponent up to each chunk: after neighbours, pairs and fours are compared.
    __m256i common = _mm256_max_epi32(exponent, lowest);
    common = _mm256_max_epi32(common, before<1>(common, lowest));
    common = _mm256_max_epi32(common, before<2>(common, lowest));
    common = _mm256_max_epi32(common, before<4>(common, lowest));
    const __m256i old = _mm256_min_epi32(_mm256_sub_epi32(common, before<1>(common, lowest)), _mm256_set1_epi32(31));
    alignas(32) uint32_t sums[8];
    store(sums, merge_sums(weights, common, old, to));
    uint32_t denominator = state.denominator;
    ATTEND_UNROLL
    for (int i = 0; i < 8; ++i) denominator = (denominator >> to.total[i]) + sums[i];
    state.denominator = denominator;
    state.exponent = _mm256_extract_epi32(common, 7);
  }

  static void pack_values(const int8_t* values, ptrdiff_t stride, int count, int width, int16_t* to) {
    for (int c = 0; c < width; c += 16) {
      for (int place = 0; place < integer_chunk / 4; ++place, to += 64) {
        const int k = 4 * quad_at_place(place);
        __m128i rows[4];
        load_rows(values + k * stride + c, stride, count - k, width - c, rows);
        pack_pair(rows[0], rows[1], to);
        pack_pair(rows[2], rows[3], to + 32);
      }
    }
  }

  // As pack_values, of a chunk that lies in quads.
  static void pack_value_quads(const int8_t* quads, int width, int16_t* to) {
    for (int c = 0; c < width; c += 4) {
      for (int quad = 0; quad < integer_chunk / 4; ++quad) {
        const int8_t* const from = quads + (ptrdiff_t(quad) * width + c) * 4;
        const __m128i pairs = pairs_apart(load_bytes(from, width - c < 4 ? 4 * (width - c) : 16));
        int16_t* const at = to + (c & -16) * integer_chunk + place_of_quad(quad) * 64 + c % 16 * 2;
        _mm_store_si128(reinterpret_cast<__m128i*>(at), _mm_cvtepi8_epi16(pairs));
        _mm_store_si128(reinterpret_cast<__m128i*>(at + 32), _mm_cvtepi8_epi16(_mm_srli_si128(pairs, 8)));
      }
    }
  }

  // output_of and clamped, of 8 columns at a time.
  static void outputs(const int32_t* sums, const RowEnd& end, int count, int8_t* to) {
    const __m256i zero = _mm256_set1_epi32(end.zero), factor = _mm256_set1_epi32(end.factor);
    const __m256i half = _mm256_set1_epi32((1 << end.shift) >> 1), offset = _mm256_set1_epi32(end.offset);
    int c = 0;
    for (; c + 8 <= count; c += 8) {
      const __m256i shifted = _mm256_sll_epi32(load(sums + c), _mm_cvtsi32_si128(end.left));
      const __m256i aligned = _mm256_sub_epi32(_mm256_srai_epi32(shifted, 1), zero);
      // Upper halves of products of 64 bits; one instruction makes every other product.
      const __m256i even = _mm256_srli_epi64(_mm256_mul_epi32(aligned, factor), 32);
      const __m256i odd = _mm256_mul_epi32(_mm256_srli_epi64(aligned, 32), factor);
      const __m256i number = _mm256_add_epi32(_mm256_blend_epi32(even, odd, 0xaa), half);
      const __m256i output = _mm256_add_epi32(_mm256_sra_epi32(number, _mm_cvtsi32_si128(end.shift)), offset);
      const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(output), _mm256_extracti128_si256(output, 1));
      _mm_storel_epi64(reinterpret_cast<__m128i*>(to + c), _mm_packs_epi16(words, words));
    }
    for (; c < count; ++c) to[c] = int8_t(clamped(output_of(sums[c], end), -128, 127));
  }

  // integer_output of outputs k … k + 7 of each token, even and odd ones apart, as they are multiplied. Products are moved
  // above 0, because there is no arithmetic shift of 64 bits. Sums whose outputs are past the end of 16 bits anyway, because a
  // factor is at least 2^30, become smaller ones, so that what is shifted fits into 32 bits.
  template <class Output>
  static ATTEND_ALWAYS_INLINE void eight_outputs(const ProjectionEnd& of, int k, Output* to, ptrdiff_t to_stride) {
    const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi32(1), above = _mm256_set1_epi64x(int64_t(1) << 62);
    __m256i by[] = {_mm256_set1_epi64x(load_two(of.by)), _mm256_set1_epi64x(load_two(of.by))}, shift[2], half[2];
    if (of.stride != 0) by[0] = load(of.by + k), by[1] = load(of.by + k + 4);
    const __m256i even = in_order(_mm256_unpacklo_epi64(by[0], by[1]));
    by[1] = in_order(_mm256_unpackhi_epi64(by[0], by[1]));
    by[0] = even;
    ATTEND_UNROLL
    for (int i = 0; i < 2; ++i) {
      shift[i] = _mm256_srli_epi64(by[i], 32);
      half[i] = _mm256_add_epi64(above, _mm256_srli_epi64(_mm256_sllv_epi64(_mm256_set1_epi64x(1), shift[i]), 1));
    }
    const __m256i moved = odd_and_even(_mm256_srlv_epi64(above, shift[0]), _mm256_srlv_epi64(above, shift[1]));
    const __m256i offset = _mm256_sub_epi32(_mm256_set1_epi32(of.output_zero), moved), starts = starts_of(of, k);
    const __m256i below_44 = _mm256_sub_epi32(_mm256_set1_epi32(44), odd_and_even(shift[0], shift[1]));
    const __m256i most = _mm256_srlv_epi32(_mm256_set1_epi32(0x7fffffff), larger(below_44, zero)), high = larger(most, one);
    const __m256i low = _mm256_sub_epi32(zero, high);
    for (int t = 0; t < of.tokens; ++t, to += to_stride) {
      const __m256i sums = larger(_mm256_min_epi32(_mm256_add_epi32(load(of.sums[t] + k), starts), high), low);
      __m256i product[] = {_mm256_mul_epi32(sums, by[0]), _mm256_mul_epi32(_mm256_srli_epi64(sums, 32), by[1])};
      ATTEND_UNROLL
      for (int i = 0; i < 2; ++i) product[i] = _mm256_srlv_epi64(_mm256_add_epi64(product[i], half[i]), shift[i]);
      const __m256i outputs = _mm256_add_epi32(odd_and_even(product[0], product[1]), offset);
      const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(outputs), _mm256_extracti128_si256(outputs, 1));
      if constexpr (sizeof(Output) == 1) {
        _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packs_epi16(words, words));
      } else {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), words);
      }
    }
  }

  // Where a row's weight of a key lies in a tile whose scores have become weights.
  static detail::AliasedInt16* weight(int32_t (*tile)[integer_chunk], int row, int key) {
    return reinterpret_cast<detail::AliasedInt16*>(tile[row]) + 4 * place_of_quad(key / 4) + key % 4;
  }

 protected:
  static ATTEND_ALWAYS_INLINE __m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static ATTEND_ALWAYS_INLINE void store(void* to, __m256i a) { _mm256_storeu_si256(static_cast<__m256i*>(to), a); }

  static ATTEND_ALWAYS_INLINE __m256i in_order(__m256i a) { return _mm256_permute4x64_epi64(a, 0xd8); }  // 0 2 1 3

  // What is added to eight sums of products: bias - input_zero * sum of weights.
  static ATTEND_ALWAYS_INLINE __m256i starts_of(const ProjectionEnd& of, int k) {
    const __m256i bias = of.bias == nullptr ? _mm256_setzero_si256() : load(of.bias + k);
    const __m256i sums = load(static_cast<const int32_t*>(of.weight_sums) + k);
    return _mm256_sub_epi32(bias, _mm256_mullo_epi32(sums, _mm256_set1_epi32(of.input_zero)));
  }

  // The lower 32 bits of lanes of 64, which are the even and the odd ones of 32.
  static ATTEND_ALWAYS_INLINE __m256i odd_and_even(__m256i even, __m256i odd) {
    return _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
  }

  // Shifts that bring the sums of a row, by `old`, and of a chunk to one exponent. Returns what the denominator gets.
  static ATTEND_ALWAYS_INLINE __m256i merge_sums(const RowWeights& weights, __m256i common, __m256i old, RowMerges& to) {
    const __m256i one = _mm256_set1_epi32(1), distance = _mm256_sub_epi32(common, load(weights.exponent));
    const __m256i added = _mm256_min_epi32(distance, _mm256_set1_epi32(30 - 8));
    const __m256i half = _mm256_srli_epi32(_mm256_sllv_epi32(one, added), 1);
    const __m256i sums = _mm256_srlv_epi32(_mm256_add_epi32(load(weights.sum), half), added);
    const __m256i chunk = _mm256_add_epi32(added, _mm256_set1_epi32(8));
    store(to.total, old);
    store(to.chunk, chunk);
    store(to.half, _mm256_srli_epi32(_mm256_sllv_epi32(one, chunk), 1));
    return sums;
  }

  // Moves the lanes of a up by `lanes`; the first lanes come from `first`.
  template <int lanes>
  static ATTEND_ALWAYS_INLINE __m256i before(__m256i a, __m256i first) {
    const __m256i places =
        _mm256_setr_epi32(0 - lanes, 1 - lanes, 2 - lanes, 3 - lanes, 4 - lanes, 5 - lanes, 6 - lanes, 7 - lanes);
    return _mm256_blend_epi32(_mm256_permutevar8x32_epi32(a, places), first, (1 << lanes) - 1);
  }

  // reference_of, of eight rows.
  static ATTEND_ALWAYS_INLINE void references_of(__m256i largest, const RowScales& scales, RowWeights& to) {
    const __m256i factor = load(scales.factor), left = load(scales.left), low_bits = _mm256_set1_epi32(0xffff);
    const __m256i low = _mm256_mullo_epi32(_mm256_and_si256(largest, low_bits), factor);
    const __m256i high =
        _mm256_add_epi32(_mm256_mullo_epi32(_mm256_srai_epi32(largest, 16), factor), _mm256_srli_epi32(low, 16));
    const __m256i shifted = _mm256_srav_epi32(high, load(scales.right));
    const __m256i rest = _mm256_srlv_epi32(_mm256_and_si256(low, low_bits), _mm256_sub_epi32(_mm256_set1_epi32(16), left));
    const __m256i steps = _mm256_or_si256(_mm256_sllv_epi32(shifted, left), rest);
    const __m256i octaves = _mm256_srav_epi32(shifted, _mm256_sub_epi32(_mm256_set1_epi32(weight_octave_bits), left));
    store(to.largest, largest);
    store(to.exponent, _mm256_add_epi32(octaves, _mm256_set1_epi32(1)));
    const __m256i fraction = _mm256_sub_epi32(_mm256_set1_epi32(2048), _mm256_and_si256(steps, _mm256_set1_epi32(2047)));
    store(to.fractions, _mm256_or_si256(fraction, _mm256_slli_epi32(fraction, 16)));
  }

  static int64_t load_two(const void* from) {
    int64_t numbers;
    ATTEND_MEMCPY(&numbers, from, sizeof numbers);
    return numbers;
  }
  static int32_t load_number(const void* from) {
    int32_t number;
    ATTEND_MEMCPY(&number, from, sizeof number);
    return number;
  }
};
