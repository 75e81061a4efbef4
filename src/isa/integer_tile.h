// What kernels of integer attention are called with: memory of queries, sums of the rows of a tile, and what these rows need
// for their weights: the scales of their scores, and what the weights of a chunk are relative to.

// Work memory of the query of a row of a tile, for kernels that keep it in an order of their own.
struct IntegerQueryMemory {
  void* tile;  // of all rows of the tile, which some kernels mix
  void* own;   // of this row
  int row;     // of the tile
  int rows;
};

// The sums that weighted values of a chunk are added to, of a tile of two rows at most, and how.
struct IntegerSums {
  int32_t* data;  // [row][width]
  int width;
  Merge merges[2];
};

// A number of 16 bits twice, side by side: all vector instruction sets load 32 bits into each lane at once, and few do 16.
constexpr uint32_t twice(uint32_t number) { return number * 0x10001u; }

// The score scales of up to eight rows, side by side.
struct RowScales {
  alignas(32) int32_t factor[8];  // shifted right by `left`, as it is used
  alignas(32) int32_t right[8];
  alignas(32) int32_t left[8];
  uint32_t factors[8];  // of 16 bits, twice
  uint32_t ends[8];
  int32_t any_left = 0;  // not zero where any `left` is not

  void set(int row, const core::ScoreScale& scale) {
    factor[row] = int32_t(scale.factor >> scale.left);
    right[row] = scale.right;
    left[row] = scale.left;
    any_left |= scale.left;
    factors[row] = twice(uint32_t(factor[row]));
    ends[row] = twice(scale.end);
  }
  core::ScoreScale operator[](int row) const {
    return {uint32_t(factor[row]) << left[row], right[row], left[row], ends[row] & 0xffffu};
  }
};

// The scales of a chunk's weights for up to eight rows, and the sums of weights.
struct RowWeights {
  alignas(32) int32_t largest[8];
  alignas(32) int32_t exponent[8];
  alignas(32) uint32_t fractions[8];  // of 16 bits, twice
  alignas(32) uint32_t sum[8];

  ATTEND_ALWAYS_INLINE void add_nothing(int row) {
    exponent[row] = exponent_of_nothing;
    sum[row] = 0;
  }
};

// The shifts that bring the sums of up to eight rows to a common exponent.
struct RowMerges {
  alignas(32) int32_t total[8];
  alignas(32) int32_t chunk[8];
  alignas(32) int32_t half[8];

  ATTEND_ALWAYS_INLINE Merge operator[](int row) const { return {total[row], chunk[row], half[row]}; }
  ATTEND_ALWAYS_INLINE void set(int row, const Merge& merge) {
    total[row] = merge.total;
    chunk[row] = merge.chunk;
    half[row] = merge.half;
  }
};

// How a projection in integers ends, of a chunk's outputs: its sums with some tokens, and what makes outputs of them.
struct ProjectionEnd {
  const int32_t (*sums)[integer_chunk];
  int tokens;
  const int32_t* bias;      // or null
  const void* weight_sums;  // of 32 bits, which what the input's zero point adds is a multiple of
  int input_zero;
  const core::IntegerMultiplier* by;
  int stride;  // of multipliers, 0 or 1
  int output_zero;

  int32_t sum(int token, int k) const {
    uint32_t weights;
    ATTEND_MEMCPY(&weights, static_cast<const char*>(weight_sums) + sizeof weights * unsigned(k), sizeof weights);
    return int32_t(uint32_t(sums[token][k]) - weights * uint32_t(input_zero) + uint32_t(bias == nullptr ? 0 : bias[k]));
  }
};
