// A block of query rows of one key/value head on hosts: their scaled queries and sums, where their keys come from, and the
// steps that take a tile of them over a block of keys.
//
// A row is a (token, query head) pair: row = token * group + head within the group, so that all query heads that share keys
// read them together, and what a row sees by position begins and ends no earlier than for the row before.

// Some rows of a block, from row r on.
struct RowTile {
  int r;
  int rows;
};

template <class Isa, class Features>
struct RowBlock {
  static_assert(has_host_operations<Isa>(), "");
  using KeyBlock = typename KeySource<Isa, Features>::Block;

  RowBlock(const core::Problem& problem_, const core::Options& with, const core::HostWorkMemory& at)
      : problem(problem_),
        options(with),
        group(problem_.query_heads / problem_.kv_heads),
        keys(problem_, with, at),
        sums(floats_at(problem_, 0), at, problem_.row_block, problem_.value_dim, has_states()),
        scores(floats_at(problem_, at.scores)),
        queries(floats_at(problem_, at.query)) {}

  // Takes other rows, before any of them begins.
  void take(const Rows& next) {
    rows = next;
    keys.take_head(rows.kv_head, rows.count, rows.count <= group || (!Features::any && !problem.causal));
  }

  // All of these rows begin, or some that are done before others begin: the first of them is row 0 of work memory. They have
  // seen nothing, or go on where their states are.
  ATTEND_NOINLINE void begin(const Rows& some, float query_scale) {
    const typename Isa::Vec scale = Isa::broadcast(query_scale);
    const ptrdiff_t token_stride = problem.query.token_stride, head_stride = problem.query.head_stride;
    const int head_dim = problem.head_dim;
    const bool packs = keys.keeps_rows();
    float* query = queries;
    shrunk.clear();
    ATTEND_ISA::for_each_row(some, group, [&](int r, int token, int head) {
      const int lane = r % panel_keys;
      float* const scaled = packs ? keys.work() + lane * ptrdiff_t(head_dim) : query;
      scale_row<Isa>(query_as_floats(token * token_stride + head * head_stride, scaled), head_dim, scale, scaled);
      if constexpr (Features::any) {
        if (options.key_scales != nullptr && shrink_query<Isa>(scaled, head_dim, 1.0f, scaled)) shrunk.add(r);
      }
      query += head_dim;
      if (packs && lane == panel_keys - 1) {
        pack_panel<Isa>(keys.work(), head_dim, panel_keys, head_dim, query - panel_keys * ptrdiff_t(head_dim));
      }
      if (has_states() && !options.begins) {
        sums.row(r).take(state(token, head));
        sums.maxima[r] = row_maximum_of(sums.maxima[r].max);
        return;
      }
      sums.begin(r);
      if (has_states()) state(token, head).begin_nodes();
    });
  }

  bool has_states() const { return Features::states && ATTEND_ISA::has_states(options); }

  // Calls with each row, and its token and query head.
  template <class Call>
  ATTEND_ALWAYS_INLINE void for_each_row(Call call) const {
    ATTEND_ISA::for_each_row(rows, group, call);
  }

  RowState<SumInFloats<Isa>> state(int token, int head) const {
    return {element<float>(options.states, token, head), problem.value_dim};
  }

  // Some keys (KeySource::take_keys). Where they stay in rows, their scores for all query rows are computed now.
  KeyBlock take_keys(int key, int from, int to, const BlockVisibility& visibility) {
    const KeyBlock made = keys.take_keys(key, from, to, visibility, rows.count);
    if (keys.keeps_rows()) {
      const auto key_rows = [&](int first, int count) { return keys.key_rows(made, first, count); };
      keys.for_each_run(made, visibility, [&](int first, int end) {
        score_key_rows<Isa>(queries, rows.count, problem.head_dim, key_rows, first, end, keys.work());
      });
    }
    return made;
  }

  // The scores of a tile and keys from ... to - 1, where `from` is a whole number of panels.
  template <class Kernels>
  ATTEND_ALWAYS_INLINE void score(const RowTile& tile, const KeyBlock& block, int from, int to) const {
    if (keys.keeps_rows()) return copy_scores<Isa>(keys.work(), rows.count, tile.r, tile.rows, from, to, scores);
    Kernels::score(tile.rows, queries + ptrdiff_t(tile.r) * problem.head_dim, block.panels, from, to, scores);
  }

  // A tile goes over the first keys of a block, of which each row sees the first visible[row] and nothing else happens to
  // scores. Kernels are Tiles, or OneKernel where that takes the tile.
  template <class Kernels>
  ATTEND_ALWAYS_INLINE void attend_tile(const RowTile& tile, const KeyBlock& block, const int* visible) const {
    const int end = visible[tile.rows - 1];
    score<Kernels>(tile, block, 0, end);
    const Sums segment_sums = sums.segment_sums(tile.r, block.begun);
    Kernels::softmax(tile.rows, scores, visible, sums.maxima + tile.r, sums.lane_sums(tile.r), segment_sums);
    if (Features::any && block.value_scales != nullptr) scale_weights(tile.rows, 0, end, block.value_scales);
    Kernels::value(tile.rows, scores, block.values, visible, segment_sums);
  }

  // Weights that multiply values; the denominators have theirs. Masked keys have weight 0 and scales that are numbers, or they
  // are not read.
  void scale_weights(int count, int from, int to, const float* scales) const {
    float* weights = scores;
    for (int i = 0; i < count; ++i, weights += config::score_keys) {
      for (int k = from; k < to; k += Isa::lanes) {
        Isa::store(weights + k, Isa::mul(Isa::load(weights + k), Isa::load(scales + k)));
      }
    }
  }

  const core::Problem& problem;
  const core::Options& options;
  const int group;  // query heads that share a key/value head
  KeySource<Isa, Features> keys;
  RowSums<Isa, Features> sums;
  float* const scores;   // [tile rows][score_keys], a tile's scores and then weights; [key_block] where there is one row
  float* const queries;  // [rows][head_dim], scaled; panels of 16 where keys stay in rows
  ShrunkRows<Features::any, config::row_block> shrunk;
  Rows rows{};  // at most problem.row_block

 private:
  // A query where it lies, or widened to `work`.
  const float* query_as_floats(ptrdiff_t at, float* work) const {
    const float* const query = static_cast<const float*>(problem.query.data);
    if (!Features::any || options.query_format == core::Format::float32) return query + at;
    widen_row<Isa>(options.query_format, moved(problem.query.data, at, options.query_format), problem.head_dim, work);
    return work;
  }
};
