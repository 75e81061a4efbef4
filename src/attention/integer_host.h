// Integer attention on hosts: chunks of keys and values are packed once for the rows of a block, and go through tiles of rows.

// A row of a tile: its token and its query head.
struct IntegerTileRow {
  int token;
  int head;
};

// Scales of single values, as factors of their weights.
template <class Isa>
ATTEND_NOINLINE void scale_chunk(int32_t (*tile)[integer_chunk], int row, const uint16_t* scales, int count) {
  if (scales == nullptr) return;
  for (int k = 0; k < count; ++k) {
    auto* const at = Isa::weight(tile, row, k);
    int16_t weight;
    ATTEND_MEMCPY(&weight, at, sizeof weight);
    weight = int16_t((uint32_t(weight) * scales[k] + 0x4000u) >> 15);
    ATTEND_MEMCPY(at, &weight, sizeof weight);
  }
}

// The tiles of a block of keys. A block has at most segment_keys / integer_chunk chunks.
template <class Isa, class Keys>
class IntegerHostTiles {
  using Tile = int32_t (*)[integer_chunk];
  using Query = typename Isa::Query;

 public:
  IntegerHostTiles(const core::Problem& problem, const Keys& keys, const core::IntegerMemory& at)
      : problem_(problem), keys_(keys), at_(at) {}

  // Queries of a block of rows, in the order in which the kernels read them.
  ATTEND_NOINLINE void prepare_queries(const Rows& rows, int group) {
    kv_head_ = rows.kv_head;
    for_each_row(rows, group, [this](int r, int token, int head) {
      Isa::prepare(element<int8_t>(problem_.query, token, head), problem_.head_dim, query(r));
    });
  }

  void begin_block(int key) {
    block_ = key & -integer_chunk;
    packed_ = 0;
  }

  // Whether so many rows of a block are computed one by one. Where kernels of one row can read a call's keys and values, that
  // is faster for a few rows than packing them for a tile (measured with 64 dimensions: quads to 4 rows, rows of bytes to 2).
  static constexpr int most_in_quads = 4, most_in_place = 2;
  static_assert(Isa::tile_rows >= (Isa::reads_quads ? most_in_quads : most_in_place), "so many rows are one tile");
  bool takes_alone(int rows) const {
    if (problem_.key_panels) return Isa::reads_quads && rows <= most_in_quads;
    return (problem_.head_dim | problem_.value_dim) % Isa::in_place_step == 0 && rows <= most_in_place;
  }

  // Adds the keys from `key` to `end` of this block to the `states` and `sums` of the rows from r on.
  //
  // The values of a chunk are added after the scores of the next one are computed: a processor that runs instructions out of
  // their order finds products to compute while the largest scores, on which all weights depend, are looked for.
  template <int rows>
  ATTEND_NOINLINE void add_keys(const IntegerTileRow* at, int r, int key, int end, IntegerSoftmaxState* states, int32_t* sums) {
    const Query* queries[rows];
    RowScales scales;
    for (int i = 0; i < rows; ++i) {
      queries[i] = static_cast<const Query*>(query(r + i));
      scales.set(i, score_scale(at[i].head));
    }
    Tile tile = scores(), waiting = nullptr;
    const int16_t* waiting_values = nullptr;
    RowMerges merges;
    const int head_dim = problem_.head_dim, value_dim = problem_.value_dim;
    // Without options, later rows see no less than the first.
    const int all_seen = Keys::has_options ? 0 : at_most(end, keys_.end(at->token));
    for (int chunk = key & -integer_chunk; chunk < end; chunk += integer_chunk) {
      const int count = at_most(end - chunk, integer_chunk);
      const bool all = chunk + integer_chunk <= all_seen;
      uint32_t seen[rows];
      if (!all && !see<rows>(at, chunk, count, seen)) continue;
      pack(chunk, count);
      Isa::template scores<rows>(queries, packed_keys(chunk), head_dim, tile);
      if constexpr (Keys::has_options) keys_.modify(rows, tile, kv_head_, chunk, count);
      if (!all) mask<rows>(tile, seen);
      RowWeights weights;
      Isa::template references<rows>(tile, scales, weights);
      if (waiting != nullptr) Isa::template values<rows>(waiting, waiting_values, value_dim, merges, sums);
      Isa::template weights<rows>(tile, scales, weights);
      if (!all) {
        for (int i = 0; i < rows; ++i) {
          if (seen[i] == 0) weights.add_nothing(i);
        }
      }
      if constexpr (Keys::has_options) {
        const uint16_t* const value_scales = keys_.value_scales(kv_head_, chunk);
        for (int i = 0; value_scales != nullptr && i < rows; ++i) scale_chunk<Isa>(tile, i, value_scales, count);
      }
      Isa::template merge<rows>(weights, states, merges);
      waiting = tile;
      waiting_values = packed_values(chunk);
      tile = tile == scores() ? scores() + config::integer_tile_rows : scores();
    }
    if (waiting != nullptr) Isa::template values<rows>(waiting, waiting_values, value_dim, merges, sums);
  }

  // The same of one row by itself: whole chunks are read where they lie, several in each step, so that none waits for
  // another's. What is left over is packed.
  ATTEND_NOINLINE void add_keys_to_row(const IntegerTileRow& at, int r, int key, int end, IntegerSoftmaxState& state,
                                       int32_t* sums) {
    int chunk = key & -integer_chunk;
    // Without options a row sees all keys before its last one.
    const int seen_end = Keys::has_options ? end : at_most(end, keys_.end(at.token));
    RowScales scales;
    for (int i = 0; i < most_chunks; ++i) scales.set(i, score_scale(at.head));
    while (chunk + integer_chunk <= seen_end) {
      Chunks step;
      for (; step.count < most_chunks && chunk + integer_chunk <= seen_end; chunk += integer_chunk) {
        const uint32_t seen = Keys::has_options ? keys_.seen(at.token, at.head, chunk, integer_chunk) : ~0u;
        if (seen != 0) step.add(chunk, seen, keys_, problem_, kv_head_);
      }
      if (step.count > 0) add_chunks(step, static_cast<const Query*>(query(r)), scales, state, sums);
    }
    if (chunk >= seen_end) return;
    if (block_ != chunk) begin_block(chunk);  // packed once for all rows; later rows may see more of it
    add_keys<1>(&at, r, at_least(key, chunk), at_most(end, chunk + integer_chunk), &state, sums);
  }

 private:
  static constexpr int most_chunks = config::integer_tile_rows;

  // Whole chunks that a single row goes over in one step: each takes the place of a row of a tile.
  struct Chunks {
    int count = 0;
    int first_keys[most_chunks];
    uint32_t seen[most_chunks];
    const int8_t* keys[most_chunks];
    const int8_t* values[most_chunks];

    ATTEND_ALWAYS_INLINE void add(int chunk, uint32_t sees, const Keys& key_source, const core::Problem& problem, int kv_head) {
      first_keys[count] = chunk;
      seen[count] = sees;
      keys[count] = key_source.first(problem.key, kv_head, chunk);
      values[count++] = key_source.first(problem.value, kv_head, chunk);
    }
  };

  ATTEND_ALWAYS_INLINE void add_chunks(const Chunks& step, const Query* query, const RowScales& scales,
                                       IntegerSoftmaxState& state, int32_t* sums) const {
    const Tile tile = scores();
    if constexpr (Isa::reads_quads) {
      if (problem_.key_panels) Isa::scores_in_quads(query, step.keys, step.count, problem_.head_dim, tile);
    }
    for (int i = 0; !problem_.key_panels && i < step.count; ++i) {
      Isa::scores_in_place(query, step.keys[i], problem_.key.token_stride, problem_.head_dim, tile[i]);
    }
    if constexpr (Keys::has_options) {
      for (int i = 0; i < step.count; ++i) {
        keys_.modify(1, tile + i, kv_head_, step.first_keys[i], integer_chunk);
        if (step.seen[i] != ~0u) Keys::mask(tile[i], step.seen[i]);
      }
    }
    RowWeights weights;
    Isa::template references<most_chunks>(tile, scales, weights);
    Isa::template weights<most_chunks>(tile, scales, weights);
    for (int i = step.count; i < most_chunks; ++i) weights.add_nothing(i);
    RowMerges merges;
    Isa::merge_chunks(weights, state, merges);
    if constexpr (Keys::has_options) {
      for (int i = 0; i < step.count; ++i) {
        scale_chunk<Isa>(tile, i, keys_.value_scales(kv_head_, step.first_keys[i]), integer_chunk);
      }
    }
    if constexpr (Isa::reads_quads) {
      if (problem_.key_panels) return Isa::values_in_quads(tile, step.values, step.count, problem_.value_dim, merges, sums);
    }
    for (int i = 0; i < step.count; ++i) {
      Isa::values_in_place(tile[i], step.values[i], problem_.value.token_stride, problem_.value_dim, merges[i], sums);
    }
  }

  // Finds the keys of a chunk that rows see; returns whether there are any.
  template <int rows>
  ATTEND_NOINLINE bool see(const IntegerTileRow* at, int chunk, int count, uint32_t* seen) const {
    uint32_t any = 0;
    for (int i = 0; i < rows; ++i) any |= seen[i] = keys_.seen(at[i].token, at[i].head, chunk, count);
    return any != 0;
  }
  template <int rows>
  ATTEND_NOINLINE static void mask(Tile tile, const uint32_t* seen) {
    for (int i = 0; i < rows; ++i) {
      if (seen[i] != ~0u) Keys::mask(tile[i], seen[i]);
    }
  }

  // Packs a chunk when the first tile of rows comes to it: of chunks that no row sees nothing may be read.
  static_assert(segment_keys / integer_chunk <= 32,
                "packed_ has a bit for each chunk of a block, which ends where its segment does");
  ATTEND_ALWAYS_INLINE void pack(int chunk, int count) {
    const uint32_t bit = 1u << ((chunk - block_) / integer_chunk);
    if ((packed_ & bit) != 0) return;
    packed_ |= bit;
    pack_chunk(chunk, count);
  }
  ATTEND_NOINLINE void pack_chunk(int chunk, int count) const {
    if constexpr (Isa::reads_quads) {
      // Masks and weights take care of what lies behind the last key.
      if (problem_.key_panels) {
        Isa::pack_key_quads(keys_.first(problem_.key, kv_head_, chunk), problem_.head_dim, packed_keys(chunk));
        Isa::pack_value_quads(keys_.first(problem_.value, kv_head_, chunk), problem_.value_dim, packed_values(chunk));
        return;
      }
    }
    const IntegerChunk rows = keys_.rows(kv_head_, chunk, count, at_memory<int8_t>(problem_, at_.chunk));
    Isa::pack_keys(rows.keys, rows.key_stride, count, problem_.head_dim, packed_keys(chunk));
    Isa::pack_values(rows.values, rows.value_stride, count, problem_.value_dim, packed_values(chunk));
  }

  const core::ScoreScale& score_scale(int head) const { return problem_.score_scales[head * problem_.scale_stride]; }
  Tile scores() const { return at_memory<int32_t[integer_chunk]>(problem_, at_.scores); }
  void* query(int r) const {
    return at_memory<void>(problem_, at_.query + ptrdiff_t(r) * core::integer_query_bytes(problem_.head_dim));
  }
  int8_t* packed_keys(int chunk) const {
    return at_memory<int8_t>(problem_, at_.keys + ptrdiff_t(chunk - block_) * ((problem_.head_dim + 3) / 4 * 4));
  }
  int16_t* packed_values(int chunk) const {
    return at_memory<int16_t>(problem_, at_.values + ptrdiff_t(chunk - block_) * ((problem_.value_dim + 15) / 16 * 32));
  }

  const core::Problem& problem_;
  const Keys& keys_;
  const core::IntegerMemory at_;
  int kv_head_ = 0;
  int block_ = 0;
  uint32_t packed_ = 0;
};
