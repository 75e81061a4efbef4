// The vocabulary of an instruction set, in plain C++ with vectors of one lane: the reference for all others.

struct Scalar : FloatArithmetic {
  using Vec = float;
  using Factor = Vec;
  static constexpr int lanes = 1;

  static constexpr int tile_rows = ATTEND_SOFT_FLOAT ? 1 : detail::smaller(4, config::tile_rows);
  static constexpr int columns(int /*rows*/, bool /*apart*/) { return ATTEND_SOFT_FLOAT ? panel_keys : 4; }
  // How many columns of a panel to compute where so many are seen: as many as `chains` takes, because all its keys exist.
  static constexpr int panel_columns(int /*rows*/, int /*columns*/, int limit) { return limit; }
  static constexpr int widened_columns = ATTEND_SOFT_FLOAT ? panel_keys : 4;
  static constexpr bool widens_apart = true;
  // Whether there are loops for projections of one token: over a panel of floats, and over so many rows.
  template <class Number>
  static constexpr int row_outputs = 0;
  static constexpr bool flushes = false;

  static void weights_of_scores(float* scores, int count, float max, const float* coefficients, float* lane_sums);

  static Vec zero() { return 0.0f; }
  static Vec broadcast(float a) { return a; }
  static Factor factor(float a) { return broadcast(a); }
  static Vec load(const float* from) { return *from; }
  static void store(float* to, Vec a) { *to = a; }
  static Vec load_first(const float* from, int /*count*/) { return *from; }
  static void store_first(float* to, Vec a, int /*count*/) { *to = a; }
  static Vec max(Vec a, Vec b) { return less(a, b) ? b : a; }  // a where b is NaN
  static float highest_lane(Vec a) { return a; }
  static Vec min(Vec a, Vec b) { return less(b, a) ? b : a; }  // a where one is NaN
  static Vec minus_reciprocal_guess(Vec a) { return bits_to<float>(0xfef311c7u - bits_to<uint32_t>(a)); }

  static Vec where_equal(Vec a, Vec b, Vec then, Vec otherwise) {
    return !less(a, b) && !less(b, a) && magnitude(a) <= 0x7f800000u ? then : otherwise;  // b is never NaN
  }

  static Vec two_to(Vec n) { return bits_to<float>((bits_to<uint32_t>(n) + 127u) << 23); }

  // a * 2^n for whole n <= 0, and zero where n < -125, so that the power is an ordinary number. A NaN a stays NaN.
  static Vec scale_by_power(Vec a, Vec n) {
    if (less(n, -125.0f)) return 0.0f;
    return mul(a, bits_to<float>(uint32_t(whole(n) + 127) << 23));  // n may be NaN, and then what this multiplies is too
  }

  // a * 2^(k + bias - 127) for the whole number k in the low bits of n, and zero where n < lowest. A NaN a stays NaN.
  static Vec scale_by_low_bits(Vec a, Vec n, int bias, Vec lowest) {
    if (less(n, lowest)) return 0.0f;
    return mul(a, bits_to<float>((bits_to<uint32_t>(n) + uint32_t(bias)) << 23));
  }

  template <class Number>
  static void widen(const Number* from, int count, float* to) {
    for (int i = 0; i < count; ++i) to[i] = ATTEND_ISA::widen(from[i]);
  }

  // One of the two chains of a group of 4 bits, its numbers `stride` floats apart.
  static void widen_chain(const Int4Numbers& from, int chain, float* to, ptrdiff_t stride) {
    ATTEND_ISA::widen_chain(from, chain, to, stride);
  }

  // row[i] *= by[i]
  static void multiply_rows(float* row, const float* by, int count) {
    for (int i = 0; i < count; ++i) row[i] = mul(row[i], by[i]);
  }

  // Out of line: among the loops of tiles, small processors have no registers for these.
  template <class Number>
  ATTEND_NOINLINE static void chains(const ChainsOf<Number>& c) {
    any_chains(c);
  }

  ATTEND_HOT ATTEND_NOINLINE static void chains(const Chains& c) { any_chains(c); }

  // Column by column: little code, where there are few.
  template <class Number>
  ATTEND_NOINLINE static void single_chains(const ChainsOf<Number>& c) {
    one_by_one(c);
  }

  static void panel_chains(const Chains& c) { chains(c); }  // where b's columns lie side by side

  // Chains of one row that go on from the sums in to[0], which take the result. Columns of b lie side by side.
  static void continue_chains(const Chains& c) {
    for (int column = 0; column < c.columns; ++column) {
      float& sum = c.to[0][c.column + column];
      for (int step = 0; step < c.steps; ++step) sum = fma(c.a[step], c.b[step * c.b_step + column], sum);
    }
  }

  // Outputs whose weights are groups of 4 bits: what the 16 numbers stand for is a table, filled for each group.
  ATTEND_NOINLINE static void outputs_of_groups(const GroupOutputs& c) {
    float memory[16];
    float* const weights = opaque(&memory[0]);  // or the address of each weight is computed from the stack pointer
    for (int o = 0; o < c.outputs; ++o) {
      const float* input = c.input;
      const core::Int4Group* const row = c.rows + o * c.stride;
      for (int g = 0; g < c.groups; ++g) {
        const Int4Numbers group = c.panels != nullptr ? numbers_of(c.panels[g], o) : numbers_of(row[g]);
        int4_scale_of(group).fill(weights);
        const float low = sum_of_group<0>(input, group, weights), high = sum_of_group<1>(input + chain_dims, group, weights);
        c.to[o] = add(g > 0 ? add(c.to[o], low) : low, high);
        input += core::int4_group;
      }
    }
  }

 protected:
  // A weight of 0 leaves a sum as it is, unless the input is infinite or NaN: to look is cheaper than to compute in software.
  ATTEND_ALWAYS_INLINE static float add_weight(float input, float weight, float sum) {
    if (ATTEND_SOFT_FLOAT && bits_to<uint32_t>(weight) == 0 && is_finite(input)) return sum;
    return fma(input, weight, sum);
  }

  template <int chain>
  ATTEND_ALWAYS_INLINE static float sum_of_group(const float* input, const Int4Numbers& group, const float* weights) {
    const uint8_t* bytes = group.bytes;
    float sum = 0.0f;
    for (int word = 0; word < 4; ++word, bytes += group.step, input += 4) {
      ATTEND_UNROLL
      for (int byte = 0; byte < 4; ++byte) sum = add_weight(input[byte], weights[bytes[byte] >> 4 * chain & 15], sum);
    }
    return sum;
  }

  template <class Number>
  ATTEND_ALWAYS_INLINE static void any_chains(const ChainsOf<Number>& c) {
    if (ATTEND_SOFT_FLOAT || c.columns < 4) {  // in software, only the arithmetic itself takes time
      one_by_one(c);
    } else if (c.rows == 1) {
      side_by_side<1, 4>(c);
    } else {
      side_by_side<tile_rows, 4>(c);
    }
  }

  template <int rows, int columns, class Number>
  static void side_by_side(const ChainsOf<Number>& c) {
    float sums[rows][columns] = {};
    const float* a = c.a;
    const Number* b = c.b;
    for (int step = 0; step < c.steps; ++step) {
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        const float factor = rows == 1 ? mul(a[step], c.a_scale) : a[r * c.a_stride + step];
        ATTEND_UNROLL
        for (int column = 0; column < columns; ++column) {
          sums[r][column] = fma(factor, ATTEND_ISA::widen(b[column * c.b_stride]), sums[r][column]);
        }
      }
      b += c.b_step;
    }
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      float* to = c.to[r] + c.column;
      ATTEND_UNROLL
      for (int column = 0; column < columns; ++column) to[column] = c.adds ? add(to[column], sums[r][column]) : sums[r][column];
    }
  }

  template <class Number>
  static void one_by_one(const ChainsOf<Number>& c) {
    for (int r = 0; r < (ATTEND_SOFT_FLOAT ? 1 : c.rows); ++r) {
      const float* a = c.a + r * c.a_stride;
      for (int column = 0; column < c.columns; ++column) {
        const Number* b = c.b + column * c.b_stride;
        float sum = 0.0f;
        for (int step = 0; step < c.steps; ++step) {
          sum = fma(c.rows == 1 && !ATTEND_SOFT_FLOAT ? mul(a[step], c.a_scale) : a[step], ATTEND_ISA::widen(*b), sum);
          b += c.b_step;
        }
        float& to = c.to[r][c.column + column];
        to = c.adds ? add(to, sum) : sum;
      }
    }
  }
};
