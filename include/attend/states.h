// Attention in steps: a State takes some keys per call, for a watchdog, a scheduler or several machines, and is finished later.
// However the keys are cut into calls, the bits are those of one call.
//
//   static attend::State<Shape> state;
//   state.begin();
//   while (state.next() < cache.length()) attend::accumulate(query, cache, state, state.next() + 256, work, options);
//   attend::finish(state, output, options);
#pragma once

#include "detail/several_calls.h"

namespace attend {

// The partial attention of some queries, while keys are still to come: for each token and head 20 + 3 * value_dim floats.
// sizeof is all the memory. It may be copied, saved and restored as bytes, also on another machine of the same byte order. The
// bytes may differ from backend to backend, where one has raised a maximum before another: by powers of two, which cancel in
// the output.
template <class Shape, int tokens = 1>
class State {
  static_assert(tokens >= 1, "attend: a state needs at least 1 query token");

 public:
  constexpr State() : data_{}, progress_{}, settings_{} {}

  // Forgets everything: the next key is `key`, a multiple of segment_keys (512). For another key it returns bad_begin and
  // changes nothing. States that begin at others than 0 are for merge().
  constexpr Status begin(int key = 0) { return progress_.begin(key); }

  // The next key to take.
  constexpr int next() const { return progress_.next(); }

 private:
  friend detail::StateAccess;
  float data_[size_t(tokens)][size_t(detail::Checked<Shape>::query_heads)]
             [core::state_floats(detail::Checked<Shape>::value_dim)];
  detail::Progress progress_;
  detail::CallSettings settings_;  // what it was taken with
};

namespace detail {

// The rest of accumulate: query and state are of this shape. rows: those of a cache or of arrays, of which there are `held`.
template <class Shape, int tokens, class Rows, class Work, class... More>
[[gnu::always_inline]] inline Status accumulate_keys(const IntoState<1, State<Shape, tokens>>& into,
                                                     const Query<Shape, tokens>& query, const Rows& rows, int held, Work& work,
                                                     const More&... more) {
  using Memory = OptionPlan<Shape, tokens>;
  static_assert(CallArguments<Shape, More...>::only_options, "attend: after the work memory accumulate takes options only");
  constexpr bool enough = is_enough<Work, Memory>();
  static_assert(enough, "attend: accumulate needs an attend::OptionWorkspace<Shape, query tokens>");
  const CallArrays arrays = {query.data[0][0], nullptr, memory_of<enough>(work), tokens, Rows::cached};
  return run_with_options<Shape, Memory>(arrays, rows, held, pick<Kind::options>(no_options, more...), into);
}

template <class Shape, int tokens>
Status finish_state(State<Shape, tokens>& state, Output<Shape, tokens>& output, const ScoreOptions<Shape>& options) {
  Progress& progress = StateAccess::progress(state);
  const int queries = progress.queries(), end = progress.next();
  if (!progress.can_finish() || options.query_length.or_else(queries) != queries) return Status::bad_state;
  if (!are_settings(StateAccess::settings(state), options) || options.key_length.or_else(end) != end)
    return Status::other_options;
  if (options.lse.data != nullptr && options.lse.tokens < queries) return Status::bad_lse;
  OptionCall call;
  set_shape<Shape>(call.problem, queries);
  set_output<Shape>(call.problem, output.data[0][0]);
  call.options.states = states_of(StateAccess::data(state));
  call.options.sink_logits = options.sink_logits.data;
  call.options.lse = {options.lse.data, Checked<Shape>::query_heads, 1};
  core::finish(call.problem, call.options);
  progress.finish();
  return Status::ok;
}

}  // namespace detail

// Takes the keys of a cache from state.next() to up_to - 1, or as many as there are, into a state. The state has all keys when
// state.next() is the cache's length, or key_length. Each key is processed once; keys before the windows of all queries, except
// sink tokens, cost next to nothing. Options must stay the same between calls. Keys may be appended to the cache between calls:
//
//   options.causal = false;                              // or set offset, which otherwise follows the cache's length
//   while (slice_arrives(key, value)) {                  // up to 100 tokens
//     cache.append(key, value);
//     attend::accumulate(query, cache, state, cache.length(), work, options);
//   }
//   attend::finish(state, output, options);
//
// clang-format off
//   query  Query<Shape, tokens>
//   cache  KvCache or RingCache
//   state  State<Shape, tokens>
//   up_to  >= state.next(); equal to it where there are no more keys
//   work   OptionWorkspace<Shape, tokens>
//   then   Options or ScoreOptions<Shape>; causal by default, as prefill is
// clang-format on
// finish() requires the same options; there options.lse and sink_logits take effect. Scores are written for the keys that the
// call takes; weights are refused. Another query than that of the state's first call is refused: begin() was forgotten.
template <class QueryArray, class Cache, class StateArray, class Work, class... More>
Status accumulate(const QueryArray& query, const Cache& cache, StateArray& state, int up_to, Work& work, const More&... more) {
  using namespace detail;
  using Shape = typename CacheTraits<Cache>::ShapeType;
  constexpr int tokens = Traits<QueryArray>::tokens;
  constexpr bool is_cache = !Same<Shape, void>::value;
  constexpr bool is_query = is_cache && Same<QueryArray, Query<Shape, tokens>>::value;
  constexpr bool is_state = is_query && Same<StateArray, State<Shape, tokens>>::value;
  static_assert(
      is_cache,
      "attend: accumulate takes an attend::KvCache or RingCache second, or an attend::Key and an attend::Value second "
      "and third");
  static_assert(is_query || !is_cache, "attend: accumulate takes an attend::Query of the cache's shape first");
  static_assert(is_state || !is_query,
                "attend: accumulate takes an attend::State of the cache's shape, with as many tokens as the query, third");
  static_assert(tokens <= CacheTraits<Cache>::most_queries,
                "attend: a RingCache serves at most tokens_at_once query tokens at once");
  if constexpr (!is_state) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    const auto& options = pick<Kind::options>(no_options, more...);
    if (!are_held(options, is_positioned<Cache>(options, true), tokens, cache.length())) return Status::bad_query_length;
    return accumulate_keys<Shape, tokens>({state, up_to}, query, CacheAccess::rows(cache), cache.length(), work, more...);
  }
}

// The same for arrays, of which every key is visible by default.
// clang-format off
//   key    Key<Shape, keys>
//   value  Value<Shape, keys>
// clang-format on
template <class QueryArray, class Shape, int keys, class ValueArray, class StateArray, class Work, class... More>
Status accumulate(const QueryArray& query, const Key<Shape, keys>& key, const ValueArray& value, StateArray& state, int up_to,
                  Work& work, const More&... more) {
  using namespace detail;
  constexpr int tokens = Traits<QueryArray>::tokens;
  constexpr bool is_query = Same<QueryArray, Query<Shape, tokens>>::value;
  constexpr bool is_value = is_query && Same<ValueArray, Value<Shape, keys>>::value;
  constexpr bool is_state = is_value && Same<StateArray, State<Shape, tokens>>::value;
  static_assert(is_query, "attend: accumulate takes an attend::Query of the key's shape first");
  static_assert(is_value || !is_query,
                "attend: accumulate takes an attend::Value of the key's shape, with as many tokens as the key, third");
  static_assert(is_state || !is_value,
                "attend: accumulate takes an attend::State of the key's shape, with as many tokens as the query, fourth");
  if constexpr (!is_state) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    const ArrayRows<Shape> rows(key.data[0][0], value.data[0][0]);
    return accumulate_keys<Shape, tokens>({state, up_to}, query, rows, keys, work, more...);
  }
}

// Writes the output, and options.lse, of the keys that a state has taken. The state can take more keys afterwards, and must
// before the next finish.
// clang-format off
//   state   State<Shape, tokens>
//   output  Output<Shape, tokens>
//   then    options, as for accumulate
// clang-format on
template <class Shape, int tokens, class OutputArray, class... More>
Status finish(State<Shape, tokens>& state, OutputArray& output, const More&... more) {
  using namespace detail;
  constexpr bool is_output = Same<OutputArray, Output<Shape, tokens>>::value;
  static_assert(is_output,
                "attend: finish takes an attend::Output of the state's shape, with as many tokens as the state, second");
  static_assert(CallArguments<Shape, More...>::only_options, "attend: after the output finish takes options only");
  if constexpr (!is_output) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    return finish_state<Shape, tokens>(state, output, pick<Kind::options>(no_options, more...));
  }
}

// Catches everything else: a temporary, or arguments that are missing or in another order.
template <class... Any>
Status accumulate(const Any&...) {
  static_assert(
      sizeof...(Any) > 1000,
      "attend: accumulate takes an attend::Query, a cache (or an attend::Key and an attend::Value), then an attend::State, "
      "the key to stop before and work memory, or attend::Partials; then options");
  return Status::ok;
}
template <class... Any>
Status finish(const Any&...) {
  static_assert(sizeof...(Any) > 1000,
                "attend: finish takes an attend::State and an attend::Output, or an attend::KvCache, attend::Partials and an "
                "attend::Output; then options");
  return Status::ok;
}

// Adds a later state to a state of the same queries: `later` began (State::begin) where `state` stopped. If `later` has taken
// at most 512 keys, the result has the bits of a state that took them itself; with more, sums are rounded in another order.
// clang-format off
//   state, later  State<Shape, tokens>
// clang-format on
template <class Shape, int tokens>
Status merge(State<Shape, tokens>& state, const State<Shape, tokens>& later) {
  using Dims = detail::Checked<Shape>;
  return detail::merge_states(state, later, Dims::query_heads, Dims::value_dim);
}
template <class... Any>
Status merge(const Any&...) {
  static_assert(sizeof...(Any) > 1000, "attend: merge takes an attend::State and another of the same type");
  return Status::ok;
}

}  // namespace attend
