// Linear projections in integers, by the kernels that multiply queries by keys: rows of weights are the keys of tokens.
//
//   for each 16 outputs:
//     start = bias - zero points . weights, for which the first tile has a row of zero points
//     for each tile of tokens:
//       output = clamped(round((start + token . weights) * factor / 2^shift) + output_zero)

// Inside `tile`, GCC for RISC-V keeps numbers of the innermost loop in memory where it optimises for size.
#if defined(__riscv)
#define ATTEND_RISCV_NOINLINE ATTEND_NOINLINE
#else
#define ATTEND_RISCV_NOINLINE ATTEND_ALWAYS_INLINE
#endif

// Without a branch that depends on data. |a|, |b| < 2^62.
inline int64_t lower_of(int64_t a, int64_t b) { return b + ((a - b) & ((a - b) >> 63)); }
inline int64_t higher_of(int64_t a, int64_t b) { return a - ((a - b) & ((a - b) >> 63)); }

inline int64_t multiplied(int32_t sum, const core::IntegerMultiplier& by) {
  return (int64_t(sum) * by.factor + (int64_t(1) << (by.shift - 1))) >> by.shift;
}

// The end of an output: [low, high] is the range of its type.
template <class Output>
Output integer_output(int32_t sum, const core::IntegerLinear& linear, int output) {
  if constexpr (sizeof(Output) == sizeof(int32_t)) {
    return sum;
  } else {
    constexpr int64_t high = (1 << (8 * sizeof(Output) - 1)) - 1, low = -high - 1;
    const int64_t number = multiplied(sum, linear.multipliers[output * linear.multiplier_stride]) + linear.output_zero;
    return Output(higher_of(lower_of(number, high), low));
  }
}

// The chunk of packed weights with an output, behind its sums.
inline const int8_t* weight_chunk(const core::IntegerLinear& linear, int output) {
  const ptrdiff_t row = ptrdiff_t(sizeof(int32_t)) + core::whole_quads(linear.inputs);
  return linear.weights + (output & -integer_chunk) * row + sizeof(int32_t) * integer_chunk;
}

// packed: weights are in quads; on hosts alone.
template <class Isa, class Output, bool packed = false>
class IntegerProjection {
  using Query = typename Isa::Query;
  using Tile = int32_t[integer_chunk];

 public:
  explicit IntegerProjection(const core::IntegerLinear& linear) : linear_(linear) {
    for (int8_t& zero : zeros_) zero = int8_t(linear.input_zero);
  }

  void run() {
    if (linear_.tokens == 0) return;
    for (output_ = 0; output_ < linear_.outputs; output_ += most_outputs) {
      count_ = at_most(linear_.outputs - output_, most_outputs);
      for (int k = 0; k < count_; ++k) starts_[k] = linear_.bias == nullptr ? 0 : linear_.bias[output_ + k];
      int t = 0;
      if (linear_.input_zero != 0) tile<2>(t++, true);
      for (; t + 2 <= linear_.tokens; t += 2) tile<2>(t, false);
      if (t < linear_.tokens) tile<1>(t, false);
    }
  }

 private:
  static_assert(Isa::tile_rows >= 2, "a token and zero points go through one tile");

  // Half of a tile's numbers. The other half of the tile has the sums so far, so that the stack holds one tile.
  static constexpr int most_outputs = integer_chunk / 2;

  // Inputs at a time, where kernels want queries in an order of their own, or zero points are a row.
  static constexpr int most_inputs = 64;

  // The tokens from t on; or zero points, which make the starts, and one token.
  template <int rows>
  ATTEND_NOINLINE void tile(int t, bool zeros_first) {
    const int first = zeros_first ? 1 : 0;
    Tile sums[rows];
    const int8_t* from[rows] = {zeros_};
    for (int r = first; r < rows; ++r) from[r] = linear_.input + (t + r - first) * linear_.input_stride;
    for (int r = 0; r < rows; ++r) {
      for (int k = 0; k < most_outputs; ++k) sums[r][most_outputs + k] = 0;
    }
    const int step = Isa::copies_queries || zeros_first || packed ? most_inputs : linear_.inputs;
    for (int i = 0; i < linear_.inputs; i += step) {
      add_products<rows>(from, i, at_most(linear_.inputs - i, step), sums);
      for (int r = first; r < rows; ++r) from[r] += step;
    }
    for (int k = 0; zeros_first && k < count_; ++k) starts_[k] -= sums[0][most_outputs + k];
    for (int r = first; r < rows; ++r, ++t) {
      Output* const to = static_cast<Output*>(linear_.output) + t * linear_.output_stride + output_;
      for (int k = 0; k < count_; ++k) {
        to[k] = integer_output<Output>(starts_[k] + sums[r][most_outputs + k], linear_, output_ + k);
      }
    }
  }

  // Adds products of `dims` inputs of each row with weights from input i on.
  template <int rows>
  void add_products(const int8_t* const* from, int i, int dims, Tile* sums) const {
    constexpr int before = 4;  // numbers that a kernel may read before its queries
    constexpr int room = Isa::copies_queries ? most_inputs : 0;
    alignas(8) int16_t memory[before + rows * room];
    const Query* queries[rows];
    for (int r = 0; r < rows; ++r) {
      queries[r] = Isa::prepare(from[r], dims, IntegerQueryMemory{memory + before, memory + before + r * room, r, rows});
    }
    if constexpr (packed) {
      int8_t weights[most_outputs * most_inputs];
      rows_of_key_quads(weight_chunk(linear_, output_) + 4 * (output_ % integer_chunk) + i * integer_chunk, count_, dims,
                        weights);
      Isa::template scores<rows>(queries, weights, dims, count_, dims, sums);
    } else {
      multiply_rows<rows>(queries, linear_.weights + output_ * linear_.weight_stride + i, dims, sums);
    }
    for (int r = 0; r < rows; ++r) {
      for (int k = 0; k < count_; ++k) sums[r][most_outputs + k] += sums[r][k];
    }
  }

  template <int rows>
  ATTEND_RISCV_NOINLINE void multiply_rows(const Query* const* queries, const int8_t* weights, int dims, Tile* sums) const {
    Isa::template scores<rows>(queries, weights, linear_.weight_stride, count_, dims, sums);
  }

  const core::IntegerLinear& linear_;
  int output_ = 0;  // the first of the outputs that are computed, and how many there are
  int count_ = 0;
  int32_t starts_[most_outputs];
  int8_t zeros_[most_inputs];
};

#undef ATTEND_RISCV_NOINLINE

// Residual addition in integers, and copies in other steps.

// Calls a macro with the types of a, b and the output of each sum that there is.
#define ATTEND_EACH_INTEGER_SUM(call)                                                                                     \
  call(int8_t, int8_t, int8_t) call(int8_t, int8_t, int16_t) call(int8_t, int16_t, int8_t) call(int8_t, int16_t, int16_t) \
      call(int16_t, int8_t, int8_t) call(int16_t, int8_t, int16_t) call(int16_t, int16_t, int8_t)                         \
          call(int16_t, int16_t, int16_t)

// Their number, as backends take it.
template <class A, class B, class Output>
constexpr int integer_sum_types() {
  return int(4 * (sizeof(A) - 1) + 2 * (sizeof(B) - 1) + sizeof(Output) - 1);
}

// A number of 16 bits is 256 times its upper byte, with the sign, plus its lower one: so no product leaves 32 bits. Upper bytes
// do not exist of 8 bits.
template <class Number>
ATTEND_ALWAYS_INLINE int32_t upper_product(Number a, int32_t factor) {
  return sizeof(Number) == 1 ? 0 : (int32_t(a) >> 8) * factor;
}
template <class Number>
ATTEND_ALWAYS_INLINE int32_t lower_product(Number a, int32_t factor) {
  return (sizeof(Number) == 1 ? int32_t(a) : int32_t(a) & 255) * factor;
}

template <class A, class B, class Output>
ATTEND_NOINLINE void add_integers(const core::IntegerSum& sum) {
  const A* a = static_cast<const A*>(sum.a);
  const B* b = static_cast<const B*>(sum.b);
  Output* to = static_cast<Output*>(sum.output);
  const int32_t by_a = sum.by.a, by_b = sum.by.b, zero = sum.zero, lowest = sum.lowest;
  const int32_t start = (1 << (sum.by.shift - 1)) - sum.a_zero * by_a - sum.b_zero * by_b;
  const int shift = sum.by.shift - 8;
  constexpr int32_t largest = (1 << (8 * sizeof(Output) - 1)) - 1;
  const auto output = [=](A x, B y) ATTEND_INLINE_AT_ALL_LEVELS {
    const int32_t low = lower_product(x, by_a) + lower_product(y, by_b) + start;
    const int32_t number = ((upper_product(x, by_a) + upper_product(y, by_b) + (low >> 8)) >> shift) + zero;
    if (config::embedded) return clamped(number, lowest, largest);  // without a branch on numbers
    const int32_t above = number < lowest ? lowest : number;
    return above > largest ? largest : above;
  };
  int i = 0;
  if constexpr (!config::embedded) {
    // Loops of a known length, with results that lie elsewhere: compilers make them vectors.
    constexpr int columns = 16;
    for (; i + columns <= sum.count; i += columns) {
      Output outputs[columns];
      for (int c = 0; c < columns; ++c) outputs[c] = Output(output(a[i + c], b[i + c]));
      ATTEND_MEMCPY(to + i, outputs, sizeof outputs);
    }
  }
  for (; i < sum.count; ++i) to[i] = Output(output(a[i], b[i]));
}
