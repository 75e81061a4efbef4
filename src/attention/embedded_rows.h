// The rows of a block of the embedded pipeline: what each of them sees of a chain of keys, and where its query, scores and sums
// lie.

// The keys of a chain that a row sees by position: from ... to - 1, counted from the chain's first. Sink tokens and a window
// may leave a gap between.
struct ChainRange {
  int from;
  int to;
  bool gap;
};

inline ChainRange range_in_chain(const Visibility& visibility, int key, int count) {
  ChainRange range = {at_least(visibility.call_begin - key, 0), at_most(visibility.end - key, count), false};
  const int first = visibility.window_begin - key, sink_tokens = visibility.sink_tokens - key;
  if (range.from >= first) return range;
  if (range.from >= sink_tokens) {
    range.from = first;
  } else if (first < range.to) {
    range.gap = sink_tokens < first;
  } else {
    range.to = at_most(range.to, sink_tokens);
  }
  return range;
}

struct EmbeddedRow {
  QueryRow at;
  float* state;  // the caller's, or one whose chain lies apart
  ChainRange sees;
};
static_assert(sizeof(EmbeddedRow) + sizeof(float*) <= sizeof(float) * core::EmbeddedOptionMemory::row_floats,
              "the work memory has room for it");

// Notes whether vectors lose a factor of a row of the block. Empty where vectors do not flush.
template <bool flushes>
struct LostFactors {
  static constexpr bool lost() { return false; }
  void note(bool) const {}
  void forget() const {}
};
template <>
struct LostFactors<true> {
  bool lost() const { return lost_; }
  void note(bool row_lost) { lost_ = lost_ || row_lost; }
  void forget() { lost_ = false; }

 private:
  bool lost_ = false;
};

template <class Isa, class Features>
class EmbeddedRows : public LostFactors<Isa::flushes> {
 public:
  static constexpr int limit = Features::one_row ? 1 : core::EmbeddedOptionMemory::most_rows;  // of a block
  static constexpr bool may_shrink = Features::arrays || Features::format == core::Format::int8;
  struct Seen {
    int from;
    int to;
    bool gap;  // whether a row does not see keys between others
    bool all;  // whether all rows see all keys
  };

  EmbeddedRows(const core::Problem& problem, const core::Options& options)
      : problem_(problem),
        options_(options),
        use_(Features::score_mods ? score_use(options) : ScoreUse{}),
        shows_masked_(Features::score_mods && ATTEND_ISA::shows_masked(options)),
        query_scale_(Features::score_mods ? ScoreFactors(problem, options).query : base2_scale(problem.scale)) {
    const core::EmbeddedOptionMemory at(problem.row_block, problem.head_dim, problem.value_dim);
    float* const work = floats_at(problem, 0);
    rows_ = static_cast<EmbeddedRow*>(static_cast<void*>(work));
    sums_ = static_cast<float**>(static_cast<void*>(rows_ + row_limit()));
    states_ = work + at.states;
    chain_ = work + at.chain;
    scores_ = work + at.scores;
    queries_ = work + at.queries;
    numbers_ = work + at.numbers;
    nodes_ = work + at.nodes;
  }

  const core::Problem& problem() const { return problem_; }
  const core::Options& options() const { return options_; }
  bool has_states() const { return Features::states && ATTEND_ISA::has_states(options_); }
  bool modifies_scores() const { return Features::score_mods && use_.modifies_scores; }
  bool has_masks() const { return Features::score_mods && use_.has_masks; }
  bool shows_masked() const { return Features::score_mods && shows_masked_; }
  int take(int left) const { return at_most(left, row_limit()); }  // rows of the next block, where `left` are left
  EmbeddedRow& row(int r) const { return rows_[r]; }
  const ChainRange& sees(int r, int /*key*/) const { return rows_[r].sees; }
  float* scores(int r) const { return scores_ + r * chain_keys; }
  const float* query(int r) const { return is_scaled() ? queries_ + ptrdiff_t(r) * problem_.head_dim : query_; }
  float query_factor() const { return is_scaled() ? 1.0f : query_scale_; }
  const ShrunkRows<may_shrink, limit>& shrunk() const { return shrunk_; }
  float* numbers() const { return numbers_; }

  float& max(int r) const { return rows_[r].state[core::state_max]; }
  float* lane_sums(int r) const { return rows_[r].state + core::state_head; }
  float* const* sums(int r) const { return sums_ + r; }
  static constexpr bool adds(int /*key*/) { return true; }

  // The open segment of a row. Without states, the chain lies apart from the rest.
  typename SumInFloats<Isa>::Open open_segment(int r) const {
    auto open = SumInFloats<Isa>::open(rows_[r].state, problem_.value_dim);
    if (!has_states()) open.sums = open.chain, open.chain = chain_;
    return open;
  }

  // Row r is a token of a query head.
  ATTEND_NOINLINE void begin(int r, int token, int head) {
    EmbeddedRow& row = rows_[r];
    float* const query = queries_ + ptrdiff_t(r) * problem_.head_dim;
    query_ = element<float>(problem_.query, token, head);
    if constexpr (Features::score_mods) {
      row.at = query_row(problem_, options_, token, head);
      score_mod().begin(token, head);
      if (options_.query_format != core::Format::float32) {
        const ptrdiff_t at = core::distance(problem_.query, token, head);
        widen_row<Isa>(options_.query_format, moved(problem_.query.data, at, options_.query_format), problem_.head_dim,
                       numbers_);
        query_ = numbers_;
      }
    } else {
      row.at = {0, 0, visibility_of(problem_, options_, token), token, head};
    }
    const bool shrinks =
        may_shrink && options_.key_scales != nullptr && shrink_query<Isa>(query_, problem_.head_dim, query_scale_, query);
    if (shrinks) shrunk_.add(r);
    this->note(scaled && !shrinks ? scale_query<Isa>(query_, problem_.head_dim, query_scale_, query)
                                  : loses_factor<Isa>(query_, problem_.head_dim, query_scale_));
    if (has_states()) {
      row.state = element<float>(options_.states, token, head);
      if (options_.begins) state(r).begin();
    } else {
      row.state = states_ + r * core::EmbeddedOptionMemory::state_floats(problem_.value_dim);
    }
    const auto open = open_segment(r);
    if (!has_states()) open.begin_segment();
    sums_[r] = open.sums;
  }

  // Ends the open segment of all `count` rows; `next` is the next segment in which any of them sees a key.
  ATTEND_NOINLINE void end_segments(int count, int open, int next) {
    if (!has_states()) {
      const int depth = tree_.depth(), joins = tree_.close(open, next);
      for (int r = 0; r < count; ++r) {
        float numbers[2];
        const auto row = open_segment(r);
        SumNode<float> top = row.node(numbers);
        join_or_keep<SumInFloats<Isa>>(nodes_of(r, depth), joins, top);
        row.clear();
      }
      return;
    }
    if constexpr (Features::states) {
      for (int r = 0; r < count; ++r) state(r).end_segment(open, next);
    }
  }

  // Writes the results of row r. Where all keys were of one segment, its sums are not in a node yet.
  ATTEND_NOINLINE void finish(int r) const {
    const int token = rows_[r].at.token, head = rows_[r].at.head, depth = tree_.depth();
    float numbers[2];
    SumNode<float> all = open_segment(r).node(numbers);
    if (depth > 0) join_or_keep<SumInFloats<Isa>>(nodes_of(r, depth), depth, all);
    if constexpr (Features::states) {
      const Denominator denominator = denominator_of(options_, head, all.numbers[0], all.numbers[1]);
      if (options_.scores.data != nullptr && options_.score_stage == core::Scores::weights) {
        finish_weights<Scalar>(score_mod().shown(token, head), options_.score_keys, all.numbers[1], denominator, scores_);
      }
      epilogue_row<Isa>(problem_, options_, token, head, all.sums, denominator);
    } else {
      divide_row<Isa>(all.sums, problem_.value_dim, all.numbers[0], element<float>(problem_.output, token, head));
    }
  }

  ScoreMod<Scalar> score_mod() const { return ScoreMod<Scalar>(problem_, options_); }

  // Rows of a block begin.
  void begin_block() {
    tree_ = SegmentTree();
    this->forget();
    shrunk_.clear();
  }

 private:
  // Where nodes of a row are in work memory.
  SumNodes<float> nodes_of(int r, int n) const { return nodes_of_row(nodes_, r, row_limit(), problem_.value_dim, n); }

  RowState<SumInFloats<Isa>> state(int r) const { return {rows_[r].state, problem_.value_dim}; }

  static constexpr bool scaled = !Features::one_row || ATTEND_SOFT_FLOAT;  // in advance, or whenever a query is read
  bool is_scaled() const { return scaled || shrunk_.any(); }
  int row_limit() const { return at_most(problem_.row_block, limit); }

  const core::Problem& problem_;
  const core::Options& options_;
  const ScoreUse use_;
  const bool shows_masked_;
  const float query_scale_;
  const float* query_;  // the last one, as it is
  EmbeddedRow* rows_;
  float** sums_;  // of the open segment, in the states
  float *states_, *chain_, *scores_, *queries_, *numbers_, *nodes_;
  SegmentTree tree_;
  ShrunkRows<may_shrink, limit> shrunk_;
};

// The rows of a plain call: one tile of rows, noted on the stack. Each row sees the first keys. Sums of the first segment grow
// in the output, sums of later ones in work memory, in the place of the node that the open segment may become.
template <class Isa>
class EmbeddedRows<Isa, NoFeatures> : public LostFactors<Isa::flushes> {
 public:
  static constexpr int limit = Isa::tile_rows;
  struct Seen {
    static constexpr int from = 0;
    int to;
    static constexpr bool gap = false;
  };

  ATTEND_ALWAYS_INLINE explicit EmbeddedRows(const core::Problem& problem)
      : problem_(problem), query_scale_(base2_scale(problem.scale)), state_(floats_at(problem, memory().sums())) {}

  const core::Problem& problem() const { return problem_; }
  // The number of rows of the next block, where `left` rows are left.
  int take(int left) const { return left < row_limit() ? 1 : row_limit(); }
  int end(int r) const { return end_[r]; }  // of the keys that it sees
  ChainRange sees(int r, int key) const { return {0, at_most(end_[r] - key, chain_keys), false}; }
  float* scores(int r) const { return floats_at(problem_, r * chain_keys); }
  const float* query(int r) const { return query_ + ptrdiff_t(r) * problem_.head_dim; }
  float query_factor() const { return scaled() ? 1.0f : query_scale_; }

  float* lane_sums(int r) const { return state_ + r * core::EmbeddedMemory::row_sums; }
  float& max(int r) const { return lane_sums(r)[panel_keys]; }
  float* const* sums(int r) const { return sums_ + r; }
  // The first chain of a segment begins its sums.
  static bool adds(int key) { return key % segment_keys != 0; }

  // Row r is a token of a query head.
  ATTEND_NOINLINE void begin(int r, int token, int head) {
    sums_[r] = output_[r] = element<float>(problem_.output, token, head);
    end_[r] = visible_keys(problem_, token);
    max(r) = lowest_max;
    fill_row<Isa>(0.0f, panel_keys, lane_sums(r));
    query_ = element<float>(problem_.query, token, head);
    if (scaled()) {
      float* const scaled_queries = state_ + memory().queries();
      this->note(scale_query<Isa>(query_, problem_.head_dim, query_scale_, scaled_queries + ptrdiff_t(r) * problem_.head_dim));
      query_ = scaled_queries;
    } else {
      this->note(loses_factor<Isa>(query_, problem_.head_dim, query_scale_));
    }
  }

  // Ends a segment that keys of the block follow: in each row that goes on, it is joined with nodes or becomes a node.
  ATTEND_NOINLINE void end_segments(int count, int open, int next) {
    const int depth = nodes_before(open), joins = joins_from_zero(open);
    for (int r = 0; r < count; ++r) {
      if (end_[r] > next * segment_keys) end_segment(r, depth, joins);
    }
  }

  void finish(int r) {
    const int depth = end_[r] > segment_keys ? nodes_before(segment_of(end_[r] - 1)) : 0;
    if (depth > 0) end_segment(r, depth, depth);
    const float denominator = depth > 0 ? sums_[r][-2] : add_lanes<Isa>(lane_sums(r));
    divide_row<Isa>(output_[r], problem_.value_dim, denominator, output_[r]);
  }

  static constexpr bool has_states() { return false; }
  static constexpr bool has_masks() { return false; }
  void begin_block() { this->forget(); }

 private:
  int row_limit() const { return problem_.row_block < limit ? 1 : limit; }
  ATTEND_ALWAYS_INLINE core::EmbeddedMemory memory() const { return {row_limit(), scaled()}; }
  bool scaled() const { return core::scaled_in_advance(problem_.row_block, problem_.key_panels); }
  // As join_or_keep. The sums of the first node lie in the output, the numbers of each before the sums of the next one.
  ATTEND_NOINLINE void end_segment(int r, int depth, int joins) {
    const ptrdiff_t row = core::EmbeddedMemory::node(problem_.value_dim), level = row * row_limit();
    float* place = state_ + memory().queries() + memory().nodes(problem_.head_dim) + depth * level + r * row;
    float numbers[2] = {add_lanes<Isa>(lane_sums(r)), max(r)};
    SumNode<float> top = {sums_[r], numbers};
    join_nodes<SumInFloats<Isa>>(top, joins, problem_.value_dim, [&] {
      place -= level;
      return SumNode<float>{--depth == 0 ? output_[r] : place - level + 2, place};
    });
    place[0] = top.numbers[0];
    place[1] = top.numbers[1];
    sums_[r] = place + 2;
    fill_row<Isa>(0.0f, panel_keys, lane_sums(r));
  }

  const core::Problem& problem_;
  const float query_scale_;  // for scores in base 2
  float* const state_;       // [most()]: denominators and maximum
  const float* query_;       // [most()][head_dim], or the only one as it is
  float* output_[limit];
  float* sums_[limit];
  int end_[limit];
};
