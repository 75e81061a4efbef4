// The arguments of calls after their arrays, each found by its type; and plain calls, of floats in arrays or a KvCache: their
// checks, and how a problem of the core is filled in. All others, over caches of other formats too, are calls "with options".
#pragma once

#include "../core/rules.h"
#include "../options.h"
#include "workspaces.h"

namespace attend {

template <class Shape, int heads>
class Quantisation;  // integer.h

namespace detail {

// The kinds of arguments after the arrays of a call, each at most once and in this order.
enum class Kind { other, work, quantisation, options, part };

template <size_t count>
constexpr Kind kind_of(const WorkFloats<count>*) {
  return Kind::work;
}
template <class Shape, int heads>
constexpr Kind kind_of(const Quantisation<Shape, heads>*) {
  return Kind::quantisation;
}
constexpr Kind kind_of(const Options*) { return Kind::options; }
constexpr Kind kind_of(const Part*) { return Kind::part; }
constexpr Kind kind_of(const void*) { return Kind::other; }

// The defaults of a call without options or without a part: objects, so that none is made on the caller's stack.
struct Whole {
  static constexpr Status status() { return Status::ok; }  // as of a quantisation, in floats
};
struct NoOptions : Options {};  // a type of its own, so that checks of what nobody has set cost nothing
inline constexpr NoOptions no_options{};
inline constexpr Whole whole{};

// A task that is one of several calls into a State.
struct OneIntoState {};
constexpr bool is_into_state(const void*) { return false; }
constexpr bool is_into_state(const OneIntoState*) { return true; }

// The argument of a kind, or its default.
template <Kind kind, class Fallback>
constexpr Fallback& pick(Fallback& fallback) {
  return fallback;
}
template <Kind kind, class Fallback, class First, class... Others>
constexpr auto& pick(Fallback& fallback, First& first, Others&... others) {
  if constexpr (kind_of(null_of<First>()) == kind) {
    return first;
  } else {
    return pick<kind>(fallback, others...);
  }
}

template <class Shape>
constexpr bool is_of_shape(const void*) {
  return true;
}
template <class Shape, class Other>
constexpr bool is_of_shape(const VisibilityOptions<Other>*) {
  return Same<Other, Shape>::value;
}
template <class Shape, class Other, int heads>
constexpr bool is_of_shape(const Quantisation<Other, heads>*) {
  return Same<Other, Shape>::value;
}
constexpr bool is_score_options(const void*) { return false; }
template <class Shape>
constexpr bool is_score_options(const ScoreOptions<Shape>*) {
  return true;
}

constexpr bool has_ranges(const void*) { return false; }
template <class Shape>
constexpr bool has_ranges(const RangedOptions<Shape>*) {
  return true;
}

// The arguments of a call after its arrays.
template <class Shape, class... More>
struct CallArguments {
  static constexpr bool in_order() {
    const Kind kinds[] = {Kind::other, kind_of(null_of<More>())...};
    for (size_t i = 0; i < sizeof...(More); ++i) {
      if (kinds[i + 1] <= kinds[i]) return false;
    }
    return true;
  }
  static constexpr bool has([[maybe_unused]] Kind kind) { return ((kind_of(null_of<More>()) == kind) || ...); }
  static constexpr bool quantised = has(Kind::quantisation), same_shape = (is_of_shape<Shape>(null_of<More>()) && ...);
  static_assert(in_order(),
                "attend: after its arrays a call takes work memory, if it needs any, for an integer shape an "
                "attend::Quantisation<Shape>, then attend::Options or attend::ScoreOptions<Shape>, then an attend::Part; the "
                "last two may be left out");
  static_assert(same_shape || !in_order(),
                "attend: attend::ScoreOptions and an attend::Quantisation must be of the shape of the call's arrays");
  static_assert(quantised || !is_integer<Shape> || !same_shape || !in_order(),
                "attend: a call of an integer shape takes an attend::Quantisation<Shape> after its work memory");
  // Whether all of that is so; what is not, the compiler has reported.
  static constexpr bool right = in_order() && same_shape && quantised == is_integer<Shape>;
  static constexpr bool score_options = !is_integer<Shape> && (is_score_options(null_of<More>()) || ...);
  static constexpr bool work = has(Kind::work), ranged = (has_ranges(null_of<More>()) || ...);
  static constexpr bool only_options = !work && !has(Kind::part);
};

// What a call does with a problem that was checked, its task: it computes the whole of it (Whole) or a Part, takes its keys
// into a state (IntoState), computes one row of a batch (RowCall) or the blocks of a layer (LayerCall). A type is one where
// there are
//   is_possible(task)                     whether it is in range
//   perform<Runner>(task, problem...)     does it, by core::Floats, core::Integers or what has their functions
inline bool is_possible(const Whole&) { return true; }
inline bool is_possible(const Part& part) { return is_part(part); }
inline bool is_possible(const OneIntoState&) { return true; }

// Whether anything in the options depends on the positions of queries. causal: whether the call is by default.
[[gnu::always_inline]] inline bool are_positioned(const Options& options, bool causal) {
  return options.causal.or_else(causal);
}
template <class Shape>
bool are_positioned(const VisibilityOptions<Shape>& options, bool causal) {
  return options.causal.or_else(causal) || options.window_left.given || options.window_right.given;
}
template <class Shape>
bool are_positioned(const ScoreOptions<Shape, float>& options, bool causal) {
  const VisibilityOptions<Shape>& visibility = options;
  return are_positioned(visibility, causal) || options.alibi_slopes.data != nullptr || options.relative_bias.data != nullptr;
}

// Queries over a cache that have no offset are its last tokens, which it must hold where positions matter. Inlined, so that
// constant options cost nothing.
//   most  the most queries of an array that has no query_length
[[gnu::always_inline]] inline bool are_held(const Options& options, bool positioned, int tokens, int most, int held) {
  const bool all = !options.query_length.given;
  return !positioned || options.offset.given || (all ? tokens <= most : options.query_length.number <= held);
}

// An offset must be set where it does something, and only there; over a cache, whose length gives it, it need not be. Queries
// over arrays without one are the first tokens of the keys where there are as many of both: as the array has, or as are valid.
//   held  keys of the array or cache
[[gnu::always_inline]] inline Status check_offset(const Options& options, bool positioned, bool cached, int queries, int held) {
  if (options.offset.given) return positioned ? Status::ok : Status::no_effect;
  const bool clear = !positioned || cached || queries == 0 || queries == held || queries == options.key_length.or_else(held);
  return clear ? Status::ok : Status::ambiguous_offset;
}

// The cache is empty although queries attend to it: an append was forgotten, unless the options set key_length to 0.
[[gnu::always_inline]] inline bool lacks_tokens(const Options& options, bool cached, int queries, int held) {
  return cached && held == 0 && queries > 0 && !options.key_length.given;
}

// The position of the first key of arrays or of a cache.
constexpr int origin_of(const Options&) { return 0; }
template <class Shape>
constexpr int origin_of(const VisibilityOptions<Shape>& options) {
  return options.origin;
}

// What a call's checks depend on beside its options: whether it is causal by default, over a cache, of queries whose positions
// matter, one of several into a State, and whether positions of queries may pass the largest int, as in plain calls; and the
// position of its first key.
struct CallKind {
  bool causal, cached, positioned, in_several_calls, takes_any_offset;
  int origin;
};

// Refuses what is out of range of a call's tokens, which a problem has from its arrays or its cache, and fills in what Options
// set.
[[gnu::always_inline]] inline Status prepare_tokens_inlined(core::Problem& problem, const Options& options,
                                                            const CallKind& call) {
  const int held = problem.keys, queries = options.query_length.or_else(problem.queries);
  const int keys = options.key_length.or_else(held);
  const bool needs_tokens = call.cached && !call.in_several_calls;  // to a state an empty cache adds nothing
  if (queries < 0 || queries > problem.queries) return Status::bad_query_length;
  if (keys < call.origin || keys > held) return Status::bad_key_length;
  if (lacks_tokens(options, needs_tokens, queries, held - call.origin)) return Status::empty_cache;
  const int offset = options.offset.or_else(call.cached ? held - queries : 0);
  if (!call.takes_any_offset && offset > any_number - queries) return Status::bad_offset;
  const Status position = check_offset(options, call.positioned, call.cached, queries, held);
  if (position != Status::ok) return position;
  problem.offset = offset;
  problem.queries = queries;
  problem.keys = keys;
  problem.causal = options.causal.or_else(call.causal);
  return Status::ok;
}
inline Status prepare_tokens(core::Problem& problem, const Options& options, const CallKind& call) {
  return prepare_tokens_inlined(problem, options, call);
}
[[gnu::always_inline]] inline Status prepare_tokens(core::Problem& problem, const NoOptions& options, const CallKind& call) {
  return prepare_tokens_inlined(problem, options, call);
}

// Programs without parts do not link the code that cuts.
template <class Runner, class... Problem>
Status perform(const Whole&, const Problem&... problem) {
  Runner::run(problem...);
  return Status::ok;
}
template <class Runner, class... Problem>
Status perform(const Part& part, const Problem&... problem) {
  Runner::run_part(problem..., part.index, part.count);
  return Status::ok;
}

// These fill in a problem, of floats or of integers: its extents, and its arrays by their first numbers.
template <class Shape>
void set_shape(core::Problem& problem, int tokens) {
  using Dims = Checked<Shape>;
  problem.query_heads = Dims::query_heads;
  problem.kv_heads = Dims::kv_heads;
  problem.head_dim = Dims::head_dim;
  problem.value_dim = Dims::value_dim;
  problem.queries = tokens;
}
template <class Shape, class Plan>
void set_query(core::Problem& problem, const void* query, int tokens, void* scratch) {
  using Dims = Checked<Shape>;
  set_shape<Shape>(problem, tokens);
  problem.row_block = Plan::row_block;
  problem.key_block = Plan::key_block;
  problem.scratch = scratch;
  problem.query = {query, ptrdiff_t(Dims::query_heads) * Dims::head_dim, Dims::head_dim};
}
template <class Shape>
void set_output(core::Problem& problem, void* output) {
  using Dims = Checked<Shape>;
  problem.output = {output, ptrdiff_t(Dims::query_heads) * Dims::value_dim, Dims::value_dim};
}

// Whether a call over the keys of a cache or of arrays is plain: of floats in arrays or in a KvCache, with Options.
template <class Keys, class AnyOptions>
constexpr bool is_plain = Keys::needs_no_options && !is_score_options(null_of<AnyOptions>());

// First elements of the arrays of a call, which may lack some, and its work memory; their tokens, and whether it is causal by
// default.
template <class Number, class OutputNumber>
struct CallArrays {
  using OutputType = OutputNumber;
  constexpr CallArrays(const Number* query_, OutputNumber* output_, void* scratch_, int tokens_, bool causal_,
                       int most_ = any_number)
      : query(query_), output(output_), scratch(scratch_), tokens(tokens_), causal(causal_), queries_without_length(most_) {}
  const Number* query;
  OutputNumber* output;
  void* scratch;
  int tokens;
  bool causal;
  int queries_without_length;  // the most over a cache (kv_cache.h); any_number: not checked
};

template <class Arrays, class AnyOptions>
[[gnu::always_inline]] inline bool are_held(const Arrays& arrays, bool ring, const AnyOptions& options, int held) {
  if (arrays.queries_without_length == any_number) return true;
  return are_held(options, ring || are_positioned(options, true), arrays.tokens, arrays.queries_without_length, held);
}

// In option_calls.h, and in integer_calls.h, which integer.h brings along.
template <class Shape, class Plan, class Arrays, class Rows, class AnyOptions, class AnyTask>
Status run_with_options(const Arrays& arrays, const Rows& rows, int held, const AnyOptions& options, const AnyTask& task);
template <class Shape, class Plan, class Arrays, class Rows, class AnyQuantisation, class AnyOptions, class AnyTask>
Status run_integers(const Arrays& arrays, const Rows& rows, int held, const AnyQuantisation& quantisation,
                    const AnyOptions& options, const AnyTask& task);

// A call of any shape over the rows of a cache or of arrays, of which there are `held`, as a task. more: its
// arguments after the arrays, of which the quantisation and the options count here.
template <class Shape, class Plan, class Arrays, class Rows, class AnyTask, class... More>
[[gnu::always_inline]] inline Status run_call(const Arrays& arrays, const Rows& rows, int held, const AnyTask& task,
                                              const More&... more) {
  const auto& options = pick<Kind::options>(no_options, more...);
  if constexpr (is_integer<Shape>) {
    return run_integers<Shape, Plan>(arrays, rows, held, pick<Kind::quantisation>(whole, more...), options, task);
  } else {
    if (!are_held(arrays, Rows::RingType::window > 0, options, held)) return Status::bad_query_length;
    if constexpr (is_plain<Rows, typename Bare<decltype(options)>::Name> && !is_into_state(null_of<AnyTask>())) {
      constexpr float usual_scale = default_scale(Checked<Shape>::head_dim);  // by name, or some compilers iterate in double
      core::Problem problem;  // field by field: compilers clear what is made of a list
      problem.queries = arrays.tokens;
      problem.keys = held;
      const CallKind kind = {arrays.causal, Rows::cached, options.causal.or_else(arrays.causal), false, true, 0};
      const Status status = prepare_tokens(problem, options, kind);
      if (status != Status::ok) return status;
      problem.scale = options.scale.or_else(usual_scale);
      if (!core::is_scale(problem.scale)) return Status::bad_scale;
      if (!is_possible(task)) return Status::bad_part;
      set_query<Shape, Plan>(problem, arrays.query, problem.queries, arrays.scratch);
      set_output<Shape>(problem, arrays.output);
      problem.key = rows.keys();
      problem.value = rows.values();
      problem.key_panels = Rows::cached;
      problem.score_scales = nullptr;
      problem.output_scales = nullptr;
      problem.scale_stride = 0;
      return perform<core::Floats>(task, problem);
    } else {
      return run_with_options<Shape, Plan>(arrays, rows, held, options, task);
    }
  }
}

}  // namespace detail
}  // namespace attend
