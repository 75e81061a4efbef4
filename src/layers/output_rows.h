// Outputs of a projection of one token or a few, against weights that lie in rows, in any number format: 16 rows at a time are
// transposed on the way, floats in registers, other formats to a panel in the first-level cache, widened when loaded.

// Numbers of a row in 16 bytes, which are transposed at a time.
template <class Number>
constexpr int piece_inputs = 16 / int(sizeof(Number));

// The tokens of a projection over rows, and where these and outputs lie. Strides count numbers.
struct OverRows {
  const float* input;  // [tokens][inputs], at least piece_inputs
  ptrdiff_t input_stride;
  ptrdiff_t row_stride;
  int inputs;
  ptrdiff_t output_stride;
  bool prefetch;  // for weights that the second-level cache does not hold; others are read faster without
};

// How many numbers ahead rows are prefetched, where `left` inputs of these 16 are still to be read. Near their ends it leads to
// the beginnings of the next 16 rows. Hardware prefetches 16 streams too late, most of all where all of them enter a page at
// once. Measured: src/guide/measured-projections.md.
template <class Isa, class Number>
ptrdiff_t numbers_ahead(const OverRows& of, int left) {
  constexpr int near = Isa::rows_ahead / int(sizeof(Number));
  return left > near ? near : near - of.inputs + panel_keys * of.row_stride;
}

// Prefetches a line of each of some rows.
template <int count, class Number>
ATTEND_ALWAYS_INLINE void prefetch_rows(const Number* rows, ptrdiff_t stride) {
  for (int i = 0; i < count; i += 4) {
    ATTEND_UNROLL
    for (int j = 0; j < 4; ++j, rows = opaque(rows + stride)) ATTEND_PREFETCH(rows);
  }
}

// sums += columns c to 3 of as many rows as a vector has lanes, times the inputs of `count` tokens, except columns before
// `begin`, which were added already.
template <class Isa, int vector, int count, int c = 0, int vecs>
ATTEND_ALWAYS_INLINE void add_columns(const typename Isa::Vec (&columns)[4], const float* input, ptrdiff_t input_stride,
                                      int begin, typename Isa::Vec (*sums)[vecs]) {
  if (c >= begin) {
    ATTEND_UNROLL
    for (int t = 0; t < count; ++t) {
      const float* const token_input = input + t * input_stride;
      sums[t][vector] = Isa::template add_column<Isa, c>(token_input, columns[c], sums[t][vector]);
    }
  }
  if constexpr (c < 3) add_columns<Isa, vector, count, c + 1>(columns, input, input_stride, begin, sums);
}

// Four columns of 16 rows, transposed a vector at a time. Where there is one vector, each token has its own address when its
// turn comes; where there are more, inputs are loaded again for the next: compilers would keep more than there are registers.
template <class Isa, int vector = 0, int tokens, int vecs>
ATTEND_ALWAYS_INLINE void add_piece(const float* input, ptrdiff_t input_stride, const float* rows, ptrdiff_t row_stride,
                                    int begin, typename Isa::Vec (&sums)[tokens][vecs]) {
  constexpr int at_once = vecs == 1 ? 1 : tokens;
  typename Isa::Vec columns[4];
  Isa::columns_of_rows(rows + vector * Isa::lanes * row_stride, row_stride, columns);
  const float* at = input;
  ATTEND_UNROLL
  for (int t = 0; t < tokens; t += at_once) {
    add_columns<Isa, vector, at_once>(columns, at, input_stride, begin, sums + t);
    at += at_once * input_stride;
    if (tokens > 1) at = Isa::anew(at);
  }
  if (tokens > 1) input = Isa::anew(input);
  if constexpr (vector + 1 < vecs) add_piece<Isa, vector + 1>(input, input_stride, rows, row_stride, begin, sums);
}

// output[t][o] = sum over i of rows[o][i] * input[t][i] for 16 rows and all tokens, in chains of chain_dims inputs.
//   rows    [16][inputs]
//   output  [tokens][16]
//
// Floats. The last four columns of a chain that is not whole overlap the four before, so that nothing behind a row is read.
template <class Isa, int tokens>
ATTEND_NOINLINE void output_rows(const OverRows& of, const float* rows, float* output) {
  constexpr int vecs = panel_keys / Isa::lanes, piece = piece_inputs<float>;
  const float* input = of.input;
  const ptrdiff_t input_stride = of.input_stride, row_stride = of.row_stride;
  typename Isa::Vec total[vecs];  // of a single token; totals of several are where the outputs will be
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) total[v] = Isa::broadcast(-0.0f);  // to which adding a chain changes not even a zero's sign
  for (int inputs = of.inputs; inputs > 0; inputs -= chain_dims) {
    typename Isa::Vec sums[tokens][vecs];
    set_to_zero<Isa>(sums);
    if (Isa::rows_ahead > 0 && of.prefetch) {  // opaque, or a register of the loop below is kept for it
      prefetch_rows<panel_keys>(rows + numbers_ahead<Isa, float>(*opaque(&of), inputs), row_stride);
    }
    const int count = at_most(inputs, chain_dims), left = count % piece;
    for (int i = count / piece; i > 0; --i, input = opaque(input + piece), rows = opaque(rows + piece)) {
      add_piece<Isa>(input, input_stride, rows, row_stride, 0, sums);
    }
    if (left > 0) {
      add_piece<Isa>(input + left - piece, input_stride, rows + left - piece, row_stride, piece - left, sums);
    }
    ATTEND_UNROLL
    for (int t = 0; t < tokens; ++t) {
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        if constexpr (tokens == 1) {
          total[v] = Isa::add(total[v], sums[t][v]);
        } else {
          float* const to = output + t * of.output_stride + v * Isa::lanes;
          Isa::store(to, inputs == of.inputs ? sums[t][v] : Isa::add(Isa::load(to), sums[t][v]));
        }
      }
    }
  }
  ATTEND_UNROLL
  for (int v = 0; tokens == 1 && v < vecs; ++v) Isa::store(output + v * Isa::lanes, total[v]);
}

// panel[i][o] = rows[o][i] for 16 rows `stride` numbers apart. The last piece begins before its place, so that nothing behind
// a row is read; where there are fewer inputs than a piece, before the panel.
//   prefetch  is called with the first input of each piece
template <class Isa, class Number, class Prefetch>
ATTEND_ALWAYS_INLINE void transpose_block(const Number* rows, ptrdiff_t stride, int inputs, Number* panel, Prefetch prefetch) {
  constexpr int piece = piece_inputs<Number>;
  int i = 0;
  for (; inputs - i >= piece; i += piece) {
    prefetch(i);
    Isa::transpose_rows(rows + i, stride, panel + i * panel_keys);
  }
  if (i < inputs) Isa::transpose_rows(rows + inputs - piece, stride, panel + (inputs - piece) * panel_keys);
}

// The same 16 rows as a panel of floats, transposed as they are, which is less to do, and then widened.
//   work  16 * inputs numbers
template <class Isa, class Number>
void widen_transposed(const float* rows, ptrdiff_t stride, int inputs, float* work, float* panel) {
  Number* const numbers = static_cast<Number*>(static_cast<void*>(work));
  transpose_block<Isa>(numbers_of<Number>(rows), stride, inputs, numbers, [](int) ATTEND_INLINE_LAMBDA {});
  widen_numbers<Isa>(numbers, panel_keys * inputs, panel);
}
template <class Isa>
ATTEND_NOINLINE void widen_rows(core::Format format, const float* rows, ptrdiff_t stride, int inputs, float* work,
                                float* panel) {
  if (format == core::Format::float16) return widen_transposed<Isa, Half>(rows, stride, inputs, work, panel);
  if (format == core::Format::bfloat16) return widen_transposed<Isa, Bfloat>(rows, stride, inputs, work, panel);
  return widen_transposed<Isa, int8_t>(rows, stride, inputs, work, panel);
}

// Numbers that are widened, a block of inputs at a time, which stays in the first-level cache as a panel, behind a place for a
// piece. Whether to prefetch is a type here, because it is asked at each step.
template <class Isa, bool prefetch, class Number>
ATTEND_NOINLINE void output_rows(const OverRows& of, int tokens, const Number* rows, float* output) {
  constexpr int piece = piece_inputs<Number>, block = 8 * chain_dims;
  alignas(config::alignment) Number memory[(piece + block) * panel_keys];
  Number* const panel = memory + piece * panel_keys;
  for (int from = 0; from < of.inputs; from += block) {
    const int left = of.inputs - from, count = at_most(left, block);
    const Number* const block_rows = rows + from;
    transpose_block<Isa>(block_rows, of.row_stride, count, panel, [&](int i) ATTEND_INLINE_LAMBDA {
      if (!prefetch) return;
      const int first = i / piece % 4 * 4;  // a line has four pieces, and each prefetches it for four of the rows
      prefetch_rows<4>(block_rows + i + numbers_ahead<Isa, Number>(of, left - i) + first * of.row_stride, of.row_stride);
    });
    for (int t = 0; t < tokens; ++t) {
      output_panel<Isa, Number, false>(of.input + t * of.input_stride + from, panel, count, from > 0,
                                       output + t * of.output_stride);
    }
  }
}
