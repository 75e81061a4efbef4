// Calls with ScoreOptions, or over caches that are not plain, whose format is an option of the core: their checks, and how a
// problem of the core and its options are filled in.
#pragma once

#include "calls.h"

namespace attend::detail {

// Whether a ring of so many keys in a group still holds every key that the first query sees of the first `held` tokens; later
// queries see no older ones.
template <int group>
bool is_in_ring(const core::Problem& problem, const core::Options& options, int held) {
  const core::Paging& paging = options.paging;
  const int oldest = core::first_ring_panel(paging, held, group);
  if (paging.ring_panels == 0 || oldest <= paging.sink_panels) return true;
  const int64_t first = int64_t(problem.offset) - options.left;
  return first >= problem.keys || first >= int64_t(oldest) * group;
}

// Whether a call can begin at an origin: into a State, over keys one after another, none beyond what a ring takes too.
template <class Rows, class AnyTask>
constexpr bool is_origin(int origin, int held) {
  constexpr bool possible = is_into_state(null_of<AnyTask>()) && Rows::RingType::window == 0 && !is_paged<Rows>;
  return origin == 0 || (possible && origin > 0 && origin % segment_keys == 0 && held <= most_tokens - origin);
}

// Over a ring, `more` already has what the ring keeps.
template <class AnyOptions>
Status prepare_window(core::Options& more, const AnyOptions& options, bool ring) {
  const int left = options.window_left.or_else(more.left), right = options.window_right.or_else(-1);
  const int sink_tokens = options.sink_tokens.or_else(more.sink_tokens);
  if (options.window_left.given && (left < 0 || (ring && left > more.left))) return Status::bad_window;
  if (options.window_right.given && right < 0) return Status::bad_window;
  if (sink_tokens < 0 || (ring && sink_tokens > more.sink_tokens)) return Status::bad_sink_tokens;
  more.left = left;
  more.right = right;
  more.sink_tokens = sink_tokens;
  return Status::ok;
}

// Whether a mask or bias lacks queries or keys.
template <class Setting>
bool is_short(const Setting& setting, const core::Problem& problem) {
  const bool has_few = (setting.queries != 1 && setting.queries < problem.queries) || setting.mask.keys < problem.keys;
  return setting.mask.data != nullptr && has_few;
}

// Of a masked key there is no score: a query's other keys are not gone over, and a ring has lost keys.
template <class Shape>
bool shows_masked(const ScoreOptions<Shape, float>& options) {
  return options.scores.data != nullptr && options.score_stage.number < ScoreStage::biased;
}
template <class Shape>
constexpr bool shows_masked(const ScoreOptions<Shape, integer>&) {
  return false;
}

// Whether arrays are too short, and scores of no stage.
template <class Shape>
Status check_arrays(const core::Problem& problem, const core::Options& more, const ScoreOptions<Shape>& options) {
  if (is_short(options.mask, problem)) return Status::bad_mask;
  if (is_short(options.bias, problem)) return Status::bad_bias;
  if (options.lse.data != nullptr && options.lse.tokens < problem.queries) return Status::bad_lse;
  const bool staged = options.score_stage.given;
  if (options.scores.data == nullptr) return staged ? Status::no_effect : Status::ok;
  if (options.scores.tokens < problem.queries || options.scores.keys < problem.keys) return Status::bad_scores;
  if (!staged) return Status::no_score_stage;
  return shows_masked(options) && more.paging.ring_panels != 0 ? Status::bad_scores : Status::ok;
}

// Whether a bias or a cap changes the products of queries and keys.
template <class Shape>
bool has_terms(const ScoreOptions<Shape>& options) {
  return options.bias.mask.data != nullptr || bits_of(options.soft_cap) << 1 != 0;
}

// The words of the typed surface for what both surfaces refuse.
constexpr Status status_of(core::Refused refused) {
  constexpr Status statuses[] = {Status::ok,        Status::bad_scale, Status::bad_soft_cap, Status::bad_soft_cap,
                                 Status::no_effect, Status::no_effect, Status::no_effect,    Status::bad_scores};
  static_assert(sizeof statuses / sizeof *statuses == size_t(core::Refused::last) + 1, "attend: a refusal has no status");
  return statuses[int(refused)];
}

// The functions below refuse what is out of range, and fill in what the options set. `causal` is whether the call is by
// default; key_panels, whether it is over a cache. Calls with Options over rings and other formats have the code of the first.
template <class Shape, class AnyOptions>
Status prepare_floats(OptionCall& call, const AnyOptions& options, bool causal, bool positioned) {
  core::Problem& problem = call.problem;
  core::Options& more = call.options;
  const bool ring = more.paging.ring_panels != 0;
  const int held = problem.keys;
  constexpr float usual_scale = default_scale(Checked<Shape>::head_dim);
  const Status status =
      prepare_tokens(problem, options, {causal, problem.key_panels, ring || positioned, more.begins, false, more.origin});
  if (status != Status::ok) return status;
  problem.scale = options.scale.or_else(usual_scale);
  if (!core::is_scale(problem.scale)) return Status::bad_scale;
  if (!is_in_ring<panel_keys>(problem, more, held)) return Status::not_in_ring;
  if (ring) more.paging.ring_tokens = held;
  return Status::ok;
}

template <class Shape>
Status prepare(OptionCall& call, const NoOptions& options, bool causal) {
  return prepare_floats<Shape>(call, options, causal, causal);
}
template <class Shape>
Status prepare(OptionCall& call, const Options& options, bool causal) {
  return prepare_floats<Shape>(call, options, causal, are_positioned(options, causal));
}
template <class Shape>
Status prepare(OptionCall& call, const ScoreOptions<Shape>& options, bool causal) {
  core::Options& more = call.options;
  Status status = prepare_window(more, options, more.paging.ring_panels != 0);
  const Options& others = options;
  if (status == Status::ok) status = prepare_floats<Shape>(call, others, causal, are_positioned(options, causal));
  if (status == Status::ok) status = check_arrays(call.problem, more, options);
  if (status != Status::ok) return status;
  more.mask = options.mask.mask;
  more.mask_bits = options.mask.bits;
  more.bias = options.bias.mask;
  more.alibi_slopes = options.alibi_slopes.data;
  more.relative = options.relative_bias.data;
  more.relative_head_stride = options.relative_bias.head_stride;
  more.relative_left = options.relative_bias.left;
  more.relative_right = options.relative_bias.right;
  more.soft_cap = options.soft_cap;
  more.bias_before_cap = options.bias_stage == BiasStage::before_cap;
  more.sink_logits = options.sink_logits.data;
  constexpr ptrdiff_t heads = Checked<Shape>::query_heads;
  more.lse = {options.lse.data, heads, 1};
  more.lse_base2 = options.lse_base == LseBase::two;
  more.scores = {options.scores.data, heads * options.scores.keys, options.scores.keys};
  more.score_keys = options.scores.keys;
  more.score_stage = options.score_stage.number;
  return status_of(core::refused(call.problem, more));
}

// Ranges and documents of a call, in two steps: documents say how many tokens there are before the rest is checked. Calls that
// take neither hold none of this.
template <class AnyOptions>
Status take_documents(core::Problem& problem, const AnyOptions& options, bool cached) {
  if (options.documents.count == nullptr) return Status::ok;
  const int tokens = options.documents.boundaries[*options.documents.count];
  if (cached || tokens > problem.queries || tokens > problem.keys || options.offset.given) return Status::bad_documents;
  if (options.query_length.or_else(tokens) != tokens || options.key_length.or_else(tokens) != tokens) {
    return Status::bad_documents;
  }
  problem.queries = problem.keys = tokens;
  return Status::ok;
}
// Performs a call that is checked but for its ranges.
template <class Arithmetic, class AnyOptions, class AnyTask>
Status run_ranged(const AnyOptions& options, const AnyTask& task, core::Problem& problem, const core::Options& others) {
  const bool has_ranges = options.ranges.tokens != 0;
  if (has_ranges && options.ranges.tokens < problem.queries) return Status::bad_ranges;
  core::RangedOptions ranged;
  static_cast<core::Options&>(ranged) = others;
  ranged.ranges = {options.ranges.first, options.ranges.end, options.documents.boundaries,
                   options.documents.count == nullptr ? 0 : *options.documents.count, 0};
  if (has_ranges && !core::are_ranges(ranged.ranges, problem.queries)) return Status::bad_ranges;
  if ((has_ranges || options.documents.count != nullptr) && shows_masked(options)) return Status::bad_scores;
  return perform<Arithmetic>(task, problem, ranged);
}

// Runs a call over a cache of another format than float or over a ring that asks for a window at most, not into a State. On
// boards that is less code; on hosts core::run_cache is core::Floats::run.
template <class Rows, bool one_row>
struct CacheRunner : core::Floats {
  static void run(const core::Problem& problem, const core::Options& options) {
    Rows::template run_cache<one_row>(problem, options);
  }
};

// A call of floats that has its arrays: refuses what is out of range, fills in what the options set, and performs the task.
//   rows  those of a cache or of arrays, of which there are `held`
template <class Shape, class Plan, class Arrays, class Rows, class AnyOptions, class AnyTask>
[[gnu::always_inline]] inline Status run_with_options(const Arrays& arrays, const Rows& rows, int held,
                                                      const AnyOptions& options, const AnyTask& task) {
  constexpr bool several = is_into_state(null_of<AnyTask>());
  constexpr bool any_options = Rows::needs_no_options || several || is_score_options(null_of<AnyOptions>());
  using Runner = typename Choice<any_options, core::Floats, CacheRunner<Rows, Plan::row_block == 1>>::Type;
  OptionCall call;
  set_query<Shape, Plan>(call.problem, arrays.query, arrays.tokens, arrays.scratch);
  set_output<Shape>(call.problem, arrays.output);
  if constexpr (Rows::needs_no_options) {
    call.problem.key = rows.keys();
    call.problem.value = rows.values();
  } else {
    rows.set(call);
  }
  call.problem.key_panels = Rows::cached;  // also where a cache has none: the checks ask it whether the call is over a cache
  const int origin = origin_of(options);
  if (!is_origin<Rows, AnyTask>(origin, held)) return Status::bad_origin;
  call.problem.keys = origin + held;
  call.options.origin = origin;
  call.options.begins = several;  // until the state says whether it is new
  if (!is_possible(task)) return Status::bad_part;
  constexpr bool ranged = has_ranges(null_of<AnyOptions>());
  static_assert(!ranged || !several, "attend: accumulate and finish take no attend::RangedOptions");
  if constexpr (ranged) {
    const Status status = take_documents(call.problem, options, Rows::cached);
    if (status != Status::ok) return status;
  }
  const Status status = prepare<Shape>(call, options, arrays.causal);
  if (status != Status::ok) return status;
  if constexpr (values_in_keys<Rows>) call.problem.key_panels = false;  // the checks are done
  if constexpr (ranged) {
    return run_ranged<core::Floats>(options, task, call.problem, call.options);
  } else {
    return perform<Runner>(task, call.problem, call.options);
  }
}

}  // namespace attend::detail
