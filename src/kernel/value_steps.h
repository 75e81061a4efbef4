// Chains of weighted values of a few query rows step by step, in any number format, and their ends.

// The sums of row r and of the rows after it.
inline Sums sums_from(Sums sums, int r) {
  sums.data += r * ptrdiff_t(sums.value_dim);
  return sums;
}

constexpr int far_values = 16384, near_values = 4096;  // bytes of values that are widened, prefetched: see score_steps.h

// The first `count` numbers of a vector, or all: nothing behind them is read.
template <class Isa, class Number>
ATTEND_ALWAYS_INLINE typename Isa::Vec load_columns(const Number* from, int count) {
  if constexpr (!widens<Number>) {
    return Isa::load_first(from, count);
  } else {
    if (count == Isa::lanes) return Isa::load(from);
    Number padded[Isa::lanes] = {};
    for (int i = 0; i < count; ++i) padded[i] = from[i];
    return Isa::load(padded);
  }
}

// One step of a chain: chain[r][v] += weight[r] * value[v], for rows from `first` on. A single vector has only its first
// `columns` lanes; nothing beyond them is read.
template <class Isa, class Number, int rows, int vecs>
ATTEND_ALWAYS_INLINE void value_step(const float* weights, const Number* value, int columns, int first,
                                     typename Isa::Vec (&chain)[rows][vecs]) {
  const auto load = [&](int v) ATTEND_INLINE_LAMBDA {
    return vecs == 1 ? load_columns<Isa>(value, columns) : Isa::load(value + v * Isa::lanes);
  };
  const auto weight = [&](int r) ATTEND_INLINE_LAMBDA { return Isa::factor(weights[r * config::score_keys]); };
  multiply_by_factors<Isa, Number, false>(weight, load, chain, first);
}

// The operands of a value tile, and where it reads next.
template <class Isa, class Number, int rows, int vecs>
struct ValueSteps {
  using Numbers = Number;
  static constexpr bool apart = false;
  static constexpr int numbers = vecs * Isa::lanes;  // of a step

  const ValueRows<Number>& values;
  const float* weights;
  const Number* value;
  int columns;          // of a single vector
  ptrdiff_t near, far;  // distances at which values that are widened are prefetched
  ptrdiff_t ahead;      // of one row
  ptrdiff_t stride;
  // Values of the steps that take() takes, and of the step after them. With one pointer less, the array would be as large as a
  // register of GCC's for four vectors of AArch64, which it cannot address by.
  const Number* next[5];

  ATTEND_ALWAYS_INLINE const float* factors(int r) const { return weights + r * config::score_keys; }
  ATTEND_ALWAYS_INLINE const Number* vectors(int k, int v) const { return next[k] + v * Isa::lanes; }
  ATTEND_ALWAYS_INLINE const Number* first(int v) const { return value + v * Isa::lanes; }  // of step 0
  template <int steps>
  ATTEND_ALWAYS_INLINE void take() {
    ATTEND_UNROLL
    for (int i = 0; i <= steps; ++i) {
      next[i] = opaque(value + i * stride);
      const Number* const at = i == 0 ? value : next[i];
      if (widens<Number> && i < steps) prefetch_lines<numbers* int(sizeof(Number))>(at + near, at + far);
    }
  }
  ATTEND_ALWAYS_INLINE void advance(int steps) { weights += steps, value = next[steps]; }
  ATTEND_ALWAYS_INLINE void step(int /*k*/, typename Isa::Vec (&sums)[rows][vecs]) {
    value_step<Isa, Number, rows, vecs>(weights, value, numbers, 0, sums);
    next[1] = opaque(value + stride);
  }
};

// Four at a time: the processor foresees the end of a loop of few rounds, and the rows of a triangle end in many places.
template <class Isa, class At, int rows, int vecs>
ATTEND_ALWAYS_INLINE void BySteps::value_steps(At& at, int keys, typename Isa::Vec (&sums)[rows][vecs]) {
  using Number = typename At::Numbers;
  constexpr int unrolled = widens<Number> && vecs == 1 ? 1 : 4;
  const bool prefetches_next = keys == chain_keys && (rows > 1 || at.ahead > 0);
  const auto step = [&](int k) ATTEND_INLINE_LAMBDA {
    if constexpr (widens<Number>) {
      prefetch_lines<At::numbers* int(sizeof(Number))>(at.value + at.near, at.value + at.far);
      value_step<Isa, Number, rows, vecs>(at.weights + k, at.value, at.columns, 0, sums);
      at.value = opaque(at.value + at.values.stride);
    } else {
      value_step<Isa, Number, rows, vecs>(at.weights + k, at.value, at.columns, 0, sums);
      at.value += at.values.stride;
    }
  };
  int k = 0;
  for (; k + unrolled <= keys; k += unrolled) {
    if constexpr (vecs > 1 && !widens<Number>) {
      if (prefetches_next) Isa::template prefetch_values<rows, At::numbers>(at.value, at.values.stride, at.ahead);
    }
    ATTEND_UNROLL
    for (int i = 0; i < unrolled; ++i) step(k + i);
  }
  for (; k < keys; ++k) step(k);
  at.weights += keys;
}

// Ends a chain: sums[r] += chain[r].
template <class Isa, int rows, int vecs>
ATTEND_ALWAYS_INLINE void add_chain(const typename Isa::Vec (&chain)[rows][vecs], Sums sums, int column, int columns) {
  // Masked only where they must be: a masked store is not forwarded to the load of a whole vector.
  const bool whole = vecs > 1 || columns == Isa::lanes;
  float* to = sums.data + column;
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r, to += sums.value_dim) {
    if (Isa::end_row(chain[r], to, sums.begun)) continue;
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      float* const at = to + v * Isa::lanes;
      const auto before = !sums.begun ? Isa::zero() : whole ? Isa::load(at) : Isa::load_first(at, columns);
      const auto sum = Isa::add(before, chain[r][v]);
      if (whole) {
        Isa::store(at, sum);
      } else {
        Isa::store_first(at, sum, columns);
      }
    }
  }
}
