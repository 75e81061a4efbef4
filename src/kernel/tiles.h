// The micro-kernels as the pipeline calls them: for a tile of `rows` rows, a number that is known at run time.
//
//   for each tile of rows:   Tiles::score, Tiles::softmax, Tiles::value
//
// Each picks the kernel for that number of rows; a jump a tile costs nothing beside the thousands of cycles of the tile.

// Where the rows of a tile take several kernels, they share so many keys, and so many columns of a chain's values, in the
// first-level cache: a kernel reads there what the kernel before it has read.
constexpr int shared_keys = 64, shared_columns = 64;

template <class Isa, class Number>
struct ScoreKernels {
  const float* query;
  const Panels& panels;
  int from, to;
  float* scores;

  template <int rows>
  ATTEND_ALWAYS_INLINE void operator()(Constant<rows>, int r) const {
    const ptrdiff_t dims = panels.head_dim;
    const float* const scales = panels.scales == nullptr ? nullptr : panels.scales + from;
    score_rows<Isa, Number, rows>(query + r * dims, static_cast<const Number*>(panels.data) + from * dims, panels.head_dim,
                                  scales, to - from, scores + r * config::score_keys + from);
  }
};

template <class Isa>
struct SoftmaxKernels {
  float* scores;
  const int* visible;
  RowMaximum* maxima;
  float* lane_sums;
  const Sums& sums;

  static constexpr bool exist(int rows) { return Isa::softmax_rows(rows) == rows; }
  template <int rows>
  ATTEND_ALWAYS_INLINE void operator()(Constant<rows>, int r) const {
    softmax_side_by_side<Isa, rows>(scores + r * config::score_keys, visible + r, maxima + r, lane_sums + r * panel_keys,
                                    sums_from(sums, r));
  }
};

template <class Isa, class Number>
struct ValueKernels {
  const float* weights;
  const ValueRows<Number>& chain;
  const int* visible;
  const Sums& sums;
  int column, end;

  template <int rows>
  ATTEND_ALWAYS_INLINE void operator()(Constant<rows>, int r) const {
    value_columns<Isa, Number, rows>(weights + r * config::score_keys, chain, visible + r, sums_from(sums, r), column, end);
  }
};

// Tiles::value for one chain of keys, or for any number where one kernel takes all rows and columns.
template <class Isa, class Number>
void value_kernels(int rows, const float* weights, const Values& values, const int* visible, Sums sums) {
  const ValueRows<Number> chain = {static_cast<const Number*>(values.data), values.stride, values.first_chain};
  const int at_once = widens<Number> || kernel_rows<Isa, float>(rows) == rows ? sums.value_dim : shared_columns;
  for (int column = 0; column < sums.value_dim; column += at_once) {
    const int end = at_most(column + at_once, sums.value_dim);
    for_each_kernel<Isa, Number>(rows, ValueKernels<Isa, Number>{weights, chain, visible, sums, column, end});
  }
}

template <class Isa>
void value_of_format(int rows, const float* weights, const Values& values, const int* visible, Sums sums) {
  switch (values.format) {
    case core::Format::float16:
      return value_kernels<Isa, Half>(rows, weights, values, visible, sums);
    case core::Format::bfloat16:
      return value_kernels<Isa, Bfloat>(rows, weights, values, visible, sums);
    case core::Format::int8:
      return value_kernels<Isa, int8_t>(rows, weights, values, visible, sums);
    case core::Format::int4:
      return value_int4_row<Isa>(weights, values, visible[0], sums);
    case core::Format::int16:  // only outputs of integers
    case core::Format::float32:
      return value_kernels<Isa, float>(rows, weights, values, visible, sums);
  }
}

// Whether one pass over a tile's values goes through all chains: the kernel takes all rows and columns, and can go on after a
// chain, where kernels of floats for several rows end. By the next pass, over other columns, the cache would have lost many.
template <class Isa, class Number>
ATTEND_ALWAYS_INLINE constexpr bool takes_all_chains(int rows, int dims) {
  return (rows == 1 || widens<Number>)&&kernel_rows<Isa, Number>(rows) == rows &&
         dims <= value_vecs<Isa, Number>(rows) * Isa::lanes;
}

// The kernels of a tile, which calls with and without features share.
template <class Isa>
struct Tiles {
  // scores[r][k] = query[r] * keys[k] for keys from ... to - 1 and the rest of the last one's panel.
  //   query   [rows][head_dim], scaled
  //   panels  of key 0; for other formats than float32 there are at most most_widening_rows rows, for int4 one
  //   from    a whole number of panels
  //   scores  of key 0: [rows][score_keys], or as many as there are for one row
  ATTEND_HOT ATTEND_NOINLINE static void score(int rows, const float* query, const Panels& panels, int from, int to,
                                               float* scores) {
    switch (panels.format) {
      case core::Format::float16:
        return for_each_kernel<Isa, Half>(rows, ScoreKernels<Isa, Half>{query, panels, from, to, scores});
      case core::Format::bfloat16:
        return for_each_kernel<Isa, Bfloat>(rows, ScoreKernels<Isa, Bfloat>{query, panels, from, to, scores});
      case core::Format::int8:
        return for_each_kernel<Isa, int8_t>(rows, ScoreKernels<Isa, int8_t>{query, panels, from, to, scores});
      case core::Format::int4:
        return score_int4_row<Isa>(query, panels, from, to, scores);
      case core::Format::int16:  // only outputs of integers
      case core::Format::float32:
        break;
    }
    const int at_once = kernel_rows<Isa, float>(rows) == rows ? to : shared_keys;
    for (; from < to; from += at_once) {
      const int end = at_most(from + at_once, to);
      for_each_kernel<Isa, float>(rows, ScoreKernels<Isa, float>{query, panels, from, end, scores});
    }
  }

  // Replaces scores by weights relative to the rows' running maxima, raises these where a score is much higher, and adds the
  // weights to the denominators' partial sums: online_softmax.h.
  //   scores     [rows][score_keys]
  //   visible    [rows], never falling: how many of the keys a row sees; not all 0
  //   maxima     [rows]
  //   lane_sums  [rows][16]
  //   sums       [rows][value_dim], which follow the maxima; if they have not begun, the lane sums have not either
  ATTEND_HOT ATTEND_NOINLINE static void softmax(int rows, float* scores, const int* visible, RowMaximum* maxima,
                                                 float* lane_sums, const Sums& sums) {
    const SoftmaxKernels<Isa> kernels = {scores, visible, maxima, lane_sums, sums};
    for (int r = 0, at_once; r < rows; r += at_once) {
      at_once = Isa::softmax_rows(rows - r);
      with_rows<SoftmaxKernels<Isa>, Isa::softmax_rows(Isa::tile_rows)>(at_once, kernels, r);
    }
  }

  // sums[r] += sum over k < visible[r] of weights[r][k] * values[k]: one chain of the first values.first_chain keys, then one
  // of each chain_keys, added up in ascending order. A row that sees none of a chain's keys adds zero.
  //   weights  [rows][score_keys], or as many as there are for one row
  //   values   for other formats than float32, at most most_widening_rows rows that see the same keys; for int4 one
  //   visible  [rows], never falling; not all 0
  //   sums     [rows][value_dim], which of int4 have begun
  ATTEND_HOT ATTEND_NOINLINE static void value(int rows, const float* weights, const Values& values, const int* visible,
                                               Sums sums) {
    const int keys = visible[rows - 1], dims = sums.value_dim;
    const bool at_once = values.format == core::Format::float32 ? takes_all_chains<Isa, float>(rows, dims)
                         : values.format == core::Format::int4  ? true
                                                                : takes_all_chains<Isa, Half>(rows, dims);
    if (at_once || keys <= values.first_chain) return value_of_format<Isa>(rows, weights, values, visible, sums);
    if constexpr (has_narrow_tiles<Isa>) {
      static_assert(takes_all_chains<Isa, Half>(narrow_rows, Isa::lanes), "what is left are floats");
      if (rows == narrow_rows && dims <= Isa::lanes && visible[0] == keys && values.first_chain == chain_keys) {
        return narrow_value_tile<Isa>(weights, static_cast<const float*>(values.data), values.stride, keys, sums);
      }
    }
    Values chain = values;
    int in_chain[Isa::tile_rows];
    for (int k = 0, end; k < keys; k = end) {
      end = at_most(k + chain.first_chain, keys);
      for (int i = 0; i < rows; ++i) in_chain[i] = at_most(at_least(visible[i] - k, 0), end - k);
      value_of_format<Isa>(rows, weights + k, chain, in_chain, sums);
      chain.data = moved(chain.data, (end - k) * chain.stride, chain.format);
      chain.first_chain = chain_keys;
      sums.begun = true;
    }
  }
};

// The same for a tile of floats that one kernel takes, over keys of one chain: nothing is left to choose.
template <class Isa, int rows>
struct OneKernel {
  static void score(int /*rows*/, const float* query, const Panels& panels, int /*from*/, int to, float* scores) {
    score_rows<Isa, float, rows>(query, static_cast<const float*>(panels.data), panels.head_dim, nullptr, to, scores);
  }
  static void softmax(int /*rows*/, float* scores, const int* visible, RowMaximum* maxima, float* lane_sums, Sums sums) {
    constexpr int at_once = Isa::softmax_rows(rows);
    softmax_side_by_side<Isa, at_once>(scores, visible, maxima, lane_sums, sums);
    if constexpr (at_once < rows) {
      OneKernel<Isa, rows - at_once>::softmax(rows, scores + at_once * config::score_keys, visible + at_once, maxima + at_once,
                                              lane_sums + at_once * panel_keys, sums_from(sums, at_once));
    }
  }
  static void value(int /*rows*/, const float* weights, const Values& values, const int* visible, Sums sums) {
    const ValueRows<float> chain = {static_cast<const float*>(values.data), values.stride, chain_keys};
    value_columns<Isa, float, rows>(weights, chain, visible, sums, 0, sums.value_dim);
  }
};
