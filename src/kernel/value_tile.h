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
  constexpr bool one_chain = rows > 1 && !widens<Number>;
  const int columns = at_most(sums.value_dim - column, vecs * Isa::lanes), row_bytes = sums.value_dim * int(sizeof(Number));
  const ptrdiff_t near = near_values / row_bytes * values.stride, far = far_values / row_bytes * values.stride;  // whole rows
  const ptrdiff_t ahead = rows == 1 && !widens<Number> ? Isa::values_ahead(values.stride) : 0;
  ValueSteps<Isa, Number, rows, vecs> at = {values, weights, values.data + column, columns, near,
                                            far,    ahead,   values.stride,        {}};
  int left = visible[0], in_chain = at_most(left, values.first_chain);
  if constexpr (rows >= 4 && !widens<Number>) Isa::template prefetch_sums<rows>(sums, column);
  do {
    typename Isa::Vec chain[rows][vecs];
    set_to_zero<Isa>(chain);
    Isa::template value_steps<Isa>(at, in_chain, chain);
    left -= in_chain;
    if constexpr (one_chain) {
      if (visible[rows - 1] > visible[0]) {
        const Number* value = opaque(at.value);  // or GCC spills a sum in the loop above
        weights = opaque(at.weights);
        int k = visible[0];
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
  } while (!one_chain && left > 0);
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
    Isa::template value_tile<Isa, Number, rows, vecs>(weights, values, visible, sums, column);
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
