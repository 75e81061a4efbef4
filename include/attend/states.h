// Attention in steps: a State takes some keys per call, for a watchdog, a scheduler or several machines, and is finished later.
// However the keys are cut into calls, the bits are those of one call.
//
//   static attend::State<Shape> state;
//   state.begin();
//   while (state.next() < cache.length()) attend::accumulate(query, cache, state, state.next() + 256, work, options);
//   attend::finish(state, output, options);
#pragma once

#include "detail/call_settings.h"
#include "detail/option_calls.h"
#include "detail/state_progress.h"

namespace attend {

namespace detail {
struct StateAccess;
}

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

// What calls do with states.
struct StateAccess {
  template <class Shape, int tokens>
  static core::Tensor<float> tensor(const State<Shape, tokens>& state) {
    constexpr ptrdiff_t row = core::state_floats(Checked<Shape>::value_dim);
    return {const_cast<float*>(state.data_[0][0]), row * Checked<Shape>::query_heads, row};  // finish only reads
  }

  template <class Shape, int tokens>
  static Status take(OptionCall& call, State<Shape, tokens>& state, int up_to, const ScoreOptions<Shape>& options,
                     bool causal) {
    Status status = prepare(call, options, causal, true);
    if (status != Status::ok) return status;
    core::Problem& problem = call.problem;
    core::Options& more = call.options;
    Progress& progress = state.progress_;
    status = progress.can_take(up_to, problem.keys, problem.queries);
    if (status != Status::ok) return status;
    CallSettings settings = settings_of(problem, more);
    settings.words[CallSettings::query] = hash_of_queries(problem);
    if (progress.begun() && !same_settings(settings, state.settings_)) return Status::other_options;
    more.lse = {};
    more.states = tensor(state);
    more.first_key = progress.next();
    more.begins = !progress.begun();
    problem.keys = smaller(up_to, problem.keys);
    core::run(problem, more);
    progress.take(problem.keys, problem.queries);
    state.settings_ = settings;
    return Status::ok;
  }

  template <class Shape, int tokens>
  static Status finish(State<Shape, tokens>& state, Output<Shape, tokens>& output, const ScoreOptions<Shape>& options) {
    const int queries = state.progress_.queries(), end = state.progress_.next();
    if (!state.progress_.can_finish() || options.query_length.or_else(queries) != queries) return Status::bad_state;
    if (!are_settings(state.settings_, options) || options.key_length.or_else(end) != end) return Status::other_options;
    if (options.lse.data != nullptr && options.lse.tokens < queries) return Status::bad_lse;
    using Dims = Checked<Shape>;
    OptionCall call;
    set_output(call, output);
    call.problem.query_heads = Dims::query_heads;
    call.problem.kv_heads = Dims::kv_heads;
    call.problem.value_dim = Dims::value_dim;
    call.problem.queries = queries;
    call.options.states = tensor(state);
    call.options.sink_logits = options.sink_logits.data;
    call.options.lse = {options.lse.data, Dims::query_heads, 1};
    core::finish(call.problem, call.options);
    state.progress_.finish();
    return Status::ok;
  }

  template <class Shape, int tokens>
  static Status merge(State<Shape, tokens>& state, const State<Shape, tokens>& later) {
    if (!state.progress_.can_merge(later.progress_)) return Status::bad_state;
    if (!same_settings(state.settings_, later.settings_)) return Status::other_options;
    core::merge(state.data_[0][0], later.data_[0][0], state.progress_.queries() * Checked<Shape>::query_heads,
                Checked<Shape>::value_dim);
    state.progress_.merge(later.progress_);
    return Status::ok;
  }
};

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
    static_assert(CallArguments<Shape, More...>::only_options, "attend: after the work memory accumulate takes options only");
    constexpr bool enough = is_enough<Work, OptionPlan<Shape, tokens>>();
    static_assert(enough, "attend: accumulate needs an attend::OptionWorkspace<Shape, query tokens>");
    const auto& options = pick<Kind::options>(no_options, more...);
    if (!are_held(options, is_positioned<Cache>(options, true), tokens, cache.length())) return Status::bad_query_length;
    OptionCall call;
    if constexpr (enough) set_query<Shape, OptionPlan<Shape, tokens>>(call, query, work);
    set_keys(call, cache);
    return StateAccess::take<Shape, tokens>(call, state, up_to, options, true);
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
    static_assert(CallArguments<Shape, More...>::only_options, "attend: after the work memory accumulate takes options only");
    constexpr bool enough = is_enough<Work, OptionPlan<Shape, tokens>>();
    static_assert(enough, "attend: accumulate needs an attend::OptionWorkspace<Shape, query tokens>");
    OptionCall call;
    if constexpr (enough) set_query<Shape, OptionPlan<Shape, tokens>>(call, query, work);
    set_keys(call, key, value);
    return StateAccess::take<Shape, tokens>(call, state, up_to, pick<Kind::options>(no_options, more...), false);
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
    return StateAccess::finish<Shape, tokens>(state, output, pick<Kind::options>(no_options, more...));
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
  return detail::StateAccess::merge(state, later);
}
template <class... Any>
Status merge(const Any&...) {
  static_assert(sizeof...(Any) > 1000, "attend: merge takes an attend::State and another of the same type");
  return Status::ok;
}

}  // namespace attend
