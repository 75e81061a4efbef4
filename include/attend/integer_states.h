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

#include "integer.h"
#include "key_parts.h"

namespace attend {

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
  friend detail::StateAccess;
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
  friend detail::StateAccess;
  using Dims = detail::Checked<Shape>;
  static constexpr int segments = detail::SegmentCount<Shape, Sizes, detail::IntegerRingSizes>::count;
  int32_t data_[size_t(Dims::query_heads) * size_t(tokens) * size_t(segments) * (size_t(Dims::value_dim) + 2)];
  int32_t sums_[size_t(Dims::value_dim)];
  uint32_t marks_[size_t(Dims::kv_heads) * size_t(segments)];
};

namespace detail {

template <class Cache, class Shape, class AnyQuantisation>
constexpr bool is_integer_cache() {
  constexpr bool is_cache = Same<typename CacheTraits<Cache>::IntegerShape, Shape>::value;
  constexpr bool is_quantisation = Same<typename QuantisationOf<AnyQuantisation>::ShapeType, Shape>::value;
  static_assert(is_cache, "attend: second comes an attend::IntegerKvCache or IntegerRingCache of the query's shape");
  static_assert(is_quantisation || !is_cache,
                "attend: after the work memory comes an attend::Quantisation of the query's shape");
  return is_cache && is_quantisation;
}

template <class Cache, class Sizes>
constexpr void check_ring_of_partials() {
  static_assert(Same<typename CacheTraits<Cache>::Ring::Sizes, Sizes>::value,
                "attend: over an attend::IntegerRingCache partials are attend::IntegerPartials<Shape, tokens, Sizes> with its "
                "Sizes");
}

// Both kinds of accumulate. into: the state or a part of the keys.
template <class Shape, int tokens, class Cache, class Work, class AnyQuantisation, class AnyOptions, class Into>
[[gnu::always_inline]] inline Status accumulate_integers(const IntegerQuery<Shape, tokens>& query, const Cache& cache,
                                                         Work& work, const AnyQuantisation& quantisation,
                                                         const AnyOptions& options, const Into& into) {
  using Plan = IntegerPlan<Shape, tokens, in_steps>;
  static_assert(work_bytes(null_of<Work>()) >= Plan::bytes,
                "attend: accumulate needs an attend::IntegerWorkspace<Shape, tokens>");
  if constexpr (!is_integer_cache<Cache, Shape, AnyQuantisation>()) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    using Ring = typename CacheTraits<Cache>::Ring;
    return run_integers<Plan, Ring, core::IntegerFormat::int8>({query.data[0][0], nullptr, work.data}, CacheAccess::rows(cache),
                                                               cache.length(), quantisation, options, into);
  }
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
  static_assert(IntegerCallArguments<Shape, More...>::in_order && CallArguments<Shape, More...>::only_options,
                "attend: after its attend::Quantisation accumulate takes options only");
  return accumulate_integers(query, cache, work, quantisation, pick<Kind::options>(no_options, more...),
                             IntoState<integer_chunk, IntegerState<Shape, tokens>>(state, up_to));
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
    Progress& progress = StateAccess::progress(state);
    if (quantisation.status() != Status::ok) return quantisation.status();
    if (!progress.can_finish()) return Status::bad_state;
    IntegerCall call;
    set_shape<Shape>(call.problem, progress.queries());
    set_output<Shape>(call.problem, as_bytes(output.data));
    set_quantisation(call.problem, quantisation);
    call.problem.scratch = StateAccess::sums(state);
    call.options.states = states_of(StateAccess::data(state));
    call.options.output_format = IntegerOutputOf<OutputArray, Shape, tokens>::format;
    core::finish(call.problem, call.options);
    progress.finish();
    return Status::ok;
  }
}

// As merge of states.h.
template <class Shape, int tokens>
Status merge(IntegerState<Shape, tokens>& state, const IntegerState<Shape, tokens>& later) {
  using Dims = detail::Checked<Shape>;
  return detail::merge_states(state, later, Dims::query_heads, Dims::value_dim);
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
  static_assert(IntegerCallArguments<Shape, More...>::in_order);
  check_ring_of_partials<Cache, Sizes>();
  const KeyPart<int32_t> key_part(partials, pick<Kind::part>(whole_part, more...));
  if (!is_part(key_part)) return Status::bad_part;
  return accumulate_integers(query, cache, work, quantisation, pick<Kind::options>(no_options, more...), key_part);
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
  check_ring_of_partials<Cache, Sizes>();
  if constexpr (!is_integer_cache<Cache, Shape, AnyQuantisation>() || !Out::value) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    using Ring = typename CacheTraits<Cache>::Ring;
    return run_integers<IntegerPlan<Shape, tokens, in_steps>, Ring, Out::format>(
        {nullptr, output.data, StateAccess::sums(partials)}, CacheAccess::rows(cache), cache.length(), quantisation,
        pick<Kind::options>(no_options, more...), AllKeyParts<int32_t>(partials));
  }
}

}  // namespace attend
