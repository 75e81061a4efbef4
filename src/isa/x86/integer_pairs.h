// The kernels of integer attention over a tile of rows that vectors of 256 and of 512 bits share: weights of scores, and sums
// of values, of 32 bits and made of pairs of 16-bit products. What is of a vector's length or of an instruction is in the
// parameter, a struct with
//
//   Vector, lanes                      of 32 bits
//   load, store                        whole vectors
//   load_lanes, store_lanes            the first `count` lanes, at least one; the others are zeros, and are not touched
//   all, difference                    a number in all lanes; a - b
//   shift_down, shift_down_unsigned    lanes shifted right, each by its own number
//   add_pairs                          sum += two products of 16 bits
//   add_pairs_of_two                   the same for two vectors and a pair in memory, where a vector has 256 bits
//   weighed_rows                       rows whose weights are computed side by side
//   words, pack                        a number of 16 bits in all lanes; lanes of two vectors as 16 bits, or the largest there
//   shift_words, add_words, difference_of_words, high_product, sum_of_pairs
//   Ends, ends_of, mark_ends           which distances have no weight; t, where that may be kept in it
//   power_of, fraction_of              of t, which is n + f in steps of 2^-11: 2^-n in some form, and f in steps of 2^-16
//   times_power                        a * power / 2, rounded, or 0 where distances have no weight

template <class Operations>
struct IntegerPairs : IntegerX86 {
  using Vector = typename Operations::Vector;
  static constexpr int lanes = Operations::lanes;

  template <int rows>
  static ATTEND_ALWAYS_INLINE void references(int32_t (*tile)[integer_chunk], const RowScales& scales, RowWeights& to) {
    Vector maxima[8];
    ATTEND_UNROLL
    for (int r = 0; r < 8; ++r) maxima[r] = r < rows ? largest<integer_chunk>(tile[r]) : maxima[0];
    references_of(combine_eight<Largest>(maxima), scales, to);
  }

  // weight_of of 32 keys of each row.
  template <int rows>
  static ATTEND_ALWAYS_INLINE void weights(int32_t (*tile)[integer_chunk], const RowScales& scales, RowWeights& by) {
    constexpr int together = Operations::weighed_rows, rest = rows % together;
    Vector sums[8];
    for (int r = 0; r + together <= rows; r += together) weights_of<together>(tile, scales, by, r, sums);
    if constexpr (rest > 0) weights_of<rest>(tile, scales, by, rows - rest, sums);
    ATTEND_UNROLL
    for (int r = rows; r < 8; ++r) sums[r] = sums[0];
    store(by.sum, combine_eight<Sum>(sums));
  }

  template <int rows>  // not inlined, as scores
  ATTEND_NOINLINE static void values(int32_t (*weights)[integer_chunk], const int16_t* values, int width,
                                     const RowMerges& merges, int32_t* sums) {
    for (int c = 0; c < width; c += 16) columns<rows, 16 / lanes>(weights, values, width, c, merges, sums);
  }

 protected:
  // Loaded once for a row: sums that are stored could be parts of a Merge, for all that a compiler knows. Shifts by lanes,
  // because on AMD's processors a shift of all lanes by a register's number takes the place of a multiplication.
  struct Shifts {
    Vector total;
    Vector chunk;
  };
  static ATTEND_ALWAYS_INLINE Shifts shifts_of(const Merge& merge) {
    return {Operations::all(merge.total), Operations::all(merge.chunk)};
  }

  // sums = (sums >> total) + (added >> chunk), of `count` columns, at least one. AVX2 takes longer with masks.
  static ATTEND_ALWAYS_INLINE void merge_columns(Vector added, const Shifts& shifts, int32_t* sums, int count) {
    const Vector shifted = Operations::shift_down(added, shifts.chunk);
    if (lanes == 8 && count >= lanes) {
      Operations::store(sums, sum(Operations::shift_down(Operations::load(sums), shifts.total), shifted));
    } else {
      const Vector before = Operations::shift_down(Operations::load_lanes(sums, count), shifts.total);
      Operations::store_lanes(sums, sum(before, shifted), count);
    }
  }

  // Adds the weighted values of `vectors` vectors of columns from c on. All blocks of 16 columns are whole, but for the last.
  template <int rows, int vectors>
  static ATTEND_ALWAYS_INLINE void columns(int32_t (*weights)[integer_chunk], const int16_t* values, int width, int c,
                                           const RowMerges& merges, int32_t* sums) {
    Vector added[rows][vectors];
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      ATTEND_UNROLL
      for (int v = 0; v < vectors; ++v) added[r][v] = Operations::all(merges[r].half);
    }
    // GCC would store or copy sums in each turn of the loop if it knew how many turns there are and where it begins.
    const int pairs = opaque(integer_chunk / 2);
    values = opaque(values + c * integer_chunk);
    for (int pair = 0; pair < pairs; ++pair, values += 32) {
      Vector two[vectors];
      ATTEND_UNROLL
      for (int v = 0; v < vectors; ++v)
        two[v] = Operations::load(values + v * lanes / 16 * 16 * integer_chunk + v * lanes % 16 * 2);
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        if constexpr (lanes == 8) {
          Operations::add_pairs_of_two(added[r], two[0], two[1], weights[r][pair]);
        } else {
          const Vector both = Operations::all(load_number(weights[r] + pair));
          ATTEND_UNROLL
          for (int v = 0; v < vectors; ++v) Operations::add_pairs(added[r][v], two[v], both);
        }
      }
    }
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      int32_t* const at = sums + r * ptrdiff_t(width) + c;
      const Shifts shifts = shifts_of(merges[r]);
      ATTEND_UNROLL
      for (int v = 0; v < vectors; ++v) {
        const int count = lanes == 16 && v < vectors - 1 ? lanes : width - c - v * lanes;
        if (v * lanes % 16 == 0 || count > 0) merge_columns(added[r][v], shifts, at + v * lanes, count);
      }
    }
  }

 private:
  template <int count>
  static ATTEND_ALWAYS_INLINE Vector largest(const int32_t* scores) {
    if constexpr (count == lanes)
      return Operations::load(scores);
    else
      return larger(largest<count / 2>(scores), largest<count / 2>(scores + count / 2));
  }

  // Weights of `rows` rows from `first` on, step by step for all of them: each step waits for the one before, and a processor
  // looks only so far ahead for others. The lanes of sums[r] add up to the sum of row r's weights. Not inlined: scores that
  // were read for the largest ones would be kept on the stack.
  template <int rows>
  ATTEND_NOINLINE static void weights_of(int32_t (*tile)[integer_chunk], const RowScales& scales, const RowWeights& by,
                                         int first, Vector* sums) {
    constexpr int per_row = 16 / lanes, vectors = rows * per_row;
    // t: distances from the largest score, then what weight_of calls t.
    Vector t[vectors], powers[vectors], weights[vectors];
    typename Operations::Ends ends[vectors];
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) {
      const int r = first + i / per_row;
      const int32_t* const scores = tile[r] + i % per_row * lanes;
      const Vector largest = Operations::all(by.largest[r]), end = both(scales.ends[r]);
      const Vector right = Operations::all(scales.right[r]);
      const Vector low = Operations::shift_down_unsigned(Operations::difference(largest, Operations::load(scores)), right);
      const Vector high =
          Operations::shift_down_unsigned(Operations::difference(largest, Operations::load(scores + 16)), right);
      // What has more than 16 bits is past the end anyway.
      t[i] = Operations::pack(low, high);
      ends[i] = Operations::ends_of(t[i], end);
    }
    if (scales.any_left != 0) {  // seldom
      ATTEND_UNROLL
      for (int i = 0; i < vectors; ++i) t[i] = Operations::shift_words(t[i], scales.left[first + i / per_row]);
    }
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) t[i] = Operations::high_product(t[i], both(scales.factors[first + i / per_row]));
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) t[i] = Operations::add_words(t[i], both(by.fractions[first + i / per_row]));
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) t[i] = Operations::mark_ends(t[i], ends[i]);
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) powers[i] = Operations::power_of(t[i]);
    // A product's upper half is (x * c) >> 11.
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) t[i] = Operations::fraction_of(t[i]);
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) weights[i] = polynomial_step(exp2_c2, t[i], Operations::words(exp2_c3));
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) weights[i] = polynomial_step(exp2_c1, t[i], weights[i]);
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) weights[i] = polynomial_step(exp2_c0, t[i], weights[i]);
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) {
      weights[i] = Operations::times_power(weights[i], powers[i], ends[i]);
      Operations::store(tile[first + i / per_row] + i % per_row * lanes, weights[i]);
      weights[i] = Operations::sum_of_pairs(weights[i]);
    }
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      sums[first + r] = per_row == 1 ? weights[r] : sum(weights[per_row * r], weights[per_row * r + per_row - 1]);
    }
  }

  static ATTEND_ALWAYS_INLINE Vector both(uint32_t pair) { return Operations::all(int32_t(pair)); }
  static ATTEND_ALWAYS_INLINE Vector polynomial_step(uint32_t coefficient, Vector x, Vector power) {
    return Operations::difference_of_words(Operations::words(coefficient), Operations::high_product(x, power));
  }
};
