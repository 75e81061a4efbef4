// What an instruction set's loops are called with: the inner loops of embedded processors (attention/embedded.h), and tiles,
// with what a set does for these where it has no loops of its own.

// Chains of fused multiply-adds for a few rows and columns: to[r][column + c] = or += sum over steps of
//
//   a[r * a_stride + step] * b[step * b_step + c * b_stride],  steps ascending from 0
//
// where either the columns of b lie side by side (b_stride is 1), or the steps do (b_step is 1). In the first case a single row
// of a is multiplied by a_scale first; in the second, a_scale is 1.
//
// Isa::chains computes the first `columns` columns, at most Isa::columns(rows, whether they lie apart), and reads no more of b.
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

constexpr int at_most(int a, int limit) { return a < limit ? a : limit; }
constexpr int at_least(int a, int limit) { return a > limit ? a : limit; }

// The operands of a tile of scores. Strides count numbers.
template <class Number>
struct ScoreOperands {
  const float* query;
  ptrdiff_t query_stride;  // from row to row
  const Number* keys;
  ptrdiff_t panel_stride;  // from panel to panel
  int dims;
  const float* scales;  // of these keys, or null; only of numbers that are widened
  float* scores;
  ptrdiff_t score_stride;  // from row to row
  bool adds;               // the first chain, too, is added to what is there
};

// Values of consecutive keys, `stride` numbers apart.
template <class Number>
struct ValueRows {
  const Number* data;
  ptrdiff_t stride;
  int first_chain;  // keys until the first chain ends
};

// The weighted sums of rows, [value_dim] each, side by side. Before they have begun they hold nothing.
struct Sums {
  float* data;
  int value_dim;
  bool begun;
  bool raises_always;  // whether maxima are raised for every higher score
};

// The compiler moves no load over this. GCC would otherwise load all vectors of several steps first, and spill sums to the
// stack to make room for them.
ATTEND_ALWAYS_INLINE void keep_loads_in_order() { ATTEND_HIDE_MEMORY(); }

template <class Isa, int rows, int vecs>
ATTEND_ALWAYS_INLINE void set_to_zero(typename Isa::Vec (&sums)[rows][vecs]) {
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) sums[r][v] = Isa::zero();
  }
}

// Whether loops of whole chains are assembly: not where loads are to be checked or intrinsics are emulated, nor where there are
// eight registers, nor on AArch64 where the first byte is the high one.
#if ATTEND_ASSEMBLY && (defined(__x86_64__) || (defined(__aarch64__) && !ATTEND_BIG_ENDIAN)) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(ATTEND_EMULATED)
#define ATTEND_WHOLE_CHAINS 1
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#undef ATTEND_WHOLE_CHAINS
#endif
#endif
#endif
#ifdef ATTEND_WHOLE_CHAINS
constexpr bool has_whole_chains = true;
#else
constexpr bool has_whole_chains = false;
#endif

// The bodies of tiles of values: kernel/value_tile.h.
template <class Isa, class Number, int rows, int vecs>
void value_tile(const float* weights, const ValueRows<Number>& values, const int* visible, Sums sums, int column);
template <class Isa, int rows, int vecs>
void whole_value_tile(const float* weights, const ValueRows<float>& values, const int* visible, Sums sums, int column);

// What an instruction set does where it has no loops of its own: tiles go by steps, each of which multiplies and adds once for
// each sum. What it does otherwise it names anew; it is `Isa` here, and kernel/ has the bodies.
struct BySteps {
  static constexpr int chain_rows = 0, chain_vecs = 0;
  static constexpr bool chains_values = false, stores_chains = false;
  static constexpr bool weighs_rows = false, transposes_rows = false, flushes = false;

  // scores[r][k] = or += sum over d of query[r][d] * keys[k / 16][d][k % 16]: score_steps.h.
  template <class Isa, class Number, int rows, int vecs>
  static void score_tile(const ScoreOperands<Number>& of);
  // sums[r] += sum over k < visible[r] of weights[r][k] * values[k], for columns from `column` on: value_tile.h.
  template <class Isa, class Number, int rows, int vecs>
  ATTEND_ALWAYS_INLINE static void value_tile(const float* weights, const ValueRows<Number>& values, const int* visible,
                                              Sums sums, int column) {
    ATTEND_ISA::value_tile<Isa, Number, rows, vecs>(weights, values, visible, sums, column);
  }

  // Adds the next steps of a chain to sums, which are zero; `at` is ScoreSteps, PanelSteps or ValueSteps, and is moved on.
  // Values may go other ways than scores.
  template <class Isa, class At, int rows, int vecs>
  static void steps(At& at, int left, typename Isa::Vec (&sums)[rows][vecs]);
  template <class Isa, class At, int rows, int vecs>
  static void value_steps(At& at, int keys, typename Isa::Vec (&sums)[rows][vecs]);
  // The multiply-add of a step of so many rows.
  template <class Isa, bool scores = false, int rows = 1>
  ATTEND_ALWAYS_INLINE static typename Isa::Vec add_product(typename Isa::Factor a, typename Isa::Vec b,
                                                            typename Isa::Vec sum) {
    return Isa::accumulate(a, b, sum);
  }
  // Whether a row's chain ended here: to = or += sums, and no zero is negative. Otherwise kernels add vector by vector.
  template <class Vec, int vecs>
  static constexpr bool end_row(const Vec (&/*sums*/)[vecs], float* /*to*/, bool /*adds*/) {
    return false;
  }

  // highest[r] = higher(highest[r], each vector of row r), of `count` scores, one or more whole panels of them.
  template <class Isa, int rows>
  static void highest_of_rows(const float* scores, ptrdiff_t stride, int count, typename Isa::Vec (&highest)[rows]);
  // Whether there is a loop for the weights of one row, and these rows went through it: weights_of_panels.
  template <int stride, class Maximum>
  static constexpr bool weigh_rows(int /*rows*/, float* /*scores*/, int /*count*/, const Maximum* /*maxima*/, bool /*begun*/,
                                   float* /*lane_sums*/) {
    return false;
  }

  // Where hardware prefetches too late: a line of keys of the step for which it is loaded; values after the next four, for one
  // row values_ahead() floats; the sums that a tile will be added to.
  template <int rows>
  static void prefetch_keys(const float* /*line*/) {}
  template <int rows, int floats>
  static void prefetch_values(const float* /*value*/, ptrdiff_t /*stride*/, ptrdiff_t /*ahead*/) {}
  static constexpr ptrdiff_t values_ahead(ptrdiff_t /*stride*/) { return 0; }
  template <int rows>
  static void prefetch_sums(const Sums& /*sums*/, int /*column*/) {}

  // Projections. By how many bytes weights in rows are prefetched; where it is 0, outputs that are added to are not either.
  static constexpr int rows_ahead = 512;
  // sum + column * inputs[c], where four inputs may be loaded.
  template <class Isa, int c>
  ATTEND_ALWAYS_INLINE static typename Isa::Vec add_column(const float* inputs, typename Isa::Vec column,
                                                           typename Isa::Vec sum) {
    return Isa::fma(Isa::factor(inputs[c]), column, sum);
  }
  // An address that is computed, or loaded from, anew, where compilers keep more of them than there are registers, or
  // instructions reach less far than from one to another.
  template <class Pointer>
  ATTEND_ALWAYS_INLINE static Pointer anew(Pointer pointer) {
    return opaque(pointer);
  }
};

// The same for an instruction set that has a loop for whole chains of one tile of floats. Their sums are left in registers,
// WholeChains in contract.h, or stored, StoredChains.
enum class ChainEnds { in_registers, stored };
template <int rows_of_chain, int vecs_of_chain, ChainEnds ends = ChainEnds::in_registers>
struct ByChains : BySteps {
  static constexpr int chain_rows = has_whole_chains ? rows_of_chain : 0, chain_vecs = vecs_of_chain;
  static constexpr bool stores_chains = has_whole_chains && ends == ChainEnds::stored, chains_values = stores_chains;
  template <class Number, int rows, int vecs>
  static constexpr bool is_own = sizeof(Number) == sizeof(float) && rows == chain_rows&& vecs == chain_vecs;

  template <class Isa, class Number, int rows, int vecs>
  static void score_tile(const ScoreOperands<Number>& of);  // score_tile.h
  template <class Isa, class Number, int rows, int vecs>
  ATTEND_ALWAYS_INLINE static void value_tile(const float* weights, const ValueRows<Number>& values, const int* visible,
                                              Sums sums, int column) {
    if constexpr (ends == ChainEnds::stored && is_own<Number, rows, vecs>) {
      whole_value_tile<Isa, rows, vecs>(weights, values, visible, sums, column);
    } else {
      ATTEND_ISA::value_tile<Isa, Number, rows, vecs>(weights, values, visible, sums, column);
    }
  }
};

// The gates of a token: none, one, or one for each key dimension.
enum class StateGate { none, one, each };
// How many columns a set's own loop takes, Isa::pass_state; 0: there is none.
template <class Isa>
constexpr int state_columns = 0;

// Some columns of a state of linear attention over one chain of key dimensions: they take a token and are read by it.
//
//   S_dc = fma(key_d, u_c, gate_d · S_dc), then to_c += the sum over d of by · factor_d · S_dc
//
// Without keys they are only read; without `to` nothing is kept of the sums.
struct StateChain {
  float* state;
  int stride, dims;  // `stride` floats from key dimension to key dimension
  const float *factors, *keys, *gates, *u;
  float by, gate;
  float* to;
};
