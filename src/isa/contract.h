// The operations that an instruction set must have, checked by the compiler, whose errors show the line here that is not
// fulfilled, which describes what the operation must do. src/guide/instruction-sets.md has the same as a table, with what a
// compiler cannot check; tests/unit/operations.h runs it.

// The operations of every instruction set.
template <class Isa>
struct CommonOperations {
  using Vec = typename Isa::Vec;
  using Factor = typename Isa::Factor;
  static_assert(panel_keys % Isa::lanes == 0, "attend: lanes: floats of a Vec, a divisor of 16");
  static_assert(Isa::tile_rows >= 1 && Isa::tile_rows <= config::tile_rows,
                "attend: tile_rows: rows of the largest tile, at most config::tile_rows, which work memory has room for");

  // Whether vectors take subnormal numbers for 0, whatever the processor is told: then there is has_below, FlushingOperations.
  bool flushes = Isa::flushes;

  Vec (*zero)() = &Isa::zero;                     // all lanes 0
  Vec (*broadcast)(float a) = &Isa::broadcast;    // all lanes a
  Factor (*factor)(float a) = &Isa::factor;       // a number that multiplies vectors, in whatever register fma takes it from
  Vec (*load)(const float* from) = &Isa::load;    // lanes floats from any address of a float
  void (*store)(float* to, Vec a) = &Isa::store;  // lanes floats to any address of a float
  Vec (*add)(Vec a, Vec b) = &Isa::add;           // a + b
  Vec (*sub)(Vec a, Vec b) = &Isa::sub;           // a - b
  Vec (*mul)(Vec a, Vec b) = &Isa::mul;           // a * b
  Vec (*fma)(Vec a, Vec b, Vec c) = &Isa::fma;    // a * b + c, rounded once
  Vec (*fma_by)(Factor a, Vec b, Vec c) = &Isa::fma;  // the same
  Vec (*max)(Vec a, Vec b) = &Isa::max;               // the larger, and a where b is NaN; on hosts, where a is NaN too
  float (*highest_lane)(Vec a) = &Isa::highest_lane;  // the largest lane of a, which has no NaN
  // The first floats, 1 to lanes of them, or to lanes - 1 where they are stored; no memory behind them is touched, and other
  // lanes hold anything.
  Vec (*load_first)(const float* from, int count) = &Isa::load_first;
  void (*store_first)(float* to, Vec a, int count) = &Isa::store_first;
  // a * 2^n for whole n <= 0, exact; 0 where n < -125, whatever a is; elsewhere NaN where a is.
  Vec (*scale_by_power)(Vec a, Vec n) = &Isa::scale_by_power;
};

// The further operations of hosts: attention/host.h.
template <class Isa>
struct HostOperations : CommonOperations<Isa> {
  using Vec = typename Isa::Vec;
  using Factor = typename Isa::Factor;
  static_assert(Isa::lanes >= 4, "attend: lanes: at least 4 on hosts");
  static_assert(Isa::tile_rows >= 2, "attend: tile_rows: at least 2 on hosts");
  static_assert(panel_keys % Isa::transposed == 0, "attend: int transposed: a divisor of 16");

  int (*kernel_rows)(int left) = &Isa::kernel_rows;  // rows of the next kernel, of so many that are left of a tile or a block
  int (*tile_vecs)(int rows) = &Isa::tile_vecs;      // vectors of keys or columns in a kernel of so many rows, a power of two
  int (*widening_vecs)(int rows) = &Isa::widening_vecs;  // the same where numbers are widened in registers: 1 to 4 rows
  int (*softmax_rows)(int left) = &Isa::softmax_rows;    // rows whose weights are computed side by side, of so many left
  // Tiles of one row and one vector; all go by steps, BySteps, or by loops of their own.
  void (*score_tile)(const ScoreOperands<float>& of) = &Isa::template score_tile<Isa, float, 1, 1>;
  void (*value_tile)(const float* weights, const ValueRows<float>& values, const int* visible, Sums sums,
                     int column) = &Isa::template value_tile<Isa, float, 1, 1>;
  // The size of the tile of floats that has a loop of its own for whole chains, WholeChains; 0 where there is none.
  int chain_rows = Isa::chain_rows, chain_vecs = Isa::chain_vecs;
  bool chains_values = Isa::chains_values;      // whether that loop takes chains of values, too
  bool stores_chains = Isa::stores_chains;      // whether these loops add their sums to what is there: StoredChains
  bool weighs_rows = Isa::weighs_rows;          // whether it has its own weights of a row: PanelWeights
  bool transposes_rows = Isa::transposes_rows;  // whether there are columns_of_rows and transpose_rows: RowOperations
  int transposed = Isa::transposed;             // how many rows and columns transpose takes

  Vec (*load_halves)(const Half* from) = &Isa::load;  // lanes numbers, widened exactly; none behind them is read
  Vec (*load_bfloats)(const Bfloat* from) = &Isa::load;
  Vec (*load_bytes)(const int8_t* from) = &Isa::load;
  void (*load_words)(const uint8_t* from, Vec* to) = &Isa::load_words;  // 16 bytes as the bits of lanes, 16 / lanes vectors
  Vec (*broadcast_half)(Half number) = &Isa::broadcast_half;
  Vec (*low_half)(Vec words) = &Isa::low_half;                     // the number in the low four bits of each of them
  Vec (*high_half)(Vec words) = &Isa::high_half;                   // and in the four above
  Vec (*accumulate)(Factor a, Vec b, Vec sum) = &Isa::accumulate;  // fma, where sum stays in a register of a tile
  // A lane's number in four bits from bit `at` on, above four_bits_above(2^(23 - place_of_bits(at))), which is 0 or that.
  float (*four_bits_above)(float power) = &Isa::four_bits_above;
  Vec (*four_bits)(Vec words) = &Isa::template four_bits<0>;
  Vec (*four_high_bits)(Vec words) = &Isa::template four_bits<28>;
  // to[16 i + j] = rows[j][column + i]
  void (*transpose)(const float* const* rows, int column, float* to) = &Isa::transpose;
  Vec (*higher)(Vec a, Vec b) = &Isa::higher;                 // the larger, and a where b is a quiet NaN; a is a number
  Vec (*min)(Vec a, Vec b) = &Isa::min;                       // the smaller, and a where one is NaN
  Vec (*first_of)(Vec a, Vec b, int count) = &Isa::first_of;  // the first lanes of a, the others of b
  bool (*any_above)(Vec a, Vec b) = &Isa::any_above;          // whether any lane of a is above b's lane; NaN is not
  Vec (*where_equal)(Vec a, Vec b, Vec then, Vec otherwise) = &Isa::where_equal;  // then where a == b; NaN equals nothing
  // a where the lane's byte is not 0, or its bit is 1, from the lowest on; else b. Only bytes of lanes are read, and higher
  // bits may be anything.
  Vec (*where_bytes)(const uint8_t* bytes, Vec a, Vec b) = &Isa::where_bytes;
  Vec (*where_bits)(unsigned bits, Vec a, Vec b) = &Isa::where_bits;
  Vec (*minus_reciprocal_guess)(Vec a) = &Isa::minus_reciprocal_guess;  // the float with the bits 0xfef311c7 - (bits of a)
  Vec (*two_to)(Vec n) = &Isa::two_to;  // 2^k for the whole number k in the low bits of n, -126 to 127
  // a times the float with the bits (bits of bias) + (bits of n << 23), exact; 0 where n < lowest; NaN where a is.
  Vec (*scale_by_low_bits)(Vec a, Vec n, Vec bias, Vec lowest) = &Isa::scale_by_low_bits;
  float (*sum_lanes)(const float* sums) = &Isa::sum_lanes;  // 16 floats, in pairs: (i, i+8), (i, i+4), (i, i+2), (i, i+1)

  // Whether vecs gives a power of two for 1 to `rows` rows.
  static constexpr bool gives_powers_of_two(int (*vecs)(int rows), int rows) {
    return rows == 0 || (vecs(rows) >= 1 && (vecs(rows) & (vecs(rows) - 1)) == 0 && gives_powers_of_two(vecs, rows - 1));
  }
};

// The further operations of embedded processors: attention/embedded.h.
template <class Isa>
struct EmbeddedOperations : CommonOperations<Isa> {
  // Scores, whole panels of them, become weights relative to `max`, and are added to the 16 sums: row_softmax.h.
  void (*weights_of_scores)(float* scores, int count, float max, const float* coefficients,
                            float* sums) = &Isa::weights_of_scores;
  int widened_columns = Isa::widened_columns;            // how many columns of other formats chains takes at once
  bool widens_apart = Isa::widens_apart;                 // whether their steps may lie side by side, too
  int row_outputs = Isa::template row_outputs<float>;    // how many rows outputs_of_rows takes, or 0: no panel_outputs either
  int (*columns)(int rows, bool apart) = &Isa::columns;  // and of floats
  int (*panel_columns)(int rows, int columns, int limit) = &Isa::panel_columns;  // of a panel, for so many that are seen
  // A few rows' and columns' sums of products, as chains.h defines them: any; where b's columns lie side by side; and such of
  // one row that go on from the sums that are there.
  void (*chains)(const ChainsOf<float>& c) = &Isa::chains;
  void (*panel_chains)(const ChainsOf<float>& c) = &Isa::panel_chains;
  void (*continue_chains)(const ChainsOf<float>& c) = &Isa::continue_chains;
  void (*chains_of_halves)(const ChainsOf<Half>& c) = &Isa::chains;
  void (*chains_of_bfloats)(const ChainsOf<Bfloat>& c) = &Isa::chains;
  void (*chains_of_bytes)(const ChainsOf<int8_t>& c) = &Isa::chains;
  void (*multiply_rows)(float* row, const float* by, int count) = &Isa::multiply_rows;  // row[i] *= by[i]
};

// The further operations of instruction sets that flush.
template <class Isa>
struct FlushingOperations {
  // Whether 2 |a| - 1 < limit for one of the numbers, as integers of 32 bits without a sign: a 0 never is.
  bool (*has_below)(const float* numbers, int count, uint32_t limit) = &Isa::has_below;
};
template <class Isa>
struct EmbeddedFlushing : FlushingOperations<Isa> {
  // The same, and to = from * factor.
  bool (*scale_row)(const float* from, int count, float factor, uint32_t limit, float* to) = &Isa::scale_row;
};

// The further operations of instruction sets that transpose weights of projections where they lie in rows.
template <class Isa>
struct RowOperations {
  using Vec = typename Isa::Vec;
  // to[i] has number i of as many rows as there are lanes, stride floats apart
  void (*columns_of_rows)(const float* rows, ptrdiff_t stride, Vec (&to)[4]) = &Isa::columns_of_rows;
  // The same of words of four bytes, which may be no floats, from any address on; stride in bytes
  void (*columns_of_words)(const uint8_t* rows, ptrdiff_t stride, Vec (&to)[4]) = &Isa::columns_of_rows;
  // to[16 i + j] = rows[stride j + i], for 16 bytes of 16 rows
  void (*transpose_halves)(const Half* rows, ptrdiff_t stride, Half* to) = &Isa::transpose_rows;
  void (*transpose_bfloats)(const Bfloat* rows, ptrdiff_t stride, Bfloat* to) = &Isa::transpose_rows;
  void (*transpose_bytes)(const int8_t* rows, ptrdiff_t stride, int8_t* to) = &Isa::transpose_rows;
  int (*row_tokens)(int bytes) = &Isa::row_tokens;  // the most tokens that go over rows of numbers of 1 or 2 bytes
};

// The loop for the weights of a row, of instruction sets that have one of their own.
template <class Isa>
struct PanelWeights {
  // Scores, one or more whole panels of them, become weights: 2^score, which is the polynomial of its fraction times the power
  // that scale_by_low_bits makes of the whole number, with this `lowest` and the bias that belongs to it. They are added to the
  // 16 sums, which hold nothing before they have begun. Of one panel, scores and sums may be one array.
  void (*weights_of_panels)(float* scores, int count, float lowest, bool begun, float* sums) = &Isa::weights_of_panels;
  bool is_own = Isa::weighs_rows;
};

// The loop over a whole chain of a tile of chain_rows x chain_vecs, of instruction sets that have one.
template <class Isa>
struct WholeChains {
  using Vec = typename Isa::Vec;
  using Sums = Vec (&)[Isa::chain_rows][Isa::chain_vecs];
  // sums[r] = sum over i < steps of factors[r * factor_stride + i] * the vectors at vectors + i * vector_stride, i ascending,
  // each step rounded once; its zeros may be negative. Of scores there are chain_dims steps and vectors panel_keys apart; with
  // chains_values there may be others, and no steps. False where the sums cannot be told: they hold nothing then.
  bool (*chain)(const float* factors, ptrdiff_t factor_stride, const float* vectors, ptrdiff_t vector_stride, int steps,
                Sums sums) = &Isa::chain;
};

// Loops over chains that add their sums to memory, or with `adds` false store them, instead of leaving them in registers.
template <class Isa>
struct StoredChains {
  // to[r][k] += sum over d < chains * chain_dims of query[r][d] * panels[k / 16][d][k % 16], in chains; chains: not 0.
  void (*scores)(const float* query, ptrdiff_t stride, const float* panels, ptrdiff_t panel_stride, int chains, float* to,
                 ptrdiff_t to_stride, bool adds) = &Isa::score_chains;
  // to[r][c] += sum over k < keys of weights[r][k] * values[k][c], one chain; keys: a multiple of 4, not 0.
  void (*values)(const float* weights, ptrdiff_t stride, const float* values, ptrdiff_t value_stride, int keys, float* to,
                 ptrdiff_t to_stride, bool adds) = &Isa::value_chain;
};

// Whether an instruction set has some operations, where it must.
template <bool must, class Operations>
struct Has {
  static constexpr bool all = true;
};
template <class Operations>
struct Has<true, Operations> {
  static constexpr bool all = (Operations(), true);
};

template <class Isa>
constexpr bool has_host_operations() {
  static_assert(Has<((Isa::chain_rows > 0 || Isa::chains_values) && !Isa::stores_chains), WholeChains<Isa>>::all, "");
  static_assert(Has<Isa::stores_chains, StoredChains<Isa>>::all, "");
  static_assert(Has<Isa::flushes, FlushingOperations<Isa>>::all, "");
  static_assert(Has<Isa::weighs_rows, PanelWeights<Isa>>::all, "");
  static_assert(Has<Isa::transposes_rows, RowOperations<Isa>>::all, "");
  static_assert(HostOperations<Isa>().gives_powers_of_two(Isa::tile_vecs, Isa::tile_rows),
                "attend: int tile_vecs(int rows): a power of two for all rows of tiles");
  return true;
}
template <class Isa>
constexpr bool has_embedded_operations() {
  static_assert(Has<Isa::flushes, EmbeddedFlushing<Isa>>::all, "");
  return EmbeddedOperations<Isa>().widened_columns > 0;
}
