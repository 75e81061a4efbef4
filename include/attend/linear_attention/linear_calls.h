// The calls of linear attention: prefill and decode, which move a state on, and attention, which leaves it.
#pragma once

#include "linear_state.h"

namespace attend {

// The argument in place of a state: attention begins with an empty one.
struct EmptyState {};
inline constexpr EmptyState empty_state{};

namespace detail {

// What may follow the output of a call: a TeamPart is a Part.
struct LinearArguments {
  LinearOptions options{};
  Part part{};
  constexpr void take(const LinearOptions& given) { options = given; }
  constexpr void take(const Part& given) { part = given; }
  template <class Shape, int heads>
  constexpr void take(const LinearQuantisation<Shape, heads>&) {}
};
constexpr bool is_any_part(const void*) { return false; }
constexpr bool is_any_part(const Part*) { return true; }
// others: how many arguments there are besides.
template <int others, class... More>
constexpr bool are_linear_arguments() {
  constexpr int options = (int(Same<More, LinearOptions>::value) + ... + 0),
                parts = (int(is_any_part(null_of<More>())) + ... + 0);
  return options <= 1 && parts <= 1 && options + parts + others == int(sizeof...(More));
}

inline Status set_linear_scale(core::LinearAttention& call, const Setting<float>& scale, float usual_scale) {
  call.scale = scale.or_else(usual_scale);
  return core::is_scale(call.scale) ? Status::ok : Status::bad_scale;
}
inline Status set_linear_scale(core::IntegerLinearAttention&, const Setting<float>& scale, float) {
  return scale.given ? Status::bad_scale : Status::ok;
}

// Which tokens of a call there are.
template <class Call>
Status set_tokens(Call& call, const LinearOptions& options) {
  const int most = call.tokens, count = options.count.or_else(most);
  if (count < 0 || count > most || options.first < 0 || options.first > count) return Status::bad_count;
  call.first = options.first, call.tokens = count;
  if (options.documents.boundaries == nullptr) return Status::ok;
  call.boundaries = options.documents.boundaries, call.documents = *options.documents.count;
  return call.boundaries[call.documents] == count ? Status::ok : Status::bad_documents;
}

constexpr bool is_linear_state(const void*) { return false; }
constexpr bool is_linear_state(const EmptyState*) { return true; }
template <class Shape>
constexpr bool is_linear_state(const LinearState<Shape>*) {
  return true;
}
// The calls of linear attention are those that have a state.
template <class State, bool = is_linear_state(null_of<State>())>
struct IfLinearState {};
template <class State>
struct IfLinearState<State, true> {
  using Type = int;
};

// A call with a state that moves on, whose work is nullptr, or with work memory. Of parts the first one counts tokens.
template <class QueryArray, class KeyArray, class ValueArray, class GateArray, class State, class OutputArray, class Work,
          class... More>
Status run_linear(const QueryArray& query, const KeyArray& key, const ValueArray& value, const GateArray& gates, State& state,
                  OutputArray& output, [[maybe_unused]] Work work, const More&... more) {
  using Shape = typename Traits<QueryArray>::ShapeType;
  constexpr int tokens = Traits<QueryArray>::tokens;
  constexpr bool is_query = Same<QueryArray, Query<Shape, tokens>>::value, stays = Same<const State, State>::value;
  constexpr bool is_empty = Same<State, const EmptyState>::value;
  constexpr bool is_state = is_query && (is_empty || Same<const State, const LinearState<Shape>>::value);
  constexpr int scales = (int(IsLinearQuantisation<Shape, More>::value) + ... + 0);
  constexpr bool only_options = are_linear_arguments<scales, More...>();
  static_assert(is_query, "attend: linear attention takes an attend::Query first");
  static_assert(is_state || !is_query, "attend: linear attention takes an attend::LinearState of the query's shape");
  static_assert(!stays || !Same<Work, decltype(nullptr)>::value || !is_state,
                "attend: prefill and decode move an attend::LinearState on, which must not be const: attention leaves it");
  static_assert(only_options || !is_state,
                "attend: at its end a call of linear attention takes at most one attend::LinearOptions and one attend::Part");
  static_assert(scales == is_integer<Shape> || !only_options || !is_state,
                "attend: a call of linear attention in integers takes one attend::LinearQuantisation of the shape at its end");
  if constexpr (is_state && only_options) {
    if constexpr (are_linear_arrays<Shape, tokens, KeyArray, ValueArray, GateArray>()) {
      using Dims = LinearChecked<Shape>;
      constexpr bool is_output = Same<OutputArray, Output<Shape, tokens>>::value;
      static_assert(is_output, "attend: linear attention takes an attend::Output, like its query, behind the state");
      constexpr float usual_scale = default_scale(Dims::head_dim);
      typename LinearTypes<Shape>::Call call;
      set_linear(call, key, value, gates);
      LinearArguments arguments;
      (arguments.take(more), ...);
      const Part& part = arguments.part;
      Status status = set_tokens(call, arguments.options);
      if (status == Status::ok) status = set_linear_scale(call, arguments.options.scale, usual_scale);
      ((status = status == Status::ok ? set_scales(call, more) : status), ...);
      if (status != Status::ok) return status;
      if (!is_part(part)) return Status::bad_part;
      call.query = {query.data[0][0], ptrdiff_t(Dims::query_heads) * Dims::head_dim, Dims::head_dim};
      if constexpr (is_output)
        call.output = {output.data[0][0], ptrdiff_t(sizeof output[0] / sizeof output.data[0][0][0]), Dims::value_dim};
      if constexpr (!stays) call.state = LinearAccess::data(state);
      if constexpr (stays && !is_empty) call.from = LinearAccess::data(state);
      call.work = work;
      core::run_linear_attention<Dims::rule, Dims::decay>(call, part.index, part.count);
      if constexpr (!stays) LinearAccess::tokens(state) += part.index == 0 ? uint64_t(call.tokens - call.first) : 0;
    }
  }
  return Status::ok;
}

}  // namespace detail

// The state takes tokens one after another, and after each of them its query reads it; any cut into calls gives the same bits.
// A call that finds an argument out of range returns a status and changes nothing. Outputs must not overlap anything
// else.
// clang-format off
//   query   Query<Shape, tokens>
//   key     Key<Shape, tokens>
//   value   Value<Shape, tokens>, of value_heads
//   gates   Gates<Shape, tokens>
//   state   LinearState<Shape>
//   output  Output<Shape, tokens>, of as many heads as the larger of query_heads and value_heads
//   then    LinearOptions, a Part: threads make the same call with the same state, each with its own index
// clang-format on
template <class QueryArray, class KeyArray, class ValueArray, class GateArray, class State, class OutputArray, class... More,
          class = typename detail::IfLinearState<State>::Type>
Status prefill(const QueryArray& query, const KeyArray& key, ValueArray& value, GateArray& gates, State& state,
               OutputArray& output, const More&... more) {
  return detail::run_linear(query, key, value, gates, state, output, nullptr, more...);
}

// The same for one token.
template <class QueryArray, class KeyArray, class ValueArray, class GateArray, class State, class OutputArray, class... More,
          class = typename detail::IfLinearState<State>::Type>
Status decode(const QueryArray& query, const KeyArray& key, ValueArray& value, GateArray& gates, State& state,
              OutputArray& output, More&&... more) {
  static_assert(detail::Traits<QueryArray>::tokens <= 1, "attend: decode takes one token: prefill takes several");
  return detail::run_linear(query, key, value, gates, state, output, nullptr, more...);
}

// The outputs that prefill would give, from a state that stays as it is, or from empty_state: for drafts, whose accepted tokens
// are appended to the state afterwards, and for whole sequences that nothing follows.
// clang-format off
//   state   LinearState<Shape>, or empty_state
//   output  Output<Shape, tokens>
//   work    LinearWorkspace<Shape>, of each part its own
// clang-format on
template <class QueryArray, class KeyArray, class ValueArray, class GateArray, class State, class OutputArray, class Work,
          class... More, class = typename detail::IfLinearState<State>::Type>
Status attention(const QueryArray& query, const KeyArray& key, ValueArray& value, GateArray& gates, State& state,
                 OutputArray& output, Work& work, const More&... more) {
  constexpr bool is_work = detail::Same<Work, LinearWorkspace<typename detail::Traits<QueryArray>::ShapeType>>::value;
  static_assert(is_work, "attend: attention with a LinearState takes an attend::LinearWorkspace<Shape> after the output");
  if constexpr (is_work) {
    const State& stays = state;
    return detail::run_linear(query, key, value, gates, stays, output, work.data, more...);
  } else {
    return Status::ok;
  }
}
template <class QueryArray, class KeyArray, class ValueArray, class GateArray, class State, class OutputArray,
          class = typename detail::IfLinearState<State>::Type>
Status attention(const QueryArray& query, const KeyArray& key, ValueArray& value, GateArray& gates, State& state,
                 OutputArray& output) {
  return attention(query, key, value, gates, state, output, state);  // which the compiler refuses: this is no work memory
}

}  // namespace attend
