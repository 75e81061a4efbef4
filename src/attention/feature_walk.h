// The walk of a call with features over its keys on hosts: those that some row sees by position and masks.
//
//   scale the queries
//   for each block of keys that some row sees by position, ascending, cut at segments; as floats, unless rows are at most 4:
//     for each tile of rows, each up to the end of what it sees:  scores -> modifications -> weights -> weighted sum of values
//     at the end of a segment: add its sums to those of segments before it, in the tree's order
//   epilogue: divide by the denominators, or keep the states
//
// A masked key has weight 0, and multiplying by that adds nothing to a sum, unless the value is infinite or no number. So
// values of blocks in which a row does not see a key between others are looked through once; where one is not finite, rows go
// key by key.

template <class Isa>
class FeatureWalk {
 public:
  FeatureWalk(const core::Problem& problem, const core::Options& options, const core::HostWorkMemory& at)
      : problem_(problem),
        options_(options),
        score_mod_(problem, options),
        use_(score_use(options)),
        key_block_(problem.row_block > 1 ? at_most(problem.key_block, config::score_keys)
                                         : at_most(problem.key_block, decode_block(options))),
        rows_(problem, options, at),
        row_(static_cast<QueryRow*>(static_cast<void*>(floats_at(problem, at.query_rows)))) {}

  void run(const Rows& rows) {
    rows_.take(rows);
    rows_.begin(rows, score_mod_.query_scale());
    rows_.for_each_row([&](int r, int token, int head) {
      row_[r] = query_row(problem_, options_, token, head);
      score_mod_.begin(token, head);
    });
    has_open_chain_ = rows_.has_states() && !options_.begins && options_.first_key % chain_keys != 0;
    visibility_ = {row_[0].visibility, row_[rows.count - 1].visibility, shows_masked(options_)};
    tree_ = SegmentTree();
    // A chain that was begun in another call goes alone. The next stretch is looked for before one is computed, so that memory
    // that hardware cannot foresee is on its way meanwhile.
    const int begin = visibility_.earliest.call_begin, end = visibility_.shows_masked ? problem_.keys : visibility_.latest.end;
    int last_chain = (rows_.has_states() ? options_.first_key : begin) & -chain_keys;  // by its first key
    const Stretches stretches = {options_, visibility_, row_, rows_.rows.count, use_.modifies_scores, key_block_};
    Stretch next = stretches.next(begin & -chain_keys, begin, begin < end ? end : begin & -chain_keys);  // or no keys
    while (next.count > 0) {
      const Stretch now = next;
      const int after = now.key + now.count;
      next = stretches.next(after, begin, end);
      if (next.key > after && rows_.rows.count <= most_widening_rows) {
        rows_.keys.prefetch(next.key + next.from, next.to - next.from);
      }
      close_before(last_chain, now.key);
      last_chain = after - chain_keys;
      if (now.from < now.to) add_keys(now.key, now.from, now.to, now.scores_stay);
    }
    if (rows_.has_states()) close_before(last_chain, problem_.keys);
    end_rows();
  }

 private:
  using Walked = RowBlock<Isa, AllFeatures>;  // which of them a call has is asked while it runs, for a block or tile
  using KeyBlock = typename Walked::KeyBlock;
  using Kernels = Tiles<Isa>;

  void end_rows() {
    rows_.for_each_row([&](int r, int token, int head) {
      const auto& sums = rows_.sums;
      if (rows_.has_states()) return rows_.state(token, head).take(sums.row(r));
      float numbers[2];
      const SumNode<float> total = sums.all(r, tree_.depth(), true, numbers);
      const Denominator all = denominator_of(options_, head, total.numbers[0], total.numbers[1]);
      if (options_.scores.data != nullptr && options_.score_stage == core::Scores::weights) {
        float* const shown = score_mod_.shown(token, head);
        finish_weights<Isa>(shown, options_.score_keys, sums.maxima[r].max, all, rows_.scores);
      }
      epilogue_row<Isa>(problem_, options_, token, head, total.sums, all);
    });
  }

  // Sums go on from the chain of `key` to the chain of `next`: ends the segment, and the chain of another call, that do not.
  void close_before(int key, int next) {
    const int rows = rows_.rows.count;
    if (has_open_chain_ && next / chain_keys != key / chain_keys) {
      for (int r = 0; r < rows; ++r) rows_.sums.row(r).end_chain();
      has_open_chain_ = false;
    }
    if (next / segment_keys == key / segment_keys) return;
    end_segments(segment_of(key), segment_of(next));
  }

  ATTEND_NOINLINE void end_segments(int open, int next) {
    if (!rows_.has_states()) {
      const int depth = tree_.depth(), joins = tree_.close(open, next);
      for (int r = 0; r < rows_.rows.count; ++r) rows_.sums.end_segment(r, depth, joins);
      return;
    }
    rows_.for_each_row([&](int r, int token, int head) { rows_.sums.end_segment(r, rows_.state(token, head), open, next); });
  }

  // scores_stay: as in Stretch.
  void add_keys(int key, int from, int to, bool scores_stay) {
    KeyBlock block = rows_.take_keys(key, from, to, visibility_);
    block.begun = true;  // with features, RowSums clears the sums of a row and of each segment before keys are added
    int visible[Isa::tile_rows];
    for (int& count : visible) count = to;
    RowTile tile = {0, 0};
    for (; tile.r < rows_.rows.count; tile.r += tile.rows) {
      tile.rows = at_most(rows_.rows.count - tile.r, Isa::tile_rows);
      if (scores_stay && block.key_scales == nullptr && !rows_.shrunk.any()) {
        rows_.template attend_tile<Kernels>(tile, block, visible);
      } else {
        add_keys_to_tile(tile, block);
      }
    }
  }

  ATTEND_NOINLINE void add_keys_to_tile(const RowTile& tile, KeyBlock& block) {
    const QueryRow* const row = row_ + tile.r;
    const BlockVisibility visibility = {row[0].visibility, row[tile.rows - 1].visibility, visibility_.shows_masked};
    int visible[Isa::tile_rows];  // of the block's keys, never falling
    for (int i = 0; i < tile.rows; ++i) visible[i] = at_least(at_most(row[i].visibility.end - block.key, block.to), 0);

    const int to = visibility.shows_masked ? block.to : visible[tile.rows - 1];
    int from = block.from;
    while (from < to && !visibility.has_any(block.key + from, block.key + from + panel_keys)) from += panel_keys;
    if (from >= to) return;
    if (use_.has_masks && !visibility_.shows_masked && !lets_any(options_, row, tile.rows, block.key + from, to - from)) return;
    rows_.template score<Kernels>(tile, block, from, to);
    const bool gaps = modify_scores(tile, {block.key, from, to}, block.key_scales, visibility);
    if (visible[tile.rows - 1] > from) add_values(tile, block, from, visible, gaps);
  }

  // Returns whether a row may not see a key between others.
  bool modify_scores(const RowTile& tile, const KeySpan& keys, const float* key_scales, const BlockVisibility& visibility) {
    const bool in_range = all_in_range(keys.key + keys.from, visibility);
    if (rows_.shrunk.any()) {
      restore(tile, keys, key_scales);
      key_scales = nullptr;
    }
    if (!use_.modifies_scores && key_scales == nullptr && in_range) return false;
    score_mod_.apply(rows_.scores, row_ + tile.r, tile.rows, keys, key_scales, !in_range);
    // With many rows, some row does not see some key.
    bool gaps = !in_range || (use_.has_masks && rows_.rows.count > 2 * Isa::tile_rows);
    for (int i = 0; !gaps && use_.has_masks && i < tile.rows; ++i) {
      gaps = any_masked<Isa>(rows_.scores + i * config::score_keys + keys.from, whole_panels(keys.to) - keys.from);
    }
    return gaps;
  }

  // The scores of shrunk queries, after the scales of keys, where these have not multiplied them yet.
  ATTEND_NOINLINE void restore(const RowTile& tile, const KeySpan& keys, const float* key_scales) {
    if (key_scales != nullptr) rows_.scale_weights(tile.rows, keys.from, keys.to, key_scales);
    for (int i = 0; i < tile.rows; ++i) {
      float* const scores = rows_.scores + i * config::score_keys + keys.from;
      if (rows_.shrunk.has(tile.r + i)) restore_scores<Isa>(scores, whole_panels(keys.to) - keys.from);
    }
  }

  // Takes a tile's scores of the keys from `from` on, whole panels. Row i sees the keys below visible[i]. With gaps some of
  // these are masked; their score is -inf.
  void add_values(const RowTile& tile, KeyBlock& block, int from, const int* visible, bool gaps) {
    const int r = tile.r, count = tile.rows, to = visible[count - 1];
    int counts[Isa::tile_rows];  // of the keys that are taken
    for (int i = 0; i < count; ++i) counts[i] = at_least(visible[i] - from, 0);
    float before[Isa::tile_rows];
    for (int i = 0; i < count; ++i) before[i] = rows_.sums.maxima[r + i].max;
    const Sums sums = rows_.sums.segment_sums(r, true);
    Kernels::softmax(count, rows_.scores + from, counts, rows_.sums.maxima + r, rows_.sums.lane_sums(r), sums);
    if (rows_.has_states()) rows_.sums.scale_chains(r, count, before);
    const bool by_keys = gaps && !rows_.keys.are_finite(block, visibility_);
    if (visible[0] != to) rows_.keys.widen_values(block, visibility_);  // kernels that widen want rows to see the same keys

    // Chains with only some keys in this call go key by key too.
    const int begin = visibility_.earliest.call_begin;
    const auto is_whole = [&](int chain) {
      return !by_keys &&
             (!rows_.has_states() || (block.key + chain >= begin && block.key + chain + chain_keys <= problem_.keys));
    };
    int k = at_least(from, begin - block.key);
    for (int next; k < to; k = next) {
      const int chain = k & -chain_keys;
      next = chain + chain_keys;
      if (!is_whole(chain)) {
        rows_.keys.widen_values(block, visibility_);
        add_by_keys(tile, block, k, at_most(next, to));
        continue;
      }
      while (next < to && is_whole(next)) next += chain_keys;
      next = at_most(next, to);
      if (block.value_scales != nullptr) rows_.scale_weights(count, k & -panel_keys, next, block.value_scales);
      for (int i = 0; i < count; ++i) counts[i] = at_most(at_least(visible[i] - k, 0), next - k);
      Values values = block.values;
      values.data = moved(values.data, k * values.stride, values.format);
      values.first_chain = chain + chain_keys - k;
      Kernels::value(count, rows_.scores + k, values, counts, sums);
    }
  }

  // Values of keys begin ... end - 1, of one chain, for rows by themselves, without the keys that they do not see. The chain
  // stays open where the next call goes on with it.
  ATTEND_NOINLINE void add_by_keys(const RowTile& tile, const KeyBlock& block, int begin, int end) {
    const float* const values = static_cast<const float*>(block.values.data);
    const int chain_end = block.key + (begin & -chain_keys) + chain_keys;
    const bool ends = !rows_.has_states() || chain_end <= problem_.keys;
    const float* weights = rows_.scores;
    for (int r = tile.r; r < tile.r + tile.rows; ++r, weights += config::score_keys) {
      float* const chain = rows_.sums.chain(r);
      if (!rows_.has_states()) fill_row<Isa>(0.0f, problem_.value_dim, chain);
      for (int j = begin; j < end; ++j) {
        const int key = block.key + j;
        if (!row_[r].visibility.has(key)) continue;
        if (magnitude(weights[j]) == 0 && !is_let_through(problem_, options_, row_[r].token, row_[r].head, key)) continue;
        const float weight = block.value_scales == nullptr ? weights[j] : weights[j] * block.value_scales[j];
        multiply_add_row<Isa>(values + j * block.values.stride, problem_.value_dim, Isa::broadcast(weight), chain, chain);
      }
      if (ends) rows_.sums.row(r).end_chain();
    }
    if (!ends) has_open_chain_ = true;
  }

  const core::Problem& problem_;
  const core::Options& options_;
  const ScoreMod<Isa> score_mod_;
  const ScoreUse use_;
  const int key_block_;
  Walked rows_;
  QueryRow* const row_;           // [rows]
  BlockVisibility visibility_{};  // of the block's rows
  SegmentTree tree_;              // their nodes in work memory
  bool has_open_chain_ = false;   // of states
};
