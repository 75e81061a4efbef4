// The inner loops of embedded processors: what attention/embedded.h asks of an instruction set.

// Chains of fused multiply-adds for a few rows and columns: to[r][column + c] = or += sum over steps of
//
//   a[r * a_stride + step] * b[step * b_step + c * b_stride],  steps ascending from 0
//
// where either the columns of b lie side by side (b_stride is 1), or the steps do (b_step is 1). In the first case a single row
// of a is multiplied by a_scale first; in the second, a_scale is 1.
//
// Isa::chains computes the first `columns` columns, at most Isa::columns(rows, whether they lie apart), and reads nothing of b
// beyond these.
//
// The numbers of b are floats, or numbers of another format (numerics/formats.h), which are widened in registers: exactly, so
// the sums are the same as over floats. Then columns lie side by side, at most Isa::widened_columns, and b is aligned as its
// numbers are, not as words. A single row of a is what these loops are made for: with more, each widens the numbers anew.
template <class Number>
struct ChainsOf {
  int rows;  // Isa::tile_rows, or 1
  int columns;
  int steps;  // >= 1
  const float* a;
  ptrdiff_t a_stride;
  float a_scale;
  const Number* b;
  ptrdiff_t b_step;
  ptrdiff_t b_stride;
  float* const* to;
  int column;
  bool adds;
};
using Chains = ChainsOf<float>;

// Whole chains of one token's projection, at least one: to[o] = the sum of `chains` chains of chain_dims inputs, as
// ChainsOf computes each, added up in ascending order.
template <class Number>
struct OutputChains {
  const float* input;
  const Number* weights;  // of panel_keys outputs side by side; or rows, from output to output `stride` numbers apart
  ptrdiff_t stride;
  int chains;
  float* to;
};

// One token's projection by weights of 4 bits: to[o] = the sum of the chains of whole groups, at least one, for some outputs.
struct GroupOutputs {
  const float* input;
  const core::Int4Panel* panels;  // of these outputs, at most 16; null: weights lie in
  const core::Int4Group* rows;    // from output to output `stride` groups apart
  ptrdiff_t stride;
  int groups;
  int outputs;
  float* to;
};
