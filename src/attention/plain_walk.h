// The walk of a call without features over its keys on hosts: all rows see them from the first on.
//
//   scale the queries (where there is one block of keys: those of a tile, just before its scores)
//   for each block of keys, ascending, cut at segments:
//     for each tile of rows:  scores -> weights -> weighted sum of values
//       after the tile's last block, if there is one segment: divide by the denominators
//     at the end of a segment: add its sums to those of segments before it, in the tree's order
//   divide by the denominators

// The options of a call without features.
constexpr core::Options no_options = {};
constexpr BlockVisibility plain_visibility = {};

template <class Isa>
class PlainWalk {
 public:
  PlainWalk(const core::Problem& problem, const core::HostWorkMemory& at)
      : problem_(problem),
        key_block_(problem.row_block > 1 ? at_most(problem.key_block, config::score_keys) : problem.key_block),
        rows_(problem, no_options, at) {}

  // divides: writes the final output; otherwise the sums of one segment (sums/row_sums.h).
  void run(const Rows& rows, bool divides) {
    rows_.take(rows);
    rows_.sums.raises_always = !divides;
    tiles_finish_ = divides && problem_.keys <= segment_keys;
    const int key_end = visible_keys(problem_, row_after(rows.first, rows.count - 1, rows_.group).token);
    tiles_begin_ = tiles_finish_ && key_end <= key_block_ && !rows_.keys.keeps_rows();
    if (!tiles_begin_) rows_.begin(rows, base2_scale(problem_.scale));
    one_chain_ = at_most(key_block_, key_end) <= chain_keys;
    int segment = 0;
    for (;; segment += segment_keys) {
      const int end = at_most(segment + segment_keys, key_end);
      for (int key = segment; key < end || key == 0; key += key_block_) {
        KeyBlock block = rows_.take_keys(key, 0, at_most(key_block_, end - key), plain_visibility);
        block.begun = key > segment;
        add_keys(block);
      }
      if (segment + segment_keys >= key_end) break;
      rows_.for_each_row([&](int r, int token, int) { end_segment(r, token, segment); });
    }
    if (!tiles_finish_) end_rows(divides, segment);
  }

 private:
  using KeyBlock = typename RowBlock<Isa, NoFeatures>::KeyBlock;

  // A tile, its first row, and the token of its last.
  struct Tile : RowTile {
    Row first;
    int last_token;
  };

  bool sees_segment(int token, int segment) const { return segment == 0 || visible_keys(problem_, token) > segment; }

  // A segment ends, but not the block's keys. What is the last one of a row is joined with all before it.
  static_assert(config::row_block <= segment_keys, "a segment that one row sees whole has keys of each row of the block");
  ATTEND_NOINLINE void end_segment(int r, int token, int segment) const {
    const int number = segment_of(segment), depth = nodes_before(number);
    const int joins = visible_keys(problem_, token) > segment + segment_keys ? joins_from_zero(number) : depth;
    rows_.sums.end_segment(r, depth, joins);
  }

  void end_rows(bool divides, int last_segment) {
    const int depth = nodes_before(segment_of(last_segment));
    rows_.for_each_row([&](int r, int token, int head) {
      float* const output = element<float>(problem_.output, token, head);
      float numbers[2];
      end_row<Isa>(rows_.sums.all(r, depth, sees_segment(token, last_segment), numbers), problem_.value_dim, divides, output);
    });
  }

  // Where blocks of keys are of one chain, a tile is what one kernel takes: keys and values stay in the first-level cache from
  // kernel to kernel by themselves, and where they are few, choosing kernels counts. All blocks cut rows alike: the one with a
  // tile's last key divides it.
  void add_keys(const KeyBlock& block) {
    Tile tile;
    tile.first = rows_.rows.first;
    for (int r = 0, left = rows_.rows.count; left > 0; r += tile.rows, left -= tile.rows) {
      tile.rows = one_chain_ ? kernel_rows<Isa, float>(left) : at_most(left, Isa::tile_rows);
      const Row next = row_after(tile.first, tile.rows, rows_.group);
      tile.last_token = next.head > 0 ? next.token : next.token - 1;
      tile.r = tiles_begin_ ? 0 : r;
      if (tiles_begin_) rows_.begin({rows_.rows.kv_head, tile.first, tile.rows}, base2_scale(problem_.scale));
      if (one_chain_) {
        with_rows<TileKernels<Isa, float>, most_rows<Isa, float>>(tile.rows, WithOneKernel(), this, &tile, &block);
      } else {
        add_keys_to_tile<Tiles<Isa>>(tile, block);
      }
      tile.first = next;
    }
  }

  struct WithOneKernel {
    template <int rows>
    ATTEND_ALWAYS_INLINE void operator()(Constant<rows>, PlainWalk* walk, const Tile* tile, const KeyBlock* block) const {
      walk->template add_keys_to_tile<OneKernel<Isa, rows>>(*tile, *block);
    }
  };

  template <class Kernels>
  ATTEND_NOINLINE void add_keys_to_tile(const Tile& tile, const KeyBlock& block) {
    int visible[Isa::tile_rows];  // of these keys, never falling
    see(tile, block, visible);
    if (visible[tile.rows - 1] > 0) {
      rows_.template attend_tile<Kernels>(tile, block, visible);
    } else if (block.begun) {
      return;
    } else {
      fill_row<Isa>(0.0f, tile.rows * panel_keys, rows_.sums.lane_sums(tile.r));
    }
    if (tiles_finish_ && visible_keys(problem_, tile.last_token) <= block.key + block.to) divide(tile);
  }

  // The number of keys of a block that each row of a tile sees.
  ATTEND_ALWAYS_INLINE void see(const Tile& tile, const KeyBlock& block, int* visible) const {
    if (visible_keys(problem_, tile.first.token) - block.key >= block.to) {
      for (int i = 0; i < tile.rows; ++i) visible[i] = block.to;
      return;
    }
    int end = causal_end(problem_, tile.first.token) - block.key, head = tile.first.head;
    for (int i = 0; i < tile.rows; ++i) {
      visible[i] = at_most(at_least(end, 0), block.to);
      if (++head == rows_.group) {
        head = 0;
        ++end;
      }
    }
  }

  // Divides while the sums are in the first-level cache.
  ATTEND_NOINLINE void divide(const Tile& tile) {
    const int dims = problem_.value_dim, group = rows_.group, first_head = rows_.rows.kv_head * group;
    const core::Tensor<void> output = problem_.output;
    const float *sums = rows_.sums.sums(tile.r), *lane_sums = rows_.sums.lane_sums(tile.r);
    Row at = tile.first;
    for (int i = 0; i < tile.rows; ++i, sums += dims, lane_sums += panel_keys, at = row_after(at, 1, group)) {
      divide_row<Isa>(sums, dims, Isa::sum_lanes(lane_sums), element<float>(output, at.token, first_head + at.head));
    }
  }

  const core::Problem& problem_;
  const int key_block_;
  RowBlock<Isa, NoFeatures> rows_;
  bool tiles_begin_ = false;   // whether all keys are one block: then each tile scales its queries, in the work memory of the
                               // first one, which stays in the first-level cache
  bool tiles_finish_ = false;  // whether a tile divides its sums when it has seen its last key
  bool one_chain_ = false;     // whether blocks of keys are of one chain
};
