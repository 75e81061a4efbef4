// Which kernels there are, and the operands that they are called with. An instruction set names the sizes once:
//
//   tile_rows            the most rows that share one pass over keys
//   kernel_rows(left)    the rows of the next kernel, of `left` rows; there are kernels for the numbers that it gives
//   tile_vecs(rows)      vectors of keys or columns of the widest tile of so many rows; narrower ones, by halves, follow
//   widening_vecs(rows)  the same where numbers are widened in registers
//   softmax_rows(left)   the rows of the next softmax, some of the same numbers

// Whether numbers must be widened to floats. Numbers of one or two bytes are widened in registers.
template <class Number>
constexpr bool widens = sizeof(Number) != sizeof(float);

constexpr int most_widening_rows = 4;  // the most rows of a block, one tile then, that widens numbers in registers

// The number of columns that one call of Isa::chains takes.
template <class Isa, class Number>
constexpr int chain_columns(const ChainsOf<Number>& chains, bool apart) {
  if constexpr (widens<Number>) return Isa::widened_columns;
  return Isa::columns(chains.rows, apart);
}

// The rows of the next kernel, of `left` rows. Three rows of other formats go as two and one: more kernels are not worth it.
template <class Isa, class Number>
ATTEND_ALWAYS_INLINE constexpr int kernel_rows(int left) {
  return widens<Number> && left == 3 ? 2 : Isa::kernel_rows(left);
}

// The most rows of any kernel for a number format that up to `rows` rows take.
template <class Isa, class Number>
constexpr int most_kernel_rows(int rows) {
  return rows == 1 ? kernel_rows<Isa, Number>(1)
                   : at_least(kernel_rows<Isa, Number>(rows), most_kernel_rows<Isa, Number>(rows - 1));
}
template <class Isa, class Number>
constexpr int most_rows = most_kernel_rows<Isa, Number>(widens<Number> ? most_widening_rows : Isa::tile_rows);

// Whether there are kernels for a number of rows.
template <class Isa, class Number>
struct TileKernels {
  static constexpr bool exist(int rows) { return kernel_rows<Isa, Number>(rows) == rows; }
};

// The same where there is a kernel for every number.
struct AnyNumber {
  static constexpr bool exist(int /*number*/) { return true; }
};

// A number as a type.
template <int number>
struct Constant {
  static constexpr int value = number;
};

// Calls with a number of rows as a type, one for which Kernels exist, at most `most`; then the arguments. `call` is an object
// with a template as its operator(), because lambdas with `auto` parameters would need C++14.
template <class Kernels, int largest, class Call, class... Arguments>
ATTEND_ALWAYS_INLINE void with_rows(int rows, Call call, Arguments... arguments) {
  if constexpr (largest > 1) {
    if (!Kernels::exist(largest) || rows != largest) return with_rows<Kernels, largest - 1>(rows, call, arguments...);
  }
  if constexpr (Kernels::exist(largest)) call(Constant<largest>(), arguments...);
}

// Calls with the number of rows, as a type, and the first row of each kernel that `rows` rows take.
template <class Isa, class Number, class Call>
ATTEND_ALWAYS_INLINE void for_each_kernel(int rows, Call call) {
  for (int r = 0, taken; r < rows; r += taken) {
    taken = kernel_rows<Isa, Number>(rows - r);
    with_rows<TileKernels<Isa, Number>, most_rows<Isa, Number>>(taken, call, r);
  }
}

// Keys as the tiles read them: panels, [panel][head_dim][panel_keys] numbers, and the scales of the keys, if they have any.
struct Panels {
  const void* data;
  core::Format format;
  const float* scales;  // [keys, whole panels], or null; scores are multiplied by these as they are stored. For other formats
                        // than float32 only
  int head_dim;
};

// Values of consecutive keys, `stride` numbers apart.
struct Values {
  const void* data;
  core::Format format;
  ptrdiff_t stride;
  int first_chain;  // keys until the first chain ends: 1 to chain_keys
  float* work;      // of int4: memory for the scales of a chain, as much as for its values as floats
};

// What a row's weights are relative to, made by online_softmax.h.
struct RowMaximum {
  float max;             // a score that the row has seen, rounded to a whole number; lowest_max when it has seen none
  float lowest_shifted;  // where score + whole_shift is below, the weight is 0: see scale_by_low_bits
  float bias;            // see scale_by_low_bits
};
