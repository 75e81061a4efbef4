// The algorithm on hosts: blocks of query rows go over their keys with features (feature_walk.h) or not (plain_walk.h).
//
// One token over the keys of a cache that are few enough for one segment, or over those of an array that fill no more than a
// panel, is here: the steps of a block without its bookkeeping, which would take longer than the work where there are very few.

// Calls of hosts whose vectors flush, where these would lose a factor of a query (kernel/scaled_query.h): in plain C++.

// Whether any query has such a factor. One of another format is widened to work memory, which has room for it.
template <class Isa>
bool loses_factors(const core::Problem& problem, core::Format format, float scale) {
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      const float* query = element<float>(problem.query, token, head);
      if (format != core::Format::float32) {
        const void* const numbers = moved(problem.query.data, core::distance(problem.query, token, head), format);
        widen_row<Isa>(format, numbers, problem.head_dim, floats_at(problem, 0));
        query = floats_at(problem, 0);
      }
      if (loses_factor<Isa>(query, problem.head_dim, scale)) return true;
    }
  }
  return false;
}

// Computes a call in plain C++ if vectors would lose a factor; returns whether. Out of line: other calls are without its stack.
template <class Isa>
ATTEND_NOINLINE bool run_flushed(const core::Problem& problem) {
  if (!loses_factors<Isa>(problem, core::Format::float32, base2_scale(problem.scale))) return false;
  EmbeddedPipeline<Scalar, NoFeatures>(problem).run();
  return true;
}
template <class Isa>
ATTEND_NOINLINE bool run_flushed(const core::Problem& problem, const core::Options& options) {
  if (!loses_factors<Isa>(problem, options.query_format, ScoreFactors(problem, options).query)) return false;
  EmbeddedPipeline<Scalar, AllFeatures>(problem, options).run();
  return true;
}

// What the work memory of a call without features depends on, for so many rows at a time.
ATTEND_ALWAYS_INLINE core::WorkExtents plain_extents(const core::Problem& problem, int rows) {
  return {rows, problem.key_block, problem.head_dim, problem.value_dim, !problem.key_panels};
}

// Whether a problem is one, with work memory for one row. Grouped query heads are better off as a tile.
inline bool is_short_decode(const core::Problem& problem) {
  return problem.queries == 1 && problem.query_heads == problem.kv_heads && problem.row_block == 1 &&
         problem.keys <= (problem.key_panels ? at_most(problem.key_block, segment_keys) : panel_keys);
}

// The maximum of a row of scores, of which `highest` has the highest and that is never NaN.
template <class Isa>
ATTEND_ALWAYS_INLINE RowMaximum short_maximum(typename Isa::Vec highest, float* scores, int padded, bool divides) {
  RowMaximum maximum = no_maximum();
  if (const float highest_score = Isa::highest_lane(highest); highest_score > lowest_max) {
    raise_max<Isa>(highest_score, maximum, nullptr, {nullptr, 0, false, !divides});
    if (is_far(maximum.max)) bring_near<Isa>(scores, padded, maximum.max);
  }
  return maximum;
}

// The weighted sums of a head's values, where its output will be.
template <class Isa>
ATTEND_ALWAYS_INLINE void short_values(const core::Problem& problem, int head, const float* weights, int keys) {
  const ptrdiff_t stride = problem.value.token_stride;
  const float* const data = element<float>(problem.value, 0, head);
  const int dims = problem.value_dim;
  const Sums sums = {element<float>(problem.output, 0, head), dims, false, false};
  if (dims < 2 * panel_keys) {  // the cascade of narrower tiles takes as long as so little work
    constexpr int vecs = panel_keys / Isa::lanes;
    const ValueRows<float> values = {data, stride, chain_keys};
    if (dims == panel_keys) return value_tile<Isa, float, 1, vecs>(weights, values, &keys, sums, 0);
    value_columns<Isa, float, 1, vecs>(weights, values, &keys, sums, 0, dims);
  } else if (dims <= value_vecs<Isa, float>(1) * Isa::lanes) {
    value_columns<Isa, float, 1>(weights, {data, stride, chain_keys}, &keys, sums, 0, dims);
  } else {
    Tiles<Isa>::value(1, weights, {data, core::Format::float32, stride, chain_keys, nullptr}, &keys, sums);
  }
}

template <class Isa>
ATTEND_ALWAYS_INLINE void end_short(const core::Problem& problem, int head, float denominator, float max, bool divides) {
  float* const output = element<float>(problem.output, 0, head);
  float numbers[2] = {denominator, max};
  end_row<Isa>({output, numbers}, problem.value_dim, divides, output);
}

// One token of some heads over at most a panel of keys each, side by side: a step of one head alone would wait for the last.
template <class Isa, int heads>
void run_one_panel(const core::Problem& problem, const core::HostWorkMemory& at, int keys, int first_head, bool divides) {
  constexpr int vecs = panel_keys / Isa::lanes, heads_at_once = heads * vecs <= 4 ? heads : 4 / vecs;
  static_assert(heads * panel_keys <= chain_keys, "the smallest key_block has room for the scores, and for so many panels");
  const typename Isa::Vec query_scale = Isa::broadcast(base2_scale(problem.scale));
  float* const panel = floats_at(problem, 0);
  float* const scores = floats_at(problem, at.scores);  // [heads][16]
  float* const query = floats_at(problem, at.query);
  for (int i = 0; i < heads; ++i) {
    const float* const key = element<float>(problem.key, 0, first_head + i);
    float* const row = scores + i * panel_keys;
    multiply_row<Isa>(element<float>(problem.query, 0, first_head + i), problem.head_dim, query_scale, query);
    if (problem.key_panels) {
      score_tile<Isa, float, 1, vecs>(query, key, problem.head_dim, nullptr, row);
    } else {
      pack_panel<Isa>(key, problem.key.token_stride, keys, problem.head_dim, panel);
      score_tile<Isa, float, 1, vecs>(query, panel, problem.head_dim, nullptr, row);
    }
  }
  RowMaximum maxima[heads];
  for (int i = 0; i < heads; ++i) {
    float* const row = scores + i * panel_keys;
    mask_keys<Isa>(row, keys, panel_keys);
    typename Isa::Vec highest = Isa::broadcast(lowest_max);
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) highest = Isa::max(highest, Isa::load(row + v * Isa::lanes));
    maxima[i] = short_maximum<Isa>(highest, row, panel_keys, divides);
  }
  for (int i = 0; i < heads; i += heads_at_once) {  // a panel's weights are the partial sums of its denominator
    float* const rows = scores + i * panel_keys;
    weights_side_by_side<Isa, heads_at_once, vecs, heads_at_once == 1 ? config::score_keys : panel_keys>(
        rows, 0, panel_keys, maxima + i, false, rows);
  }
  for (int i = 0; i < heads; ++i) {
    short_values<Isa>(problem, first_head + i, scores + i * panel_keys, keys);
    end_short<Isa>(problem, first_head + i, Isa::sum_lanes(scores + i * panel_keys), maxima[i].max, divides);
  }
}

// One token of all heads, which sees so many keys.
template <class Isa>
ATTEND_NOINLINE void run_short_decode(const core::Problem& problem, int keys, bool divides) {
  int head = 0;
  const core::HostWorkMemory at(plain_extents(problem, 1), false);
  if (keys == 0) {
    for (; head < problem.query_heads; ++head) end_short<Isa>(problem, head, 0.0f, lowest_max, divides);
  } else if (keys <= panel_keys) {
    constexpr int heads_at_once = chain_keys / panel_keys;
    for (; problem.query_heads - head >= heads_at_once; head += heads_at_once)
      run_one_panel<Isa, heads_at_once>(problem, at, keys, head, divides);
    for (; head < problem.query_heads; ++head) run_one_panel<Isa, 1>(problem, at, keys, head, divides);
  }
  const typename Isa::Vec query_scale = Isa::broadcast(base2_scale(problem.scale));
  float* const scores = floats_at(problem, at.scores);
  float* const lane_sums = floats_at(problem, at.lane_sums);
  float* const query = floats_at(problem, at.query);
  for (; head < problem.query_heads; ++head) {
    multiply_row<Isa>(element<float>(problem.query, 0, head), problem.head_dim, query_scale, query);
    score_rows<Isa, float, 1>(query, element<float>(problem.key, 0, head), problem.head_dim, nullptr, keys, scores);
    const int padded = whole_panels(keys);
    mask_keys<Isa>(scores, keys, padded);
    const auto highest = highest_of_row<Isa>(scores, padded, Isa::broadcast(lowest_max));
    const RowMaximum maximum = short_maximum<Isa>(highest, scores, padded, divides);
    const int done = weights_side_by_side<Isa, 1, 4>(scores, 0, padded, &maximum, false, lane_sums);
    weights_side_by_side<Isa, 1, panel_keys / Isa::lanes>(scores, done, padded, &maximum, false, lane_sums);
    short_values<Isa>(problem, head, scores, keys);
    end_short<Isa>(problem, head, Isa::sum_lanes(lane_sums), maximum.max, divides);
  }
}

// Each way of a call is a function of its own, so that a call takes the stack of only one.
template <class Isa>
ATTEND_NOINLINE void run_blocks(const core::Problem& problem, bool divides) {
  const core::HostWorkMemory memory(plain_extents(problem, problem.row_block), false);
  PlainWalk<Isa> walk(problem, memory);
  const int group = group_of(problem);
  for (Rows rows = {}; next_block(rows, problem, group, problem.row_block);) walk.run(rows, divides);
}

// Whether a call takes whole segments of keys into states, and calls without options make the sums of these.
inline bool takes_plain_segments(const core::Problem& problem, const core::Options& options) {
  const int first = options.first_key, last = problem.queries - 1;
  if (!has_states(options) || first % segment_keys != 0 || problem.keys % segment_keys != 0) return false;
  const auto floats = [](core::Format format) { return format == core::Format::float32; };
  return floats(options.query_format) && floats(options.key_format) && floats(options.value_format) && options.origin == 0 &&
         options.paging.pages == nullptr && options.paging.ring_panels == 0 && !score_use(options).modifies_scores &&
         visibility_of(problem, options, 0).end == problem.keys && visibility_of(problem, options, last).window_begin <= first;
}

template <class Isa>
ATTEND_NOINLINE void run_plain_segments(const core::Problem& problem, const core::Options& options) {
  using State = RowState<SumInFloats<Isa>>;
  const int group = group_of(problem);
  core::Problem segment = problem;  // of one key/value head; its sums are made where states have those of their open segment
  segment.kv_heads = 1;
  segment.query_heads = group;
  segment.causal = false;
  segment.keys = segment_keys;
  if (problem.key_panels && problem.row_block <= Isa::tile_rows) {
    // Scores have the room of copies, of which there are none.
    const core::WorkExtents given = {problem.row_block, problem.key_block, problem.head_dim, problem.value_dim, true};
    segment.key_block = problem.row_block == 1 ? config::decode_keys : config::score_keys;
    const core::WorkExtents taken = plain_extents(segment, problem.row_block);
    if (core::HostWorkMemory(taken, false).end(taken, 0) > core::HostWorkMemory(given, true).end(given, 0))
      segment.key_block = problem.key_block;
  }
  const ptrdiff_t key_stride = problem.key_panels ? problem.head_dim : problem.key.token_stride;
  for (int head = 0; head < problem.kv_heads; ++head) {
    segment.query.data = element<float>(problem.query, 0, head * group);
    core::Tensor<void> states = options.states;
    states.data = element<float>(states, 0, head * group);
    segment.output = states;
    segment.output.data = static_cast<float*>(states.data) + core::state_head;
    for_each_state<SumInFloats<Isa>>(states, segment, [&](const State& state, int, int) {
      if (options.begins) state.begin_nodes();
    });
    for (int key = options.first_key; key < problem.keys; key += segment_keys) {
      segment.key.data = element<float>(problem.key, 0, head) + key * key_stride;
      segment.value.data = element<float>(problem.value, key, head);
      is_short_decode(segment) ? run_short_decode<Isa>(segment, segment_keys, false) : run_blocks<Isa>(segment, false);
      for_each_state<SumInFloats<Isa>>(states, segment, [&](const State& state, int, int) {
        state.push(segment_of(key), node_at(state.lane_sums, segment.value_dim), segment_of(key) + 1);
      });
    }
    for_each_state<SumInFloats<Isa>>(states, segment, [](const State& state, int, int) { state.begin_open(); });
  }
}

template <class Isa>
ATTEND_NOINLINE void run_features(const core::Problem& problem, const core::Options& options) {
  const core::HostWorkMemory memory({problem.row_block, problem.key_block, problem.head_dim, problem.value_dim, true}, true);
  FeatureWalk<Isa> walk(problem, options, memory);
  const int group = group_of(problem);
  for (Rows rows = {}; next_block(rows, problem, group, problem.row_block);) walk.run(rows);
}
