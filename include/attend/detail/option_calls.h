// Calls with ScoreOptions, or over caches that are not plain: their checks, and how a problem of the core and its options are
// filled in.
#pragma once

#include "calls.h"

namespace attend {
namespace detail {

// A normal number above 0, or 0. By its bits, as is_finite.
inline bool is_cap(float cap) {
  unsigned bits;
  __builtin_memcpy(&bits, &cap, sizeof cap);
  return (bits & 0x7fffffffu) == 0 || (bits >= 0x0da24260u && bits <= 0x7149f2cau);
}

template <class Shape>
void set_shape(OptionCall& call, int tokens) {
  using Dims = Checked<Shape>;
  call.problem.query_heads = Dims::query_heads;
  call.problem.kv_heads = Dims::kv_heads;
  call.problem.head_dim = Dims::head_dim;
  call.problem.value_dim = Dims::value_dim;
  call.problem.queries = tokens;
}
// Queries and outputs of `tokens` tokens, by their first numbers.
template <class Shape, class Plan>
void set_query(OptionCall& call, const float* query, int tokens, float* scratch) {
  using Dims = Checked<Shape>;
  set_shape<Shape>(call, tokens);
  core::Problem& problem = call.problem;
  problem.row_block = Plan::row_block;
  problem.key_block = Plan::key_block;
  problem.scratch = scratch;
  problem.query = {query, ptrdiff_t(Dims::query_heads) * Dims::head_dim, Dims::head_dim};
}
template <class Shape>
void set_output(OptionCall& call, float* output) {
  using Dims = Checked<Shape>;
  call.problem.output = {output, ptrdiff_t(Dims::query_heads) * Dims::value_dim, Dims::value_dim};
}
template <class Shape, class Plan, int tokens, class Work>
void set_query(OptionCall& call, const Query<Shape, tokens>& query, Work& work) {
  set_query<Shape, Plan>(call, query.data[0][0], tokens, work.data);
}
template <class Shape, int tokens>
void set_output(OptionCall& call, Output<Shape, tokens>& output) {
  set_output<Shape>(call, output.data[0][0]);
}
template <class Shape, int keys>
void set_keys(OptionCall& call, const Key<Shape, keys>& key, const Value<Shape, keys>& value) {
  const NewTokens<Shape> tokens(key, value);
  call.problem.key = tokens.key;
  call.problem.value = tokens.value;
  call.problem.keys = keys;
}
template <class Cache>
void set_keys(OptionCall& call, const Cache& cache) {
  CacheAccess::rows(cache).set(call);
  call.problem.key_panels = true;
  call.problem.keys = cache.length();
}

// Whether a ring still holds every key that the first query sees of the first `held` tokens; later queries see no older ones.
inline bool is_in_ring(const OptionCall& call, int held) {
  const core::Paging& paging = call.options.paging;
  const int oldest = core::first_ring_panel(paging, held);
  if (paging.ring_panels == 0 || oldest <= paging.sink_panels) return true;
  const int64_t first = int64_t(call.problem.offset) - call.options.left;
  return first >= call.problem.keys || first >= int64_t(oldest) * panel_keys;
}

// The functions below refuse what is out of range, and fill in what the options set. `causal` is whether the call is by
// default. Calls with Options over rings and other formats have the code of the first only.
template <class Shape>
Status prepare_common(OptionCall& call, const Options& options, bool causal, bool positioned) {
  core::Problem& problem = call.problem;
  core::Options& more = call.options;
  const bool ring = more.paging.ring_panels != 0;
  const int held = problem.keys, queries = options.query_length.or_else(problem.queries);
  const int keys = options.key_length.or_else(held);
  constexpr float usual_scale = default_scale(Checked<Shape>::head_dim);
  if (queries < 0 || queries > problem.queries) return Status::bad_query_length;
  if (keys < 0 || keys > held) return Status::bad_key_length;
  if (lacks_tokens(options, problem.key_panels, queries, held)) return Status::empty_cache;
  problem.scale = options.scale.or_else(usual_scale);
  if (!is_finite(problem.scale)) return Status::bad_scale;
  problem.offset = options.offset.or_else(problem.key_panels ? held - queries : 0);
  if (problem.offset > any_number - queries) return Status::bad_offset;
  const Status status = check_offset(options, ring || positioned, problem.key_panels, queries, held);
  if (status != Status::ok) return status;
  problem.queries = queries;
  problem.keys = keys;
  problem.causal = options.causal.or_else(causal);
  if (!is_in_ring(call, held)) return Status::not_in_ring;
  if (ring) more.paging.ring_tokens = held;
  return Status::ok;
}

template <class Shape>
Status prepare_window(core::Options& more, const ScoreOptions<Shape>& options) {
  const bool ring = more.paging.ring_panels != 0;
  const int left = options.window_left.or_else(more.left), right = options.window_right.or_else(-1);
  const int sink_tokens = options.sink_tokens.or_else(more.sink_tokens);
  if (options.window_left.given && (left < 0 || (ring && left > more.left))) return Status::bad_window;
  if (options.window_right.given && right < 0) return Status::bad_window;
  if (sink_tokens < 0 || (ring && sink_tokens > more.sink_tokens)) return Status::bad_sink_tokens;
  if (sink_tokens > 0 && left < 0) return Status::no_effect;
  more.left = left;
  more.right = right;
  more.sink_tokens = sink_tokens;
  return Status::ok;
}

template <class Shape>
Status check_arrays(const OptionCall& call, const ScoreOptions<Shape>& options, bool in_several_calls) {
  const int queries = call.problem.queries, keys = call.problem.keys;
  const auto is_short = [&](int rows, int columns) { return rows < queries || columns < keys; };
  const auto rows_of = [&](int of_array) { return of_array == 1 ? queries : of_array; };
  if (options.mask.mask.data != nullptr && is_short(rows_of(options.mask.queries), options.mask.mask.keys))
    return Status::bad_mask;
  if (options.bias.mask.data != nullptr && is_short(rows_of(options.bias.queries), options.bias.mask.keys))
    return Status::bad_bias;
  if (options.lse.data != nullptr && options.lse.tokens < queries) return Status::bad_lse;
  const bool staged = options.score_stage.given;
  if (options.scores.data == nullptr) return staged ? Status::no_effect : Status::ok;
  if (is_short(options.scores.tokens, options.scores.keys)) return Status::bad_scores;
  if (!staged) return Status::no_score_stage;
  const ScoreStage stage = options.score_stage.number;
  const bool of_masked = stage == ScoreStage::raw || stage == ScoreStage::capped;
  const bool possible =
      !(of_masked && call.options.paging.ring_panels != 0) && !(stage == ScoreStage::weights && in_several_calls);
  return possible ? Status::ok : Status::bad_scores;
}

// in_several_calls: whether the call is one of several into a State or Partials.
template <class Shape>
Status prepare(OptionCall& call, const ScoreOptions<Shape>& options, bool causal, bool in_several_calls) {
  core::Options& more = call.options;
  if (!is_cap(options.soft_cap)) return Status::bad_soft_cap;
  Status status = prepare_window(more, options);
  if (status == Status::ok) status = prepare_common<Shape>(call, options, causal, are_positioned(options, causal));
  if (status == Status::ok) status = check_arrays(call, options, in_several_calls);
  if (status != Status::ok) return status;
  more.visible = options.mask.mask;
  more.visible_bits = options.mask.bits;
  more.bias = options.bias.mask;
  more.alibi_slopes = options.alibi_slopes.data;
  more.relative = options.relative_bias.data;
  more.relative_head_stride = options.relative_bias.head_stride;
  more.relative_left = options.relative_bias.left;
  more.relative_right = options.relative_bias.right;
  more.soft_cap = options.soft_cap;
  more.sink_logits = options.sink_logits.data;
  constexpr ptrdiff_t heads = Checked<Shape>::query_heads;
  more.lse = {options.lse.data, heads, 1};
  more.scores = {options.scores.data, heads * options.scores.keys, options.scores.keys};
  more.score_keys = options.scores.keys;
  more.score_stage = options.score_stage.number;
  return Status::ok;
}

// Runs a call that can have all options. One with a window at most has less code: FormatCacheRows::run_window.
struct OptionRunner {
  static void run(const core::Problem& problem, const core::Options& options) { core::run(problem, options); }
};
template <class Cache, class Plan>
struct WindowRunner {
  static void run(const core::Problem& problem, const core::Options& options) {
    CacheTraits<Cache>::Rows::template run_window<Plan::row_block == 1>(problem, options);
  }
};

template <class Runner>
void run_option_part_of(const OptionCall& call, const Whole&) {
  Runner::run(call.problem, call.options);
}
template <class Runner>
void run_option_part_of(const OptionCall& call, const Part& part) {
  core::run_part(call.problem, call.options, part.index, part.count);
}

template <class Runner, class Shape, class AnyPart>
Status run_options(OptionCall& call, const ScoreOptions<Shape>& options, bool causal, const AnyPart& part) {
  if (!is_part(part)) return Status::bad_part;
  const Status status = prepare(call, options, causal, false);
  if (status == Status::ok) run_option_part_of<Runner>(call, part);
  return status;
}
template <class Runner, class Shape, class AnyPart>
Status run_options(OptionCall& call, const Options& options, bool causal, const AnyPart& part) {
  if (!is_part(part)) return Status::bad_part;
  const Status status = prepare_common<Shape>(call, options, causal, are_positioned(options, causal));
  if (status == Status::ok) run_option_part_of<Runner>(call, part);
  return status;
}

}  // namespace detail
}  // namespace attend
