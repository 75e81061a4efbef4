// ScoreOptions, what calls can be asked for beyond Options: windows, masks, biases, a soft cap, sinks; and more results. The
// calls are in score_calls.h.
#pragma once

#include "attention.h"
#include "core_options.h"
#include "option_arrays.h"

namespace attend {

// What is not set is off. A query at position p = offset + its index gets, for key j that it sees, the score
//
//   cap(scale * dot(query, key)) + bias[j] + relative[j - p] + slope * (j - p),   cap(x) = soft_cap * tanh(x / soft_cap)
//
// It sees what all of causal, the window, valid_keys, mask and the two biases let it see; a query that sees nothing gets zeros.
// Arrays are not copied: they must live until the call is over.
template <class Shape>
struct ScoreOptions {
  bool causal = false;  // j <= p
  Setting<int> offset;  // these four are those of attend::Options
  Setting<int> valid_queries;
  Setting<int> valid_keys;
  Setting<float> scale;

  Setting<int> window_left;   // >= 0: j >= p - window_left, or j < pinned; in a RingCache what the ring keeps, or less
  Setting<int> window_right;  // >= 0: j <= p + window_right
  Setting<int> pinned;        // >= 0: the first keys, which window_left does not hide; 0, or what a RingCache keeps

  detail::MaskSetting<Shape> mask;          // Mask or BitMask<1 or queries, 1 or query_heads, keys>
  detail::BiasSetting<Shape> bias;          // Bias<1 or queries, 1 or query_heads, keys>
  detail::RelativeSetting<Shape> relative;  // RelativeBias<1 or query_heads, left, right>
  detail::HeadSetting<Shape> slopes;        // float[query_heads], ALiBi
  detail::HeadSetting<Shape> sinks;         // float[query_heads]: a logit that joins the denominator, without a value
  float soft_cap = 0.0f;                    // 1e-30 … 1e30; 0: none

  detail::LseSetting<Shape> lse;        // Lse<Shape, at least valid_queries>
  detail::ScoresSetting<Shape> scores;  // Scores<Shape, at least valid_queries, at least valid_keys>
  ScoreStage score_stage = ScoreStage::raw;

  constexpr ScoreOptions() = default;
  constexpr ScoreOptions(const Options& options)
      : causal(options.causal),
        offset(options.offset),
        valid_queries(options.valid_queries),
        valid_keys(options.valid_keys),
        scale(options.scale) {}
};

namespace detail {

// As Plan, for calls with options.
template <class Shape, int queries>
struct OptionPlan {
  using Dims = Checked<Shape>;
  static_assert(queries >= 1, "attend: a workspace needs at least 1 query token");
  static constexpr int rows = core::rows_per_kv_head(Dims::query_heads, Dims::kv_heads, queries);
  static constexpr int row_block = smaller(rows, config::option_row_block);
  static constexpr int key_block = config::key_block;
  static constexpr size_t floats = core::option_scratch_floats(row_block, key_block, Dims::head_dim, Dims::value_dim);
};

template <class Type>
struct OptionShape {
  using ShapeType = void;
};
template <class Shape>
struct OptionShape<ScoreOptions<Shape>> {
  using ShapeType = Shape;
};

// A normal number above 0, or 0. By its bits, as is_nan.
inline bool is_cap(float cap) {
  unsigned bits;
  __builtin_memcpy(&bits, &cap, sizeof cap);
  return (bits & 0x7fffffffu) == 0 || (bits >= 0x0da24260u && bits <= 0x7149f2cau);
}

// How a call is made that can have all options; others have less code.
struct AnyOptions {
  static void run(const core::Problem& problem, const core::Options& options) { core::run(problem, options); }
  static void run(const core::Problem& problem, const core::Options& options, const Part& part) {
    core::run_part(problem, options, part.index, part.count);
  }
};

// A call as the core takes it. Until prepare() has filled it in, problem.keys are those of the array or the cache,
// problem.queries those of the array, and options say how keys and values lie; of a ring also what it keeps.
struct OptionCall {
  core::Problem problem{};
  core::Options options{};
};

template <class Shape, class Plan, class Work>
void set_shape(OptionCall& call, Work& work) {
  using Dims = Checked<Shape>;
  call.problem.query_heads = Dims::query_heads;
  call.problem.kv_heads = Dims::kv_heads;
  call.problem.head_dim = Dims::head_dim;
  call.problem.value_dim = Dims::value_dim;
  call.problem.row_block = Plan::row_block;
  call.problem.key_block = Plan::key_block;
  call.problem.scratch = work.data;
}

template <class Shape, int tokens>
void set_query(OptionCall& call, const Query<Shape, tokens>& query) {
  using Dims = Checked<Shape>;
  call.problem.query = {query.data[0][0], ptrdiff_t(Dims::query_heads) * Dims::head_dim, Dims::head_dim};
  call.problem.queries = tokens;
}
template <class Shape, int tokens>
void set_output(OptionCall& call, Output<Shape, tokens>& output) {
  using Dims = Checked<Shape>;
  call.problem.output = {output.data[0][0], ptrdiff_t(Dims::query_heads) * Dims::value_dim, Dims::value_dim};
}

template <class Shape, int keys>
void set_keys(OptionCall& call, const Key<Shape, keys>& key, const Value<Shape, keys>& value) {
  using Dims = Checked<Shape>;
  call.problem.key = {key.data[0][0], ptrdiff_t(Dims::kv_heads) * Dims::head_dim, Dims::head_dim};
  call.problem.value = {value.data[0][0], ptrdiff_t(Dims::kv_heads) * Dims::value_dim, Dims::value_dim};
  call.problem.keys = keys;
}
template <class Shape>
void set_keys(OptionCall& call, const KvCache<Shape>& cache) {
  call.problem.key = cache.key_panels();
  call.problem.value = cache.values();
  call.problem.key_panels = true;
  call.problem.keys = cache.length();
}

template <class Cache>
void set_keys(OptionCall& call, const Cache& cache) {
  cache.set_keys(call);
  call.problem.keys = cache.length();
}

// The shape of any kind of cache; void for other types. Calls without a workspace take a KvCache only.
template <class Type>
struct AnyCacheShape : CacheShape<Type> {};

// The most query tokens of a call over a cache.
template <class Cache>
struct MostQueries {
  static constexpr int value = 0x7fffffff;
};

// Whether a ring still has what the queries see of the first `held` tokens. Later queries see less of what is old.
inline bool is_in_ring(const OptionCall& call, int held) {
  const core::Paging& paging = call.options.paging;
  const int oldest = (held - 1) / panel_keys - paging.ring_groups + 1;  // group
  if (paging.ring_groups == 0 || oldest <= paging.pinned_groups) return true;
  const int64_t first = int64_t(call.problem.offset) - call.options.left;
  return first >= call.problem.keys || first >= int64_t(oldest) * panel_keys;
}

// Refuses what is out of range, and fills in what the options say.
template <class Shape>
Status prepare(OptionCall& call, const ScoreOptions<Shape>& options, bool has_states) {
  core::Problem& problem = call.problem;
  core::Options& more = call.options;
  const bool ring = more.paging.ring_groups != 0;
  const int held = problem.keys, queries = options.valid_queries.or_else(problem.queries);
  const int keys = options.valid_keys.or_else(held);
  constexpr float usual_scale = default_scale(Checked<Shape>::head_dim);
  const float scale = options.scale.or_else(usual_scale);
  const int left = options.window_left.or_else(more.left), right = options.window_right.or_else(-1);
  const int pinned = options.pinned.or_else(more.pinned);
  if (queries < 0 || queries > problem.queries) return Status::bad_valid_queries;
  if (keys < 0 || keys > held) return Status::bad_valid_keys;
  if (is_nan(scale)) return Status::bad_scale;
  if (options.window_left.given && (left < 0 || (ring && left > more.left))) return Status::bad_window;
  if (options.window_right.given && right < 0) return Status::bad_window;
  if (pinned < 0 || (ring && pinned > more.pinned)) return Status::bad_pinned;
  if (!is_cap(options.soft_cap)) return Status::bad_soft_cap;
  const auto is_short = [&](int rows, int columns) { return rows < queries || columns < keys; };
  const auto rows_of = [&](int of_array) { return of_array == 1 ? queries : of_array; };
  if (options.mask.mask.data != nullptr && is_short(rows_of(options.mask.queries), options.mask.mask.keys))
    return Status::bad_mask;
  if (options.bias.mask.data != nullptr && is_short(rows_of(options.bias.queries), options.bias.mask.keys))
    return Status::bad_bias;
  if (options.lse.data != nullptr && options.lse.tokens < queries) return Status::bad_lse;
  if (options.scores.data != nullptr) {
    const bool of_hidden = options.score_stage == ScoreStage::raw || options.score_stage == ScoreStage::capped;
    if (is_short(options.scores.tokens, options.scores.keys) || (ring && of_hidden)) return Status::bad_scores;
    if (has_states && options.score_stage == ScoreStage::weights) return Status::bad_scores;
  }

  problem.queries = queries;
  problem.keys = keys;
  problem.offset = options.offset.or_else(problem.key_panels ? held - queries : 0);
  problem.scale = scale;
  problem.causal = options.causal;
  more.left = left;
  more.right = right;
  more.pinned = pinned;
  if (!is_in_ring(call, held)) return Status::not_in_ring;
  more.paging.ring_tokens = ring ? held : 0;
  more.visible = options.mask.mask;
  more.visible_bits = options.mask.bits;
  more.bias = options.bias.mask;
  more.slopes = options.slopes.data;
  more.relative = options.relative.data;
  more.relative_head_stride = options.relative.head_stride;
  more.relative_left = options.relative.left;
  more.relative_right = options.relative.right;
  more.soft_cap = options.soft_cap;
  more.sinks = options.sinks.data;
  constexpr ptrdiff_t heads = Checked<Shape>::query_heads;
  more.lse = {options.lse.data, heads, 1};
  more.scores = {options.scores.data, heads * options.scores.keys, options.scores.keys};
  more.score_keys = options.scores.keys;
  more.score_stage = options.score_stage;
  return Status::ok;
}

template <class How, class Shape, class... Parts>
Status run_call(OptionCall& call, const ScoreOptions<Shape>& options, const Parts&... part) {
  static_assert(sizeof...(Parts) <= 1, "attend: after the options only an attend::Part may follow");
  if (!good_part(part...)) return Status::bad_part;
  const Status status = prepare(call, options, false);
  if (status == Status::ok) How::run(call.problem, call.options, part...);
  return status;
}

// As prefill says: causal queries without a position are the last tokens of a cache that holds at least as many.
template <class Shape>
bool has_tokens(const ScoreOptions<Shape>& options, int tokens, int held) {
  return !options.causal || options.offset.given || options.valid_queries.or_else(tokens) <= held;
}

}  // namespace detail

// Work memory for calls with ScoreOptions, or over caches other than KvCache, with a query array of so many tokens; however
// many keys there are. Contents do not matter before or after; one per concurrent call.
template <class Shape, int queries = 1>
struct OptionWorkspace : detail::WorkFloats<detail::OptionPlan<Shape, queries>::floats> {};

}  // namespace attend
