// Integer attention in steps and with its keys in parts, as states.h and key_parts.h of floats: the bits are those of one call.
//
//   static attend::IntegerState<Shape> state;
//   while (state.next() < cache.length()) attend::accumulate(query, cache, state, state.next() + 256, work, quantisation);
//   attend::finish(state, output, quantisation);
//
//   static attend::IntegerPartials<Shape> partials;                                                            // common to all
//   attend::accumulate(query, cache, partials, work, quantisation, options, attend::Part{index, count});    // in each thread
//   attend::finish(cache, partials, output, quantisation, options);                                         // in one
#pragma once

#include "detail/call_settings.h"
#include "detail/state_progress.h"
#include "integer.h"
#include "key_parts.h"

namespace attend {

namespace detail {
struct IntegerStateAccess;

// The number of segments that the tokens of a call can see, as SegmentCount.
template <class Shape, class Sizes>
struct IntegerSegmentCount {
  using Ring = IntegerRingSizes<Sizes>;
  static constexpr int count = (Ring::places + segment_keys - 2) / segment_keys + 1 +
                               (Ring::sink_tokens > 0 ? core::segment_count(Ring::sink_tokens) : 0);
};
template <class Shape>
struct IntegerSegmentCount<Shape, NoRing> {
  static constexpr int count = core::segment_count(Capacity<Shape>::value);
};

}  // namespace detail

// The partial attention of some queries, while keys are still to come: for each token and head 4 + 2 * value_dim numbers of 32
// bits, and value_dim once. It may be copied, saved and restored as bytes, also on another machine of the same byte order.
template <class Shape, int tokens = 1>
class IntegerState {
  static_assert(tokens >= 1, "attend: a state needs at least 1 query token");
  using Dims = detail::Checked<Shape>;

 public:
  constexpr IntegerState() : data_{}, sums_{}, progress_{}, settings_(0) {}

  // Forgets everything: the next key is `key`, a multiple of segment_keys (512). For another key it returns bad_begin and
  // changes nothing.
  constexpr Status begin(int key = 0) { return progress_.begin(key); }

  // The next key to take.
  constexpr int next() const { return progress_.next(); }

 private:
  friend detail::IntegerStateAccess;
  int32_t data_[size_t(tokens)][size_t(Dims::query_heads)][core::integer_state_numbers(Dims::value_dim)];
  int32_t sums_[size_t(Dims::value_dim)];  // of the row that is being finished
  detail::Progress progress_;
  uint32_t settings_;  // a hash of what it was taken with
};

// The results of parts, for finish: the sums of each segment of 512 keys, for each token and query head. For an
// IntegerRingCache, the sizes of the ring come third.
template <class Shape, int tokens = 1, class Sizes = detail::NoRing>
class IntegerPartials {
  static_assert(tokens >= 1, "attend: partials need at least 1 query token");
  friend detail::IntegerStateAccess;
  using Dims = detail::Checked<Shape>;
  static constexpr int segments = detail::IntegerSegmentCount<Shape, Sizes>::count;
  int32_t data_[size_t(Dims::query_heads) * size_t(tokens) * size_t(segments) * (size_t(Dims::value_dim) + 2)];
  int32_t sums_[size_t(Dims::value_dim)];
  uint32_t marks_[size_t(Dims::kv_heads) * size_t(segments)];
};

namespace detail {

// Of all but the queries.
inline uint32_t integer_settings_of(const IntegerCall& call) {
  const core::IntegerProblem& problem = call.problem;
  const core::IntegerOptions& more = call.options;
  const bool positioned = problem.causal || more.left >= 0 || more.right >= 0;
  uint32_t hash = hash_with(positioned ? uint32_t(problem.offset) : 0u, problem.causal ? 1u : 0u);
  const int32_t words[] = {more.left, more.right, more.sink_tokens, more.query_zero, more.visible.data != nullptr ? 1 : 0};
  for (const int32_t word : words) hash = hash_with(hash, uint32_t(word));
  for (int head = 0; head < problem.query_heads; ++head) {
    const core::ScoreScale& scale = problem.score_scales[head * problem.score_scale_stride];
    hash = hash_with(hash_with(hash, scale.factor), uint32_t(scale.right));
  }
  return hash;
}

inline uint32_t with_queries(uint32_t hash, const core::IntegerProblem& problem) {
  for (int token = 0; token < problem.queries; ++token) {
    for (int i = 0; i < problem.query_heads * problem.head_dim; ++i) {
      hash = hash_with(hash, uint32_t(problem.query.data[token * problem.query.token_stride + i]));
    }
  }
  return hash;
}

struct IntegerStateAccess {
  // Which arrays a state of a call needs, and how they lie.
  template <class Shape, int tokens>
  static core::Tensor<int32_t> tensor(IntegerState<Shape, tokens>& state) {
    constexpr ptrdiff_t row = core::integer_state_numbers(Checked<Shape>::value_dim);
    return {state.data_[0][0], row * Checked<Shape>::query_heads, row};
  }

  // The rest of accumulate: the call is prepared.
  template <class Shape, int tokens>
  static Status take(IntegerCall& call, IntegerState<Shape, tokens>& state, int up_to) {
    core::IntegerProblem& problem = call.problem;
    Progress& progress = state.progress_;
    const Status status = progress.can_take(up_to, problem.keys, problem.queries);
    if (status != Status::ok) return status;
    const int end = smaller(up_to, problem.keys);
    if (progress.next() % integer_chunk != 0 || (end % integer_chunk != 0 && end != problem.keys)) return Status::bad_up_to;
    const uint32_t settings = with_queries(integer_settings_of(call), problem);
    if (progress.begun() && settings != state.settings_) return Status::other_options;
    call.options.states = tensor(state);
    call.options.first_key = progress.next();
    call.options.begins = !progress.begun();
    problem.keys = end;
    core::run(problem, call.options);
    progress.take(end, problem.queries);
    state.settings_ = settings;
    return Status::ok;
  }

  template <class Shape, int tokens, class OutputArray, class AnyQuantisation>
  static Status finish(IntegerState<Shape, tokens>& state, OutputArray& output, const AnyQuantisation& quantisation) {
    if (quantisation.status() != Status::ok) return quantisation.status();
    if (!state.progress_.can_finish()) return Status::bad_state;
    IntegerCall call;
    set_integer_shape<Shape>(call.problem, state.progress_.queries());
    set_integer_output<Shape>(call.problem, output);
    set_quantisation(call.problem, quantisation);
    call.problem.scratch = state.sums_;
    call.options.states = tensor(state);
    call.options.output_format = IntegerOutputOf<OutputArray, Shape, tokens>::format;
    core::finish(call.problem, call.options);
    state.progress_.finish();
    return Status::ok;
  }

  template <class Shape, int tokens>
  static Status merge(IntegerState<Shape, tokens>& state, const IntegerState<Shape, tokens>& later) {
    if (!state.progress_.can_merge(later.progress_)) return Status::bad_state;
    if (state.settings_ != later.settings_) return Status::other_options;
    core::merge(state.data_[0][0], later.data_[0][0], state.progress_.queries() * Checked<Shape>::query_heads,
                Checked<Shape>::value_dim);
    state.progress_.merge(later.progress_);
    return Status::ok;
  }

  static uint32_t mark_of(const IntegerCall& call) {
    const uint32_t hash = hash_with(uint32_t(call.problem.queries), uint32_t(call.problem.keys));
    return hash_with(hash, integer_settings_of(call)) | 1u;  // not that of memory that is zero
  }

  template <class Any>
  static Status run_part(const IntegerCall& call, Any& partials, const Part& part) {
    core::run_key_part(call.problem, call.options, part.index, part.count, partials.data_);
    write_marks(partials.marks_, core::key_units(call.problem, call.options, part.index, part.count), mark_of(call));
    return Status::ok;
  }
  template <class Any>
  static Status add_parts(IntegerCall& call, Any& partials) {
    const core::KeyUnits units = core::key_units(call.problem, call.options, 0, 1);
    if (!all_marked(partials.marks_, units, mark_of(call))) return Status::bad_partials;
    call.problem.scratch = partials.sums_;
    core::add_key_parts(call.problem, call.options, partials.data_);
    write_marks(partials.marks_, units, 0);  // which is no call's
    return Status::ok;
  }
};

// The common steps of accumulate and finish: everything but queries, work memory and outputs.
template <class Shape, int tokens, class Cache, class AnyQuantisation, class AnyOptions>
Status prepare_over_cache(IntegerCall& call, const Cache& cache, const AnyQuantisation& quantisation,
                          const AnyOptions& options) {
  using Ring = typename IntegerCacheTraits<Cache>::Ring;
  constexpr bool causal = tokens > 1;
  if (quantisation.status() != Status::ok) return quantisation.status();
  if (causal && !are_held(options, Ring::window > 0 || are_positioned(options, true), tokens, cache.length()))
    return Status::bad_query_length;
  set_quantisation(call.problem, quantisation);
  set_integer_keys(call.problem, cache);
  return prepare_integer_call<Ring>(call, options, causal, true);
}

template <class Cache, class Shape, class AnyQuantisation>
constexpr bool is_integer_cache() {
  constexpr bool is_cache = Same<typename IntegerCacheTraits<Cache>::ShapeType, Shape>::value;
  constexpr bool is_quantisation = Same<typename QuantisationOf<AnyQuantisation>::ShapeType, Shape>::value;
  static_assert(is_cache, "attend: second comes an attend::IntegerKvCache or IntegerRingCache of the query's shape");
  static_assert(is_quantisation || !is_cache,
                "attend: after the work memory comes an attend::Quantisation of the query's shape");
  return is_cache && is_quantisation;
}

}  // namespace detail

// As accumulate of states.h. up_to: a multiple of 32, or as many keys as there are; after that a state takes no more.
// clang-format off
//   query         IntegerQuery<Shape, tokens>
//   cache         IntegerKvCache or IntegerRingCache
//   state         IntegerState<Shape, tokens>
//   work          IntegerWorkspace<Shape, tokens>
//   quantisation  Quantisation<Shape>
//   then          Options or IntegerOptions<Shape>
// clang-format on
template <class Shape, int tokens, class Cache, class Work, class AnyQuantisation, class... More>
Status accumulate(const IntegerQuery<Shape, tokens>& query, const Cache& cache, IntegerState<Shape, tokens>& state, int up_to,
                  Work& work, const AnyQuantisation& quantisation, const More&... more) {
  using namespace detail;
  using Plan = IntegerPlan<Shape, tokens, in_steps>;
  static_assert(work_bytes(null_of<Work>()) >= Plan::bytes,
                "attend: accumulate needs an attend::IntegerWorkspace<Shape, tokens>");
  static_assert(IntegerCallArguments<Shape, More...>::in_order && CallArguments<Shape, More...>::only_options,
                "attend: after its attend::Quantisation accumulate takes options only");
  if constexpr (!is_integer_cache<Cache, Shape, AnyQuantisation>()) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    IntegerCall call;
    set_integer_query<Shape, Plan>(call.problem, query, work.data);
    const Status status =
        prepare_over_cache<Shape, tokens>(call, cache, quantisation, pick<Kind::options>(no_options, more...));
    return status == Status::ok ? IntegerStateAccess::take(call, state, up_to) : status;
  }
}

// As finish of states.h. output: IntegerOutput<Shape, tokens> or Int16Output.
template <class Shape, int tokens, class OutputArray, class AnyQuantisation>
Status finish(IntegerState<Shape, tokens>& state, OutputArray& output, const AnyQuantisation& quantisation) {
  using namespace detail;
  constexpr bool is_output = IntegerOutputOf<OutputArray, Shape, tokens>::value;
  constexpr bool is_quantisation = is_output && Same<typename QuantisationOf<AnyQuantisation>::ShapeType, Shape>::value;
  static_assert(is_output,
                "attend: finish takes an attend::IntegerOutput or Int16Output of the state's shape and tokens second");
  static_assert(is_quantisation || !is_output, "attend: finish takes an attend::Quantisation of the state's shape third");
  if constexpr (!is_quantisation) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    return IntegerStateAccess::finish(state, output, quantisation);
  }
}

// As merge of states.h.
template <class Shape, int tokens>
Status merge(IntegerState<Shape, tokens>& state, const IntegerState<Shape, tokens>& later) {
  return detail::IntegerStateAccess::merge(state, later);
}

// As accumulate of key_parts.h.
// clang-format off
//   query         IntegerQuery<Shape, tokens>
//   cache         IntegerKvCache or IntegerRingCache
//   partials      IntegerPartials<Shape, tokens>; over a ring IntegerPartials<Shape, tokens, Sizes>
//   work          IntegerWorkspace<Shape, tokens>, one for each thread
//   quantisation  Quantisation<Shape>
//   then          Options or IntegerOptions<Shape>, the Part
// clang-format on
template <class Shape, int tokens, class Cache, class Sizes, class Work, class AnyQuantisation, class... More>
Status accumulate(const IntegerQuery<Shape, tokens>& query, const Cache& cache, IntegerPartials<Shape, tokens, Sizes>& partials,
                  Work& work, const AnyQuantisation& quantisation, const More&... more) {
  using namespace detail;
  using Plan = IntegerPlan<Shape, tokens, in_steps>;
  static_assert(work_bytes(null_of<Work>()) >= Plan::bytes,
                "attend: accumulate needs an attend::IntegerWorkspace<Shape, tokens>");
  static_assert(IntegerCallArguments<Shape, More...>::in_order);
  if constexpr (!is_integer_cache<Cache, Shape, AnyQuantisation>()) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    const Part& part = pick<Kind::part>(whole_part, more...);
    if (!is_part(part)) return Status::bad_part;
    IntegerCall call;
    set_integer_query<Shape, Plan>(call.problem, query, work.data);
    const Status status =
        prepare_over_cache<Shape, tokens>(call, cache, quantisation, pick<Kind::options>(no_options, more...));
    return status == Status::ok ? IntegerStateAccess::run_part(call, partials, part) : status;
  }
}

// As finish of key_parts.h: cache, quantisation and options must be what they were for the parts.
template <class Cache, class Shape, int tokens, class Sizes, class OutputArray, class AnyQuantisation, class... More>
Status finish(const Cache& cache, IntegerPartials<Shape, tokens, Sizes>& partials, OutputArray& output,
              const AnyQuantisation& quantisation, const More&... more) {
  using namespace detail;
  using Out = IntegerOutputOf<OutputArray, Shape, tokens>;
  static_assert(Out::value,
                "attend: finish takes an attend::IntegerOutput or Int16Output of the partials' shape and tokens third");
  static_assert(IntegerCallArguments<Shape, More...>::in_order && CallArguments<Shape, More...>::only_options,
                "attend: after its attend::Quantisation finish takes options only");
  if constexpr (!is_integer_cache<Cache, Shape, AnyQuantisation>() || !Out::value) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    IntegerCall call;
    set_integer_shape<Shape>(call.problem, tokens);
    set_integer_output<Shape>(call.problem, output);
    call.options.output_format = Out::format;
    const Status status =
        prepare_over_cache<Shape, tokens>(call, cache, quantisation, pick<Kind::options>(no_options, more...));
    return status == Status::ok ? IntegerStateAccess::add_parts(call, partials) : status;
  }
}

}  // namespace attend
