// Weighted sums of values for a few query rows, in any number format.

// Weighted values, sums[r] += sum over k < visible[r] of weights[r][k] * values[k], k ascending, for `rows` rows and `vecs`
// vectors of columns: a chain of the first first_chain keys, then one of each chain_keys.
//
// The chains stay in registers through the loop over keys. First come the keys that all rows see, then, in the same chain, the
// keys that only later rows see, so that a masked value is never touched. A single vector may be the row's last, of fewer
// columns than lanes; nothing beyond them is read or written.
//   weights  [rows][score_keys]
//   visible  [rows], never falling; the same for all rows if numbers are widened. What only some see is of one chain
template <class Isa, class Number, int rows, int vecs>
ATTEND_NOINLINE void value_tile(const float* weights, const ValueRows<Number>& values, const int* visible, Sums sums,
                                int column) {
  using Vec = typename Isa::Vec;
  constexpr int floats = vecs * Isa::lanes;
  const int columns = at_most(sums.value_dim - column, floats);
  const int row_bytes = sums.value_dim * int(sizeof(Number));
  [[maybe_unused]] const ptrdiff_t near = near_values / row_bytes * values.stride, far = far_values / row_bytes * values.stride;
  [[maybe_unused]] const ptrdiff_t ahead = rows == 1 && !widens<Number> ? values_ahead<Isa>(values.stride) : 0;
  const Number* value = values.data + column;
  constexpr bool by_lane = takes_four_steps<Isa>(rows, vecs) && vecs > 1;
  int left = visible[0], in_chain = at_most(left, values.first_chain);
  if constexpr (Isa::prefetch_ahead > 0 && rows >= 4 && !widens<Number>) prefetch_sums<Isa, rows>(sums, column);
  do {
    Vec chain[rows][vecs];
    if constexpr (!by_lane) set_to_zero<Isa>(chain);
    [[maybe_unused]] const bool prefetches_next = in_chain == chain_keys && (rows > 1 || ahead > 0);
    const auto step = [&](int k) ATTEND_INLINE_LAMBDA {
      if constexpr (widens<Number>) {
        prefetch_lines<floats* int(sizeof(Number))>(value + near, value + far);
        value_step<Isa, Number, rows, vecs>(weights + k, value, columns, 0, chain);
        value = opaque(value + values.stride);
      } else {
        value_step<Isa, Number, rows, vecs>(weights + k, value, columns, 0, chain);
        value += values.stride;
      }
    };
    // Four at a time: the processor foresees the end of a loop of few rounds, and the rows of a triangle end in many places.
    int k = 0;
    constexpr int unrolled = widens<Number> && vecs == 1 ? 1 : 4;
    if constexpr (by_lane) {
      value = value_lane_chain<Isa>(weights, value, in_chain, {values.stride, near, far}, chain);
    } else {
      if constexpr (Isa::chains_values && !Isa::ends_chains && has_whole_chains<Isa, Number>(rows, vecs)) {
        Vec whole[rows][vecs];  // has an address, and so no registers
        if (Isa::chain(weights, config::score_keys, value, values.stride, in_chain, whole)) {
          ATTEND_UNROLL
          for (int r = 0; r < rows; ++r) {
            ATTEND_UNROLL
            for (int v = 0; v < vecs; ++v) chain[r][v] = whole[r][v];
          }
          value += in_chain * values.stride;
          k = in_chain;
        }
      }
      for (; k + unrolled <= in_chain; k += unrolled) {
        if constexpr (vecs > 1 && !widens<Number>) {
          if (prefetches_next) prefetch_values<Isa, rows, floats>(value, values.stride, ahead);
        }
        ATTEND_UNROLL
        for (int i = 0; i < unrolled; ++i) step(k + i);
      }
      for (; k < in_chain; ++k) step(k);
    }
    weights += in_chain, left -= in_chain;
    if constexpr (rows > 1 && !widens<Number>) {
      if (visible[rows - 1] > visible[0]) {
        value = opaque(value);  // or GCC spills a sum in the loop above
        weights = opaque(weights);
        k = visible[0];
        ATTEND_UNROLL
        for (int first = 1; first < rows; ++first) {
          for (; k < visible[first]; ++k, ++weights) {
            value_step<Isa, Number, rows, vecs>(weights, value, columns, first, chain);
            value = opaque(value + values.stride);
          }
        }
      }
    }
    add_chain<Isa>(chain, sums, column, columns);
    sums.begun = true;
    in_chain = at_most(left, chain_keys);
  } while ((rows == 1 || widens<Number>)&&left > 0);
}

// The same where an instruction set has a loop of its own for whole chains: one that all rows see whole, or step by step. Apart
// from the steps, for which a function has to keep its caller's registers.
template <class Isa, int rows, int vecs>
ATTEND_NOINLINE void whole_value_tile(const float* weights, const ValueRows<float>& values, const int* visible, Sums sums,
                                      int column) {
  const int keys = at_most(visible[0], values.first_chain);
  if (visible[rows - 1] != keys || keys % 4 != 0 || keys == 0) {
    return value_tile<Isa, float, rows, vecs>(weights, values, visible, sums, column);
  }
  if constexpr (Isa::prefetch_ahead > 0) prefetch_sums<Isa, rows>(sums, column);
  Isa::value_chain(weights, config::score_keys, values.data + column, values.stride, keys, sums.data + column, sums.value_dim,
                   sums.begun);
}

// Vectors of columns of the widest tile.
template <class Isa, class Number>
constexpr int value_vecs(int rows) {
  return widens<Number> ? Isa::widening_vecs(rows) : Isa::tile_vecs(rows);
}

// The same for columns from `column` to `end`, the last of a row or a whole number of vectors: wide tiles, then narrower ones.
// Fewer columns than a tile of another format are seldom, and go a row at a time.
template <class Isa, class Number, int rows, int vecs = value_vecs<Isa, Number>(rows)>
void value_columns(const float* weights, const ValueRows<Number>& values, const int* visible, Sums sums, int column, int end) {
  constexpr int wide = vecs * Isa::lanes;
  for (; vecs > 1 ? end - column >= wide : column < end; column += wide) {
    if constexpr (Isa::ends_chains && has_whole_chains<Isa, Number>(rows, vecs)) {
      whole_value_tile<Isa, rows, vecs>(weights, values, visible, sums, column);
    } else {
      value_tile<Isa, Number, rows, vecs>(weights, values, visible, sums, column);
    }
  }
  if (vecs == 1 || column == end) return;
  if constexpr (!widens<Number>) {
    value_columns<Isa, Number, rows, at_least(vecs / 2, 1)>(weights, values, visible, sums, column, end);
  } else {
    for (int r = 0; r < rows; ++r) {
      value_columns<Isa, Number, 1, vecs == 8 ? 4 : 1>(weights + r * config::score_keys, values, visible + r,
                                                       sums_from(sums, r), column, end);
    }
  }
}
