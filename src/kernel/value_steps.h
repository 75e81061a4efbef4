// Chains of weighted values of a few query rows step by step, in any number format, and their ends.

// Values of consecutive keys, `stride` numbers apart.
template <class Number>
struct ValueRows {
  const Number* data;
  ptrdiff_t stride;
  int first_chain;  // keys until the first chain ends
};

// The sums of row r and of the rows after it.
inline Sums sums_from(Sums sums, int r) {
  sums.data += r * ptrdiff_t(sums.value_dim);
  return sums;
}

constexpr int far_values = 16384, near_values = 4096;  // bytes of values that are widened, prefetched: see score_steps.h

// How many floats ahead the values of one row are prefetched: a whole number of keys, so that the lines are this head's. 0, for
// none, where keys lie further apart than that.
template <class Isa>
ptrdiff_t values_ahead(ptrdiff_t stride) {
  constexpr int most = Isa::prefetch_ahead;
  return stride > 0 && stride <= most ? most / int(stride) * stride : 0;
}

// Prefetches the values after the next four, where the hardware prefetcher starts too late. One row is bound by memory, a few
// rows about equally by memory and arithmetic. Tiles of floats return to the same keys for the next columns, then go on to the
// next chain.
//   ahead  of one row
template <class Isa, int rows, int floats>
ATTEND_ALWAYS_INLINE void prefetch_values(const float* value, ptrdiff_t stride, ptrdiff_t ahead) {
  ATTEND_UNROLL
  for (int i = 0; i < 4; ++i) {
    if constexpr (prefetches<Isa>(rows)) {
      value += stride;
      prefetch_lines<floats* int(sizeof(float))>(value + floats, value + chain_keys * stride);
    } else if constexpr (rows == 1 && Isa::prefetch_ahead > 0) {
      constexpr int line_floats = 16;
      value += stride;
      ATTEND_UNROLL
      for (int c = 0; c < floats; c += line_floats) __builtin_prefetch(value + ahead + c);
    }
  }
}

// Prefetches the sums that a chain will be added to, or at its end the multiply-adds would wait for them: rows of many columns
// do not stay in the caches from one block of keys to the next.
template <class Isa, int rows>
ATTEND_ALWAYS_INLINE void prefetch_sums(Sums sums, int column) {
  if (!sums.begun) return;
  const float* to = sums.data + column;
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) {
    __builtin_prefetch(to, 1);
    to = opaque(to + sums.value_dim);
  }
}

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

// The distance between values of consecutive keys, and the distance at which values that are widened are prefetched.
struct ValueDistances {
  ptrdiff_t stride, near, far;
};

// The next `steps` steps of a chain where factors are used by lane. Returns where the values after them lie.
template <class Isa, int steps, bool begins = false, class Number, int rows, int vecs>
ATTEND_ALWAYS_INLINE const Number* value_lane_steps(const float* weights, const Number* value, const ValueDistances& by,
                                                    typename Isa::Vec (&chain)[rows][vecs]) {
  // With one pointer less, the array would be as large as a register of GCC's for four vectors, which it cannot address by.
  const Number* at[steps + 1];
  ATTEND_UNROLL
  for (int i = 0; i <= steps; ++i) {
    at[i] = opaque(value + i * by.stride);
    if (widens<Number> && i < steps) {
      prefetch_lines<vecs * Isa::lanes* int(sizeof(Number))>(at[i] + by.near, at[i] + by.far);
    }
  }
  multiply_by_lanes<Isa, steps, false, begins>([&](int r) ATTEND_INLINE_LAMBDA { return weights + r * config::score_keys; },
                                               [&](int i, int v) ATTEND_INLINE_LAMBDA { return at[i] + v * Isa::lanes; },
                                               chain);
  return at[steps];
}

// The next four steps by a loop of the instruction set's own.
template <class Isa, class Number, int rows, int vecs>
ATTEND_ALWAYS_INLINE const Number* value_four_steps(const float* weights, const Number* value, const ValueDistances& by,
                                                    typename Isa::Vec (&chain)[rows][vecs]) {
  if constexpr (widens<Number>) {
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) {
      const Number* const at = value + i * by.stride;
      prefetch_lines<vecs * Isa::lanes* int(sizeof(Number))>(at + by.near, at + by.far);
    }
  }
  Isa::four_steps({weights, weights + (rows - 1) * config::score_keys}, {value, value + 4 * Isa::lanes}, by.stride, chain);
  return opaque(value + 4 * by.stride);
}

// All steps of a chain of `keys` keys that all rows see. Returns where the values after them lie.
template <class Isa, class Number, int rows, int vecs>
ATTEND_ALWAYS_INLINE const Number* value_lane_chain(const float* weights, const Number* value, int keys, ValueDistances by,
                                                    typename Isa::Vec (&chain)[rows][vecs]) {
  if constexpr (Isa::lane_factors == 4) {
    if (takes_fours<Isa, Number>(vecs) && keys >= 4) {
      value = value_lane_steps<Isa, 4, true>(weights, value, by, chain);
      keys -= 4;
      weights += 4;
    } else {
      set_to_zero<Isa>(chain);
    }
    for (; keys >= 4; keys -= 4, weights += 4) value = value_lane_steps<Isa, 4>(weights, value, by, chain);
    for (; keys > 0; --keys, ++weights) value = value_lane_steps<Isa, 1>(weights, value, by, chain);
  } else {
    set_to_zero<Isa>(chain);
    for (; keys >= 4; keys -= 4, weights += 4) value = value_four_steps<Isa>(weights, value, by, chain);
    for (; keys > 0; --keys, ++weights) {
      value_step<Isa, Number, rows, vecs>(weights, value, vecs * Isa::lanes, 0, chain);
      value = opaque(value + by.stride);
    }
  }
  return value;
}

// Ends a chain: sums[r] += chain[r].
template <class Isa, int rows, int vecs>
ATTEND_ALWAYS_INLINE void add_chain(const typename Isa::Vec (&chain)[rows][vecs], Sums sums, int column, int columns) {
  // Masked only where they must be: a masked store is not forwarded to the load of a whole vector.
  const bool whole = vecs > 1 || columns == Isa::lanes;
  float* to = sums.data + column;
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) {
    if constexpr (takes_fours<Isa, float>(vecs)) {
      end_lane_chain<Isa>(chain[r], to, sums.begun);
      to += sums.value_dim;
      continue;
    }
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
    to += sums.value_dim;
  }
}
