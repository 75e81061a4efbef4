// Attention in steps: a State takes some keys per call, for a watchdog, a scheduler, threads or several machines, and is
// finished later. However the keys are cut into calls, the bits are those of one call.
//
//   static attend::State<Shape> state;
//   state.begin();
//   while (state.next() < cache.length()) attend::accumulate(query, cache, state, state.next() + 256, work, options);
//   attend::finish(state, output, options);
#pragma once

#include "core/saved.h"
#include "detail/several_calls.h"

namespace attend {

// The nodes of a State that takes keys side by side, anywhere among the first so many.
constexpr int state_nodes(int keys) { return core::state_nodes(keys); }

namespace detail {
template <class Shape>
constexpr int nodes_of_state = state_nodes(MaxTokens<Shape>::named ? MaxTokens<Shape>::value : config::state_keys);
}

// The partial attention of some queries, while keys are still to come. Segments of 512 keys that are finished are kept as nodes
// of a binary tree (core/segments.h): side by side they are few, about 2 * log2(segments) at most, and `nodes` is how many
// there is room for. Segments that no query sees by position have no node. It takes for each token and head 19 + 2 * value_dim
// floats and for each node value_dim + 3; in integers 4 + value_dim numbers of 32 bits, the same for each node, and value_dim
// once. sizeof is all the memory. It may be copied, saved and restored as bytes, also on another machine of the same byte
// order. What save() writes depends on no backend; the bytes of the object may, in signs of zeros and NaN.
template <class Shape, int tokens = 1, int room_for_nodes = detail::nodes_of_state<Shape>>
class State {
  static_assert(tokens >= 1, "attend: a state needs at least 1 query token");
  static_assert(room_for_nodes >= 0, "attend: a state has room for at least 0 nodes");

 public:
  static constexpr int nodes = room_for_nodes;
  // The most bytes that save writes.
  static constexpr size_t most_saved_bytes =
      4 * core::saved_words(detail::is_integer<Shape>, ptrdiff_t(tokens) * detail::Checked<Shape>::query_heads,
                            detail::Checked<Shape>::value_dim, room_for_nodes, true);

  constexpr State() : data_{}, progress_{}, settings_{} {}

  // Forgets everything, and is neutral until it has taken a key. The next key is `key`, a multiple of segment_keys (512). For
  // another key it returns bad_begin and changes nothing. States that begin at others than 0 are for merge().
  constexpr Status begin(int key = 0) { return progress_.begin(key); }

  // The next key to take, behind those that no query sees by position.
  constexpr int next() const { return progress_.next(); }

 private:
  friend detail::StateAccess;
  detail::SumOf<Shape> data_[size_t(tokens) * size_t(detail::Checked<Shape>::query_heads) * detail::state_row<Shape, nodes> +
                             detail::finishing_sums<Shape>];
  detail::Progress progress_;
  detail::CallSettings settings_;  // what it was taken with
};

namespace detail {

// Whether it is a State of so many tokens, with room for any number of nodes.
template <class Shape, int tokens, int nodes>
constexpr bool is_state_of(const State<Shape, tokens, nodes>*) {
  return true;
}
template <class Shape, int tokens>
constexpr bool is_state_of(const void*) {
  return false;
}

// The rest of accumulate: query and state are of this shape. rows: those of a cache or of arrays, of which there are `held`.
template <class Shape, int tokens, int nodes, class Rows, class Work, class... More>
[[gnu::always_inline]] inline Status accumulate_keys(const Query<Shape, tokens>& query, const Rows& rows, int held,
                                                     State<Shape, tokens, nodes>& state, int up_to, Work& work,
                                                     int queries_without_length, const More&... more) {
  using Memory = OptionPlan<Shape, tokens, 0>;
  using Rest = CallArguments<Shape, More...>;
  static_assert(Rest::only_options, "attend: after the work memory accumulate takes options only");
  constexpr bool enough = is_enough<Work, Memory>();
  static_assert(enough,
                "attend: accumulate needs an attend::OptionWorkspace<Shape, query tokens>, for an integer shape a "
                "Workspace<Shape, query tokens>");
  if constexpr (!Rest::right) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    const InUse use(work);
    const CallArrays arrays(query.data[0][0], null_of<NumberOf<Shape>>(), memory_of<enough>(work), tokens, Rows::cached,
                            queries_without_length);
    return run_call<Shape, Memory>(arrays, rows, held, IntoState<Shape, State<Shape, tokens, nodes>>(state, up_to), more...);
  }
}

// How a call of the core finishes the numbers of a state: in floats, and in integers.
template <class Shape>
void set_results(OptionCall& call, const ScoreOptions<Shape>& options, const Whole&, float* output, float* /*sums*/) {
  set_output<Shape>(call.problem, output);
  call.options.sink_logits = options.sink_logits.data;
  call.options.lse = {options.lse.data, Checked<Shape>::query_heads, 1};
  call.options.lse_base2 = options.lse_base == LseBase::two;
}
template <class Shape, int heads, class Number>
void set_results(OptionCall& call, const ScoreOptions<Shape>&, const Quantisation<Shape, heads>& quantisation, Number* output,
                 int32_t* sums) {
  set_output<Shape>(call.problem, output);
  set_quantisation(call.problem, quantisation);
  call.problem.scratch = sums;
  call.options.output_format = format_of<Number>;
}
template <class Shape>
Status check_lse(const ScoreOptions<Shape, float>& options, int queries) {
  return options.lse.data != nullptr && options.lse.tokens < queries ? Status::bad_lse : Status::ok;
}
template <class Shape>
constexpr Status check_lse(const ScoreOptions<Shape, integer>&, int) {
  return Status::ok;
}

template <class Shape, int tokens, int nodes, class Number, class AnyQuantisation>
Status finish_state(State<Shape, tokens, nodes>& state, Number* output, const ScoreOptions<Shape>& options,
                    const AnyQuantisation& quantisation) {
  if (quantisation.status() != Status::ok) return quantisation.status();
  Progress& progress = StateAccess::progress(state);
  const bool begun = progress.begun();  // otherwise it is of as many queries as shall be
  const int queries = begun ? progress.queries() : options.query_length.or_else(tokens);
  const int end = progress.end(), length = options.key_length.or_else(end);
  if (!progress.can_finish() || options.query_length.or_else(queries) != queries) return Status::bad_state;
  if (queries < 0 || queries > tokens) return Status::bad_query_length;
  const bool ends_there = length == end || length == progress.next();
  if (!ends_there || (begun && !are_settings(StateAccess::settings(state), options, quantisation)))
    return Status::other_options;
  const Status lse = check_lse(options, queries);
  if (lse != Status::ok) return lse;
  auto& data = StateAccess::data(state);
  using Arithmetic = ArithmeticCalls<Shape>;
  OptionCall call;
  set_shape<Shape>(call.problem, queries);
  set_results(call, options, quantisation, output, sums_of<Shape>(data));
  call.options.states = states_of<Shape, nodes>(data);
  call.problem.keys = end;
  const Status together = status_of(core::refused(call.problem, call.options));
  if (together != Status::ok) return together;
  if (!begun) {
    const bool needs_keys = end > 0 || (queries > 0 && options.causal.or_else(false) && !options.key_length.given);
    if (needs_keys) return Status::missing_keys;
    Arithmetic::begin(call.problem, call.options);
  } else {
    set_visibility(call.problem, call.options, StateAccess::settings(state));
    const core::SeenKeys seen = Arithmetic::seen_keys(call.problem, call.options);
    const bool ends = options.key_length.given || core::has_own_keys(call.problem);
    if (!ends || !finished_segments<Shape>(state).has_all(seen, end)) return Status::missing_keys;
  }
  Arithmetic::finish(call.problem, call.options);
  progress.finish();
  return Status::ok;
}

}  // namespace detail

// Takes the keys of a cache from state.next() to up_to - 1, or as many as there are, into a state. The state has all keys when
// state.next() is the cache's length, or key_length. Each key is processed once. Keys that no query sees by position are passed
// over: after sink tokens state.next() is where the window begins, at most 63 keys before it, which may lie behind up_to; they
// take neither time nor room for nodes. Options must stay the same between calls. Keys may be appended to the cache between
// calls:
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
//   cache  KvCache, RingCache or PagedCache
//   state  State<Shape, tokens>
//   up_to  >= state.next(), or a key that was passed over; where there are no more keys, nothing happens. Of an integer shape a
//          multiple of 32, or as many keys as there are, after which the state takes no more
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
  constexpr bool is_state = is_query && is_state_of<Shape, tokens>(null_of<StateArray>());
  static_assert(is_cache,
                "attend: accumulate takes an attend::KvCache, RingCache or PagedCache second, or an attend::Key and an "
                "attend::Value second and third");
  static_assert(is_query || !is_cache, "attend: accumulate takes an attend::Query of the cache's shape first");
  static_assert(is_state || !is_query,
                "attend: accumulate takes an attend::State of the cache's shape, with as many tokens as the query, third");
  static_assert(tokens <= CacheTraits<Cache>::most_queries,
                "attend: a RingCache serves at most tokens_at_once query tokens at once");
  if constexpr (!is_state) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    return accumulate_keys(query, CacheAccess::rows(cache), cache.length(), state, up_to, work,
                           CacheAccess::queries_without_length(cache), more...);
  }
}

// The same for arrays, of which every key is visible by default.
// clang-format off
//   key    Key<Shape, keys>
//   value  Value<Shape, keys>, or values_in(key)
// clang-format on
template <class QueryArray, class Shape, int keys, class ValueArray, class StateArray, class Work, class... More>
Status accumulate(const QueryArray& query, const Key<Shape, keys>& key, const ValueArray& value, StateArray& state, int up_to,
                  Work& work, const More&... more) {
  using namespace detail;
  constexpr int tokens = Traits<QueryArray>::tokens;
  constexpr bool is_query = Same<QueryArray, Query<Shape, tokens>>::value;
  constexpr bool is_value = is_query && is_value_of<ValueArray, Shape, keys>;
  constexpr bool is_state = is_value && is_state_of<Shape, tokens>(null_of<StateArray>());
  static_assert(is_query, "attend: accumulate takes an attend::Query of the key's shape first");
  static_assert(is_value || !is_query,
                "attend: accumulate takes an attend::Value of the key's shape, with as many tokens as the key, or "
                "attend::values_in(key), third");
  static_assert(is_state || !is_value,
                "attend: accumulate takes an attend::State of the key's shape, with as many tokens as the query, fourth");
  if constexpr (!is_state) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    return accumulate_keys(query, rows_of(key, value), keys, state, up_to, work, any_number, more...);
  }
}

// Writes the output, and options.lse, of the keys that a state has taken. The state can take more keys afterwards, and must
// before the next finish. Queries of a causal call see the keys at their own positions, and are refused without them, unless
// options.key_length, which is state.next(), says that keys end there.
// clang-format off
//   state   State<Shape, tokens>
//   output  Output<Shape, tokens>
//   then    options, as for accumulate
// clang-format on
template <class Shape, int tokens, int nodes, class OutputArray, class... More>
Status finish(State<Shape, tokens, nodes>& state, OutputArray& output, const More&... more) {
  using namespace detail;
  using Rest = CallArguments<Shape, More...>;
  constexpr bool is_output = is_output_of<OutputArray, Shape, tokens>;
  static_assert(is_output,
                "attend: finish takes an attend::Output of the state's shape, with as many tokens as the state, second");
  static_assert(Rest::only_options && !Rest::ranged,
                "attend: after the output finish takes options only, and no attend::RangedOptions");
  if constexpr (!is_output || !Rest::right) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    return finish_state<Shape, tokens, nodes>(state, output.data[0][0], pick<Kind::options>(no_options, more...),
                                              pick<Kind::quantisation>(whole, more...));
  }
}

// Catches everything else: a temporary, or arguments that are missing or in another order.
template <class... Any>
Status accumulate(const Any&...) {
  static_assert(
      sizeof...(Any) > 1000,
      "attend: accumulate takes an attend::Query, a cache (or an attend::Key and an attend::Value), then an attend::State, "
      "the key to stop before and work memory; then options");
  return Status::ok;
}
template <class... Any>
Status finish(const Any&...) {
  static_assert(sizeof...(Any) > 1000, "attend: finish takes an attend::State and an attend::Output; then options");
  return Status::ok;
}

}  // namespace attend
