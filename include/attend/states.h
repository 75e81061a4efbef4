// Attention in steps: a State takes some keys per call, for a watchdog, a scheduler or several machines, and is finished later.
// However the keys are cut into calls, the bits are those of one call.
//
//   static attend::State<Shape> state;
//   state.begin();
//   while (state.next() < cache.length()) attend::absorb(query, cache, state, state.next() + 256, work, options);
//   attend::finish(state, output, options);
#pragma once

#include "score_calls.h"

namespace attend {

// What queries are while keys are still to come: for each token and head 20 + 3 * value_dim floats. sizeof is all the memory.
// It may be copied, saved and restored as bytes, also on another machine of the same byte order.
template <class Shape, int tokens = 1>
struct State {
  static_assert(tokens >= 1, "attend: a state needs at least 1 query token");
  static constexpr int row_floats = int(core::state_floats(detail::Checked<Shape>::value_dim));
  float data[tokens][detail::Checked<Shape>::query_heads][row_floats];
  int first;    // key that it began at
  int end;      // key before which it stopped
  int queries;  // query tokens that it is of
  bool begun;   // whether anything, be it no keys, was absorbed since begin()

  constexpr State() : data{}, first(0), end(0), queries(0), begun(false) {}

  // Forgets everything: the next key to absorb is `key`, a multiple of segment_keys (512). States that begin at others than 0
  // are for merge(). False, and no change, for a key that is negative or no such multiple.
  constexpr bool begin(int key = 0) {
    if (key < 0 || key % segment_keys != 0) return false;
    first = end = key;
    begun = false;
    return true;
  }

  // The key that is absorbed next.
  constexpr int next() const { return end; }
};

namespace detail {

template <class Shape, class Type>
constexpr bool is_options() {
  return Same<Type, Options>::value || Same<Type, ScoreOptions<Shape>>::value;
}
template <class Shape>
ScoreOptions<Shape> score_options(const Options& options) {
  return options;
}
template <class Shape>
const ScoreOptions<Shape>& score_options(const ScoreOptions<Shape>& options) {
  return options;
}

template <class Shape, int tokens>
Status absorb_keys(OptionCall& call, State<Shape, tokens>& state, int up_to, const ScoreOptions<Shape>& options) {
  const Status status = prepare(call, options, true);
  if (status != Status::ok) return status;
  core::Problem& problem = call.problem;
  core::Options& more = call.options;
  if (up_to < state.end) return Status::bad_up_to;
  if (state.end > problem.keys || (state.begun && state.queries != problem.queries)) return Status::bad_state;
  constexpr ptrdiff_t row = State<Shape, tokens>::row_floats;
  more.lse = {};
  more.states = {state.data[0][0], row * Checked<Shape>::query_heads, row};
  more.first_key = state.end;
  more.begins = !state.begun;
  problem.keys = smaller(up_to, problem.keys);
  core::run(problem, more);
  state.end = problem.keys;
  state.queries = problem.queries;
  state.begun = true;
  return Status::ok;
}

}  // namespace detail

// The keys of a cache from state.next() to up_to - 1, as far as there are so many, go into a state: it is through when
// state.next() is the cache's length, or valid_keys. What a key costs, it costs once; keys before the windows of all queries,
// but for pinned ones, cost next to nothing. Between calls options must stay the same and the cache may not change (or only be
// appended to, with options.offset and options.valid_keys given).
//   query Query<Shape, tokens>     cache KvCache, FormatCache or RingCache     state State<Shape, tokens>
//   up_to >= state.next()          work OptionWorkspace<Shape, tokens>, or a larger one
//   options ScoreOptions<Shape> or Options: causal or not, as they say
// options.lse and sinks take effect in finish(); scores are written as far as keys have come, but no weights. Refuses bad
// options with a status and touches nothing then.
template <class QueryArray, class Cache, class StateArray, class Work, class AnyOptions>
Status absorb(const QueryArray& query, const Cache& cache, StateArray& state, int up_to, Work& work,
              const AnyOptions& options) {
  using Shape = typename detail::AnyCacheShape<Cache>::ShapeType;
  constexpr int tokens = detail::Traits<QueryArray>::tokens;
  static_assert(!detail::Same<Shape, void>::value,
                "attend: absorb takes an attend::KvCache, FormatCache or RingCache second, or an attend::Key and an "
                "attend::Value second and third");
  static_assert(detail::Same<QueryArray, Query<Shape, tokens>>::value,
                "attend: absorb takes an attend::Query of the cache's shape first");
  static_assert(detail::Same<StateArray, State<Shape, tokens>>::value,
                "attend: absorb takes an attend::State of the cache's shape, with as many tokens as the query, third");
  static_assert(detail::work_floats(static_cast<Work*>(nullptr)) >= detail::OptionPlan<Shape, tokens>::floats,
                "attend: absorb needs an attend::OptionWorkspace<Shape, query tokens>");
  static_assert(detail::is_options<Shape, AnyOptions>(),
                "attend: absorb takes attend::Options, or attend::ScoreOptions of the cache's shape, last");
  static_assert(tokens <= detail::MostQueries<Cache>::value,
                "attend: a RingCache serves at most as many query tokens at once as its last parameter says");
  detail::OptionCall call;
  detail::set_shape<Shape, detail::OptionPlan<Shape, tokens>>(call, work);
  detail::set_query(call, query);
  detail::set_keys(call, cache);
  return detail::absorb_keys(call, state, up_to, detail::score_options<Shape>(options));
}

// The same for arrays.
//   key Key<Shape, keys>     value Value<Shape, keys>
template <class QueryArray, class KeyArray, class ValueArray, class StateArray, class Work, class AnyOptions>
Status absorb(const QueryArray& query, const KeyArray& key, const ValueArray& value, StateArray& state, int up_to, Work& work,
              const AnyOptions& options) {
  using Shape = typename detail::Traits<QueryArray>::ShapeType;
  constexpr int tokens = detail::Traits<QueryArray>::tokens, keys = detail::Traits<KeyArray>::tokens;
  static_assert(detail::Same<QueryArray, Query<Shape, tokens>>::value, "attend: absorb takes an attend::Query first");
  static_assert(detail::Same<KeyArray, Key<Shape, keys>>::value,
                "attend: absorb takes an attend::Key of the query's shape second");
  static_assert(detail::Same<ValueArray, Value<Shape, keys>>::value,
                "attend: absorb takes an attend::Value of the query's shape, with as many tokens as the key, third");
  static_assert(detail::Same<StateArray, State<Shape, tokens>>::value,
                "attend: absorb takes an attend::State of the query's shape, with as many tokens as the query, fourth");
  static_assert(detail::work_floats(static_cast<Work*>(nullptr)) >= detail::OptionPlan<Shape, tokens>::floats,
                "attend: absorb needs an attend::OptionWorkspace<Shape, query tokens>");
  static_assert(detail::is_options<Shape, AnyOptions>(),
                "attend: absorb takes attend::Options, or attend::ScoreOptions of the query's shape, last");
  detail::OptionCall call;
  detail::set_shape<Shape, detail::OptionPlan<Shape, tokens>>(call, work);
  detail::set_query(call, query);
  detail::set_keys(call, key, value);
  return detail::absorb_keys(call, state, up_to, detail::score_options<Shape>(options));
}

// Writes the output, and options.lse, of the keys that a state has been through. The state does not change: more can be
// absorbed.
//   state State<Shape, tokens>     output Output<Shape, tokens>     options as for absorb
template <class StateArray, class OutputArray, class AnyOptions>
Status finish(const StateArray& state, OutputArray& output, const AnyOptions& options) {
  using Shape = typename detail::Traits<StateArray>::ShapeType;
  constexpr int tokens = detail::Traits<StateArray>::tokens;
  static_assert(detail::Same<StateArray, State<Shape, tokens>>::value, "attend: finish takes an attend::State first");
  static_assert(detail::Same<OutputArray, Output<Shape, tokens>>::value,
                "attend: finish takes an attend::Output of the state's shape, with as many tokens as the state, second");
  static_assert(detail::is_options<Shape, AnyOptions>(),
                "attend: finish takes attend::Options, or attend::ScoreOptions of the state's shape, third");
  const ScoreOptions<Shape>& given = detail::score_options<Shape>(options);
  if (!state.begun || given.valid_queries.or_else(state.queries) != state.queries) return Status::bad_state;
  if (given.lse.data != nullptr && given.lse.tokens < state.queries) return Status::bad_lse;
  using Dims = detail::Checked<Shape>;
  constexpr ptrdiff_t row = StateArray::row_floats;
  detail::OptionCall call;
  detail::set_output(call, output);
  call.problem.query_heads = Dims::query_heads;
  call.problem.kv_heads = Dims::kv_heads;
  call.problem.value_dim = Dims::value_dim;
  call.problem.queries = state.queries;
  call.options.states = {const_cast<float*>(state.data[0][0]), row * Dims::query_heads, row};  // only read
  call.options.sinks = given.sinks.data;
  call.options.lse = {given.lse.data, Dims::query_heads, 1};
  core::finish(call.problem, call.options);
  return Status::ok;
}

// Adds to a state one of the same queries that began (State::begin) where it stopped. If `later` has been through at most 512
// keys, that gives the bits of having absorbed them; with more, sums are rounded in another order.
//   state, later State<Shape, tokens>
template <class StateArray, class LaterArray>
Status merge(StateArray& state, const LaterArray& later) {
  using Shape = typename detail::Traits<StateArray>::ShapeType;
  constexpr int tokens = detail::Traits<StateArray>::tokens;
  static_assert(detail::Same<StateArray, State<Shape, tokens>>::value, "attend: merge takes an attend::State first");
  static_assert(detail::Same<LaterArray, StateArray>::value, "attend: merge takes an attend::State of the same type second");
  if (!state.begun || !later.begun || later.first != state.end || later.queries != state.queries) return Status::bad_state;
  core::merge(state.data[0][0], later.data[0][0], state.queries * detail::Checked<Shape>::query_heads,
              detail::Checked<Shape>::value_dim);
  state.end = later.end;
  return Status::ok;
}

}  // namespace attend
