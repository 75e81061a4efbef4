// Integer attention: the algorithm, for all targets.
//
//   for each block of query rows of a key/value head:
//     for each segment of keys, and each block of them:          hosts: keys and values packed, once for all rows of the block
//       for each tile of rows, and each chunk of 32 keys that any of its rows sees:
//         scores -> weights relative to the chunk's largest score -> weighted sums of values, added at a common exponent
//     at the end of a segment: its sums are added to the sums of segments before it, in the tree's order (core/segments.h)
//   rows end: one reciprocal each, outputs rounded and clamped
//
// Embedded processors have blocks of one tile, and read keys and values where they lie.

// What a call has on hosts alone.
template <bool packs, class Isa, class Keys>
struct IntegerTiles {
  IntegerTiles(const core::Problem&, const Keys&, const core::IntegerMemory&) {}
};
template <class Isa, class Keys>
struct IntegerTiles<true, Isa, Keys> : IntegerHostTiles<Isa, Keys> {
  using IntegerHostTiles<Isa, Keys>::IntegerHostTiles;
};

template <class Isa, class Options>
class IntegerPipeline {
  static_assert(HasIntegerOperations<Isa>::all, "");
  using Keys = IntegerKeys<Options>;
  static constexpr bool has_options = Keys::has_options;
  using Tile = int32_t (*)[integer_chunk];
  using Query = typename Isa::Query;

 public:
  IntegerPipeline(const core::Problem& problem, const Options& options)
      : problem_(problem),
        options_(options),
        keys_(problem, options),
        group_(group_of(problem)),
        block_rows_(memory().rows),
        query_(at_memory<char>(problem, memory().query)),
        sums_(at_memory<int32_t>(problem, memory().sums)),
        tiles_(problem, keys_, memory()) {}

  void run() {
    Rows rows;
    for (rows.clear(); next_block(rows, problem_, group_, block_rows_);) run_block(rows);
  }

 private:
  ATTEND_NOINLINE void run_block(const Rows& rows) {
    rows_ = &rows;
    IntegerSoftmaxState tile_states[config::integer_tile_rows];
    states_ = config::embedded ? tile_states : at_memory<IntegerSoftmaxState>(problem_, memory().states);
    begin();
    tree_ = SegmentTree();
    if (keys_.has_states()) load_states();
    if constexpr (Isa::packs) tiles_.prepare_queries(rows, group_);
    const Row last = row_after(rows.first, rows.count - 1, group_);
    const int end = keys_.end(last.token);
    int key = keys_.begin(rows.first.token);
    int open = segment_of(keys_.first_of_sums(key));
    while (key < end) {
      if (segment_of(key) != open) end_segments(open, segment_of(key));
      open = segment_of(key);
      const int segment_end = at_most((key & -segment_keys) + segment_keys, end);
      add_keys(key, segment_end);
      key = keys_.next(rows.first.token, segment_end);
    }
    if (keys_.has_states()) {
      if (segment_of(end) != open) end_segments(open, segment_of(end));
      return store_states();
    }
    end_rows();
  }

  // Clears the sums of the block's rows.
  ATTEND_NOINLINE void begin() const {
    int32_t* const first = sums(0);
    for (int r = 0; r < rows_->count; ++r) states_[r] = {lowest_exponent, 0};
    const int numbers = rows_->count * problem_.value_dim;
    for (int i = 0; i < numbers; ++i) *(code_is_small ? opaque(first + i) : first + i) = 0;
  }

  // Keys of one segment, a block at a time. On embedded processors a block of rows is a tile, and nothing is packed for it.
  void add_keys(int key, int end) {
    if constexpr (config::embedded) return tile(rows_->count, 0, rows_->first, key, end);
    for (; key < end;) {
      const int block_end = at_most((key & -integer_chunk) + key_block(), end);
      if constexpr (Isa::packs) tiles_.begin_block(key);
      Row first = rows_->first;
      for (int r = 0, taken = 0; r < rows_->count; r += taken, first = row_after(first, taken, group_)) {
        taken = at_most(rows_->count - r, Isa::tile_rows);
        if constexpr (Isa::packs) {
          host_tile(taken, r, first, key, block_end);
        } else {
          tile(taken, r, first, key, block_end);
        }
      }
      key = block_end;
    }
  }

  // The kernels of an instruction set: one for each number of rows of a tile.
  struct ScoreKernels {
    template <int rows, class... Arguments>
    ATTEND_ALWAYS_INLINE void operator()(Constant<rows>, Arguments... arguments) const {
      Isa::template scores<rows>(arguments...);
    }
  };
  struct ValueKernels {
    const IntegerSums& sums;
    template <int rows, class... Arguments>
    ATTEND_ALWAYS_INLINE void operator()(Constant<rows>, Arguments... arguments) const {
      Isa::template values<rows>(arguments..., sums);
    }
  };
  struct HostTile {
    IntegerTiles<Isa::packs, Isa, Keys>& tiles;
    template <int rows, class... Arguments>
    ATTEND_ALWAYS_INLINE void operator()(Constant<rows>, Arguments... arguments) const {
      tiles.template add_keys<rows>(arguments...);
    }
  };

  // Kernels that read keys where they lie need no room for packed ones.
  int key_block() const {
    if constexpr (Isa::packs) {
      if (tiles_.takes_alone(rows_->count)) return segment_keys;
    }
    return problem_.key_block;
  }

  // Rows of a tile on hosts, whose code is made for each number of them.
  ATTEND_NOINLINE void host_tile(int rows, int r, Row first, int key, int end) {
    IntegerTileRow at[Isa::tile_rows];
    for_each_row({rows_->kv_head, first, rows}, group_, [&](int i, int token, int head) { at[i] = {token, head}; });
    if (tiles_.takes_alone(rows_->count)) {
      for (int i = 0; i < rows; ++i) tiles_.add_keys_to_row(at[i], i, key, end, states_[i], sums(i));
      return;
    }
    with_rows<AnyNumber, Isa::tile_rows>(rows, HostTile{tiles_}, at, r, key, end, states_ + r, sums(r));
  }

  // The same on embedded processors, where only kernels are.
  ATTEND_NOINLINE void tile(int rows, int r, Row first, int key, int end) {
    const Query* query[Isa::tile_rows];
    IntegerTileRow at[Isa::tile_rows];
    const int bytes = core::integer_query_bytes(problem_.head_dim);
    for_each_row({rows_->kv_head, first, rows}, group_, [&](int i, int token, int head) {
      at[i] = {token, head};
      query[i] = Isa::prepare(element<int8_t>(problem_.query, token, head), problem_.head_dim,
                              IntegerQueryMemory{query_ + r * bytes, query_ + (r + i) * bytes, i, rows});
    });
    for (int chunk = key & -integer_chunk; chunk < end; chunk += integer_chunk) {
      add_chunk(rows, query, at, r, chunk, at_most(end - chunk, integer_chunk));
    }
  }

  ATTEND_ALWAYS_INLINE void add_chunk(int rows, const Query* const* query, const IntegerTileRow* at, int r, int chunk,
                                      int count) {
    const Tile tile = at_memory<int32_t[integer_chunk]>(problem_, config::embedded ? 0 : memory().scores);
    uint32_t seen[Isa::tile_rows];
    uint32_t any = 0, all = ~0u;
    for (int i = 0; i < rows; ++i) {
      seen[i] = keys_.seen(at[i].token, at[i].head, chunk, count);
      any |= seen[i];
      all &= seen[i];
    }
    if (any == 0) return;
    const IntegerChunk source =
        keys_.rows(rows_->kv_head, chunk, count, config::embedded ? nullptr : at_memory<int8_t>(problem_, memory().chunk));
    with_rows<AnyNumber, Isa::tile_rows>(rows, ScoreKernels(), query, source.keys, source.key_stride, count, problem_.head_dim,
                                         tile);
    if constexpr (has_options) keys_.modify(rows, tile, rows_->kv_head, chunk, count);
    static_assert(Isa::tile_rows <= 2, "IntegerSums has room for so many");
    IntegerSums row_sums;
    row_sums.data = sums(r), row_sums.width = problem_.value_dim;
    for (int i = 0; i < rows; ++i) {
      if (all != ~0u) Keys::mask(tile[i], seen[i]);
      const core::ScoreScale& scale = problem_.score_scales[at[i].head * problem_.scale_stride];
      const int32_t largest = Isa::largest(tile[i]);
      const Reference reference = reference_of(largest, scale);
      const uint32_t sum = Isa::weights(tile, i, largest, scale, reference.fraction);
      merge<8>(states_[r + i], seen[i] == 0 ? exponent_of_nothing : reference.exponent, sum, row_sums.merges[i]);
      if constexpr (has_options) scale_chunk<Isa>(tile, i, keys_.value_scales(rows_->kv_head, chunk), count);
    }
    with_rows<AnyNumber, Isa::tile_rows>(rows, ValueKernels{row_sums}, tile, source.values, source.value_stride, count);
  }

  // Ends the segment `open`: `next` is the next segment in which a row sees a key.
  ATTEND_NOINLINE void end_segments(int open, int next) {
    if (keys_.has_states()) {
      for_each_state([&](int r, const IntegerState& state) { state.push(open, node(r), next); });
    } else {
      const int depth = tree_.depth(), joins = tree_.close(open, next);
      for (int r = 0; r < rows_->count; ++r) {
        SumNode<int32_t> top = node(r);
        join_or_keep<SumInIntegers>(nodes_of(r, depth), joins, top);
      }
    }
    begin();
  }

  // Writes outputs.
  ATTEND_NOINLINE void end_rows() {
    const int depth = tree_.depth();
    for_each_row(*rows_, group_, [&](int r, int token, int head) {
      SumNode<int32_t> all = node(r);
      if (depth > 0) join_or_keep<SumInIntegers>(nodes_of(r, depth), depth, all);
      store_integer_row<Isa>(problem_, options_, all, token, head);
    });
  }

  // Calls with what a state keeps of each row.
  template <class Call>
  void for_each_state([[maybe_unused]] Call call) {
    if constexpr (has_options) {
      for_each_row(*rows_, group_, [&](int r, int token, int head) {
        call(r, IntegerState(element<int32_t>(options_.states, token, head), problem_.value_dim));
      });
    }
  }
  ATTEND_NOINLINE void load_states() {
    if constexpr (has_options) {
      for_each_state([this](int r, const IntegerState& state) {
        if (options_.begins) state.begin();
        open(r).take(state);
      });
    }
  }
  ATTEND_NOINLINE void store_states() {
    for_each_state([this](int r, const IntegerState& state) { state.take(open(r)); });
  }

  ATTEND_ALWAYS_INLINE core::IntegerMemory memory() const {
    return {problem_.row_block, problem_.key_block, problem_.head_dim, problem_.value_dim};
  }
  // Where nodes of a row are in work memory: they follow the sums.
  SumNodes<int32_t> nodes_of(int r, int n) const {
    return nodes_of_row(sums(block_rows_), r, block_rows_, problem_.value_dim, n);
  }
  // The open segment of a row.
  SumNode<int32_t> node(int r) const { return {sums(r), reinterpret_cast<int32_t*>(states_ + r)}; }
  SumInIntegers::Open open(int r) const { return {node(r), problem_.value_dim}; }
  int32_t* sums(int r) const { return sums_ + ptrdiff_t(r) * problem_.value_dim; }

  const core::Problem& problem_;
  const Options& options_;
  const Keys keys_;
  const int group_;
  const int block_rows_;
  char* const query_;  // in work memory. Scores are at its beginning on embedded processors, which keep states on the stack
  int32_t* const sums_;
  IntegerTiles<Isa::packs, Isa, Keys> tiles_;
  const Rows* rows_ = nullptr;
  IntegerSoftmaxState* states_ = nullptr;
  SegmentTree tree_;  // the rows' nodes in work memory
};
