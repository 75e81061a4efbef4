// The operations in integers that an instruction set must have, checked by the compiler, whose errors show the line here
// that is not fulfilled, which describes what the operation must do. What the numbers are is scalar/integers.h and
// numerics/integer_softmax.h in plain C++; src/guide/instruction-sets.md has the same as a table.

// The operations of every instruction set.
template <class Isa>
struct IntegerOperations {
  using Tile = int32_t (*)[integer_chunk];  // of scores [row][key], in whose place their weights come to lie
  static_assert(
      Isa::tile_rows >= 1 && Isa::tile_rows <= config::integer_tile_rows,
      "attend: tile_rows: rows of the largest tile, at most config::integer_tile_rows, which work memory has room for");

  // Where a row's weight of a key lies in a tile whose scores have become weights.
  detail::AliasedInt16* (*weight)(Tile tile, int row, int key) = &Isa::weight;
  // to[c] = output_of(sums[c], end), clamped to 8 bits, for c < count.
  void (*outputs)(const int32_t* sums, const RowEnd& end, int count, int8_t* to) = &Isa::outputs;
};

// Further operations of embedded processors, `packs` = false: attention/integer.h, layers/integer_linear.h. Tiles: 1 or 2 rows.
template <class Isa>
struct EmbeddedIntegerOperations : IntegerOperations<Isa> {
  using Query = typename Isa::Query;  // a number of a query as the kernels read it
  using typename IntegerOperations<Isa>::Tile;
  using Scores = void (*)(const Query* const* query, const int8_t* keys, ptrdiff_t stride, int count, int head_dim, Tile tile);
  using Values = void (*)(Tile tile, const int8_t* values, ptrdiff_t stride, int count, const IntegerSums& sums);
  static_assert(Isa::tile_rows == 2, "attend: tile_rows: 2 on embedded processors");

  bool copies_queries = Isa::copies_queries;  // whether `prepare` writes to the memory, integer_query_bytes of each row
  // Returns where the kernels read the numbers of a query.
  const Query* (*prepare)(const int8_t* query, int head_dim, const IntegerQueryMemory& memory) = &Isa::prepare;
  // tile[r][k] = sum over d of query[r][d] * keys[k][d], for k < count; what is after them may be written.
  Scores scores_of_row = &Isa::template scores<1>;
  Scores scores = &Isa::template scores<2>;
  int32_t (*largest)(const int32_t* scores) = &Isa::largest;  // of 32 scores
  // Scores of a row to weight_of each, in their place; returns their sum. Rows are taken in ascending order.
  uint32_t (*weights)(Tile tile, int row, int32_t largest, const core::ScoreScale& scale, uint32_t fraction) = &Isa::weights;
  // sums.data[r][c] = (it >> total) + ((sum over k < count of weights[r][k] * values[k][c] + half) >> chunk), merges[r]'s.
  Values values_of_row = &Isa::template values<1>;
  Values values = &Isa::template values<2>;
};

// Further operations of hosts, `packs` = true: attention/integer_host.h, layers/integer_linear_host.h. Tiles: 1 … tile_rows.
template <class Isa, int rows>
struct HostIntegerTiles {
  using Query = typename Isa::Query;
  using Tile = int32_t (*)[integer_chunk];
  // As on embedded processors, of 32 packed keys.
  void (*scores)(const Query* const* query, const int8_t* keys, int head_dim, Tile tile) = &Isa::template scores<rows>;
  // The same of a chunk as attend::core keeps it, [quads of dimensions][32 keys][4].
  void (*quad_scores)(const Query* const* query, const int8_t* quads, int head_dim,
                      Tile tile) = &Isa::template quad_scores<rows>;
  // reference_of the largest score of each row.
  void (*references)(Tile tile, const RowScales& scales, RowWeights& to) = &Isa::template references<rows>;
  // Scores to weights, relative to these, in their place, and their sums.
  void (*weights)(Tile tile, const RowScales& scales, RowWeights& by) = &Isa::template weights<rows>;
  // merge_scaled by 8 of each row; room behind `rows` up to 8 may be written.
  void (*merge)(RowWeights& weights, IntegerSoftmaxState* states, RowMerges& to) = &Isa::template merge<rows>;
  // Adds weighted values of 32 packed keys to sums[r * width + c], as on embedded processors.
  void (*values)(Tile tile, const int16_t* values, int width, const RowMerges& merges,
                 int32_t* sums) = &Isa::template values<rows>;
};

template <class Isa>
struct HostIntegerOperations : IntegerOperations<Isa> {
  using Query = typename Isa::Query;
  using typename IntegerOperations<Isa>::Tile;
  HostIntegerTiles<Isa, 1> row_tile = {};
  HostIntegerTiles<Isa, Isa::tile_rows> whole_tile = {};

  int in_place_step = Isa::in_place_step;  // what head_dim and value_dim are multiples of where rows are read where they lie
  bool reads_quads = Isa::reads_quads;     // whether there are QuadIntegerOperations, for up to 4 rows
  // A query as kernels read it, 16 dimensions at a time, to integer_query_bytes that are aligned to 64.
  void (*prepare)(const int8_t* query, int head_dim, void* memory) = &Isa::prepare;
  // `count` rows of a chunk in the order in which the kernels read them, with zeros for the others; none behind them is read.
  void (*pack_keys)(const int8_t* keys, ptrdiff_t stride, int count, int head_dim, int8_t* to) = &Isa::pack_keys;
  void (*pack_values)(const int8_t* values, ptrdiff_t stride, int count, int width, int16_t* to) = &Isa::pack_values;
  // `scores` and `values` of one row with 32 keys that are read where they lie.
  void (*scores_in_place)(const Query* query, const int8_t* keys, ptrdiff_t stride, int head_dim,
                          int32_t* scores) = &Isa::scores_in_place;
  void (*values_in_place)(const int32_t* weights, const int8_t* values, ptrdiff_t stride, int width, const Merge& merge,
                          int32_t* sums) = &Isa::values_in_place;
  // merge_scaled by 8 of eight chunks of one row, one after the other.
  void (*merge_chunks)(const RowWeights& weights, IntegerSoftmaxState& state, RowMerges& to) = &Isa::merge_chunks;
  // integer_output of outputs k ... k + 7 of each token of a projection.
  void (*eight_outputs)(const ProjectionEnd& of, int k, int8_t* to, ptrdiff_t to_stride) = &Isa::template eight_outputs<int8_t>;
  void (*eight_words)(const ProjectionEnd& of, int k, int16_t* to, ptrdiff_t to_stride) = &Isa::template eight_outputs<int16_t>;
};

// The further operations of hosts that also read quads where they lie.
template <class Isa>
struct QuadIntegerOperations {
  using Query = typename Isa::Query;
  using Tile = int32_t (*)[integer_chunk];
  bool exist = Isa::reads_quads;
  // `scores` and `values` of one row with `count` chunks, each with a row of the tile.
  void (*scores_in_quads)(const Query* query, const int8_t* const* quads, int count, int head_dim,
                          Tile tile) = &Isa::scores_in_quads;
  void (*values_in_quads)(Tile tile, const int8_t* const* quads, int count, int width, const RowMerges& merges,
                          int32_t* sums) = &Isa::values_in_quads;
  // pack_keys and pack_values of a chunk in quads.
  void (*pack_key_quads)(const int8_t* quads, int head_dim, int8_t* to) = &Isa::pack_key_quads;
  void (*pack_value_quads)(const int8_t* quads, int width, int16_t* to) = &Isa::pack_value_quads;
};

template <class Isa, bool packs = Isa::packs>
struct HasIntegerOperations {
  static constexpr bool all = EmbeddedIntegerOperations<Isa>().prepare != nullptr;
};
template <class Isa>
struct HasIntegerOperations<Isa, true> {
  static_assert(Has<Isa::reads_quads, QuadIntegerOperations<Isa>>::all, "");
  static constexpr bool all = HostIntegerOperations<Isa>().in_place_step > 0;
};
