// Calls in integers: their checks, and how a problem of the core is filled in.
#pragma once

#include "integer_rows.h"
#include "option_calls.h"

namespace attend::detail {

constexpr bool is_zero_point(int zero) { return zero >= -128 && zero <= 127; }

// A status of scales that calls will refuse. A constant of them does not compile, and compilers name this function.
inline void a_scale_or_zero_point_is_out_of_range() {}
template <class Status>
constexpr Status refused(Status status) {
  if (is_constant()) a_scale_or_zero_point_is_out_of_range();
  return status;
}

// A plain call whose queries have a zero point, which the code of calls with options computes.
using RunWithZero = void (*)(const core::Problem& problem, int query_zero, int part, int parts);
inline void run_with_zero(const core::Problem& problem, int query_zero, int part, int parts) {
  core::Options options;
  options.query_zero = query_zero;
  options.output_format = core::Format::int8;
  core::Integers::run_part(problem, options, part, parts);
}

// Runs a plain call whose queries have a zero point.
struct QueryZero {
  RunWithZero run_with_zero;
  int number;
  static void run(const core::Problem& problem, const QueryZero& zero) { zero.run_with_zero(problem, zero.number, 0, 1); }
  static void run_part(const core::Problem& problem, const QueryZero& zero, int part, int parts) {
    zero.run_with_zero(problem, zero.number, part, parts);
  }
};

template <class Shape, int heads>
void set_quantisation(core::Problem& problem, const Quantisation<Shape, heads>& quantisation) {
  problem.score_scales = quantisation.scores();
  problem.output_scales = quantisation.outputs();
  problem.scale_stride = quantisation.head_stride;
}
// Refuses what is out of range of the further options, and fills in what they set. A ring's `more` has what it keeps.
template <class Shape>
Status prepare_integer_options(core::Options& more, const ScoreOptions<Shape>& options, const core::Problem& problem,
                               bool has_key_zero) {
  const Status status = prepare_window(more, options, more.paging.ring_panels > 0);
  if (status != Status::ok) return status;
  if (is_short(options.mask, problem)) return Status::bad_mask;
  // Scales lie where tokens do: a ring and pages move them, and scales in the order of tokens would be others' scales.
  const bool moves_tokens = more.paging.ring_panels > 0 || more.paging.pages != nullptr;
  const auto are_short = [&](const TokenSetting<Shape>& scales) {
    return scales.data != nullptr && (moves_tokens || scales.keys < problem.keys - more.origin);
  };
  if (are_short(options.key_scales) || are_short(options.value_scales)) return Status::bad_token_scales;
  if (options.key_scales.data != nullptr && has_key_zero) return Status::bad_zero_point;
  for (int head = 0; options.value_scales.data != nullptr && head < problem.query_heads; ++head) {
    if (problem.output_scales[head * problem.scale_stride].value_zero != 0) return Status::bad_zero_point;
  }
  more.mask = options.mask.mask;
  more.mask_bits = options.mask.bits;
  more.key_scales = options.key_scales.data;
  more.value_scales = options.value_scales.data;
  more.key_scale_stride = options.key_scales.keys;
  more.value_scale_stride = options.value_scales.keys;
  return status_of(core::refused(problem, more));
}
inline Status prepare_integer_options(core::Options&, const Options&, const core::Problem&, bool) { return Status::ok; }

template <class Ring>
void set_integer_ring(core::Options& options, int held) {
  if constexpr (Ring::window > 0) {
    options.paging = {nullptr, 0, Ring::ring_groups, Ring::sink_groups, held};
    options.left = Ring::window - 1;
    options.sink_tokens = Ring::sink_tokens;
  }
}

template <class Number>
constexpr core::Format format_of = sizeof(Number) == 1 ? core::Format::int8 : core::Format::int16;

// As run_with_options. Plain calls hold no code of options.
template <class Shape, class Plan, class Arrays, class Rows, class AnyQuantisation, class AnyOptions, class AnyTask>
[[gnu::always_inline]] inline Status run_integers(const Arrays& arrays, const Rows& rows, int held,
                                                  const AnyQuantisation& quantisation, const AnyOptions& options,
                                                  const AnyTask& task) {
  using Ring = typename Rows::RingType;
  using OutputNumber = typename Arrays::OutputType;
  constexpr bool with_options = is_score_options(null_of<AnyOptions>()) || sizeof(OutputNumber) > 1 || Ring::window > 0 ||
                                is_paged<Rows> || is_into_state(null_of<AnyTask>());
  const bool positioned = Ring::window > 0 || are_positioned(options, arrays.causal);
  if (quantisation.status() != Status::ok) return quantisation.status();
  if (!are_held(arrays, Ring::window > 0, options, held)) return Status::bad_query_length;
  if (!is_possible(task)) return Status::bad_part;
  core::Problem problem;  // all is set, so that no memory is cleared
  problem.scale = 0.0f;
  set_query<Shape, Plan>(problem, arrays.query, Plan::tokens, arrays.scratch);
  set_output<Shape>(problem, arrays.output);
  set_quantisation(problem, quantisation);
  problem.key = rows.keys();
  problem.value = rows.values();
  const int origin = origin_of(options);
  if (options.scale.given) return Status::no_effect;
  if (!is_origin<Rows, AnyTask>(origin, held)) return Status::bad_origin;
  problem.keys = origin + held;
  const CallKind kind = {arrays.causal, Rows::cached, positioned, is_into_state(null_of<AnyTask>()), false, origin};
  problem.key_panels = Rows::cached && config::integer_quads;
  if constexpr (with_options) {
    core::Options more;
    set_integer_ring<Ring>(more, held);
    more.query_zero = quantisation.query_zero();
    more.origin = origin;
    if constexpr (is_paged<Rows>) more.paging = rows.paging();
    constexpr bool ranged = has_ranges(null_of<AnyOptions>());
    static_assert(!ranged || !is_into_state(null_of<AnyTask>()), "attend: accumulate and finish take no attend::RangedOptions");
    if constexpr (ranged) {
      const Status documents = take_documents(problem, options, Rows::cached);
      if (documents != Status::ok) return documents;
    }
    Status status = prepare_tokens(problem, options, kind);
    if (status == Status::ok) status = prepare_integer_options(more, options, problem, quantisation.has_key_zero());
    if (status == Status::ok && !is_in_ring<integer_chunk>(problem, more, held)) status = Status::not_in_ring;
    if (status != Status::ok) return status;
    // Only an origin makes more keys than a cache or arrays have: those of other machines.
    if (origin > 0 && core::most_seen(problem, more.left, more.right, more.sink_tokens) > integer_keys)
      return Status::bad_origin;
    more.output_format = format_of<OutputNumber>;
    if constexpr (ranged) {
      return run_ranged<core::Integers>(options, task, problem, more);
    } else {
      return perform<core::Integers>(task, problem, more);
    }
  } else {
    const Status status = prepare_tokens(problem, options, kind);
    if (status != Status::ok) return status;
    const QueryZero zero = {quantisation.run_with_zero(), quantisation.query_zero()};
    return zero.run_with_zero == nullptr ? perform<core::Integers>(task, problem) : perform<QueryZero>(task, problem, zero);
  }
}

}  // namespace attend::detail
