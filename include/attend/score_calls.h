// Attention with more said about its scores: the calls of attention.h with ScoreOptions in the place of Options, and with an
// OptionWorkspace as work memory, for decode too.
//
//   attend::ScoreOptions<Wake> options;
//   options.causal = true;
//   options.window_left = 128;
//   options.pinned = 4;
//   attend::attention(query, key, value, output, work, options);
//
// Programs that make no such call hold none of the code. Options and what a call fills in take 1 KB of stack.
#pragma once

#include "score_options.h"

namespace attend {

// One-shot attention over arrays. Self-attention when queries and keys come from the same tokens, cross-attention otherwise.
//   query  Query<Shape, queries>     key  Key<Shape, keys>     value  Value<Shape, keys>
//   output Output<Shape, queries>    work OptionWorkspace<Shape, queries>, or a larger one
//   options ScoreOptions<Shape>
// Output, work, lse and scores must not overlap anything else. Refuses bad options with a status and touches nothing then. With
// an attend::Part after the options, as attention.h says.
template <class QueryArray, class KeyArray, class ValueArray, class OutputArray, class Work, class OptionsShape, class... Parts>
Status attention(const QueryArray& query, const KeyArray& key, const ValueArray& value, OutputArray& output, Work& work,
                 const ScoreOptions<OptionsShape>& options, const Parts&... part) {
  using Shape = typename detail::Traits<QueryArray>::ShapeType;
  constexpr int queries = detail::Traits<QueryArray>::tokens, keys = detail::Traits<KeyArray>::tokens;
  static_assert(detail::Same<QueryArray, Query<Shape, queries>>::value, "attend: attention takes an attend::Query first");
  static_assert(detail::Same<KeyArray, Key<Shape, keys>>::value,
                "attend: attention takes an attend::Key of the query's shape second");
  static_assert(detail::Same<ValueArray, Value<Shape, keys>>::value,
                "attend: attention takes an attend::Value of the query's shape, with as many tokens as the key, third");
  static_assert(detail::Same<OutputArray, Output<Shape, queries>>::value,
                "attend: attention takes an attend::Output of the query's shape, with as many tokens as the query, fourth");
  static_assert(detail::Same<OptionsShape, Shape>::value, "attend: attention takes attend::ScoreOptions of the query's shape");
  using Plan = detail::OptionPlan<Shape, queries>;
  static_assert(detail::work_floats(static_cast<Work*>(nullptr)) >= Plan::floats,
                "attend: attention with ScoreOptions needs an attend::OptionWorkspace<Shape, query tokens>");
  detail::OptionCall call;
  detail::set_shape<Shape, Plan>(call, work);
  detail::set_query(call, query);
  detail::set_output(call, output);
  detail::set_keys(call, key, value);
  return detail::run_call<detail::AnyOptions>(call, options, part...);
}

namespace detail {

// What prefill and decode have in common: a call over a cache, whatever it is.
template <class How, class Shape, int tokens, class Cache, class Work, class... Parts>
Status run_over_cache(const Query<Shape, tokens>& query, const Cache& cache, Output<Shape, tokens>& output, Work& work,
                      const ScoreOptions<Shape>& options, const Parts&... part) {
  static_assert(tokens <= MostQueries<Cache>::value,
                "attend: a RingCache serves at most as many query tokens at once as its last parameter says");
  OptionCall call;
  set_shape<Shape, OptionPlan<Shape, tokens>>(call, work);
  set_query(call, query);
  set_output(call, output);
  set_keys(call, cache);
  return run_call<How>(call, options, part...);
}

}  // namespace detail

namespace detail {

template <class How, class QueryArray, class Cache, class OutputArray, class Work, class OptionsShape, class... Parts>
Status prefill_over(const QueryArray& query, const Cache& cache, OutputArray& output, Work& work,
                    const ScoreOptions<OptionsShape>& options, const Parts&... part) {
  using Shape = typename AnyCacheShape<Cache>::ShapeType;
  constexpr int tokens = Traits<QueryArray>::tokens;
  static_assert(!Same<Shape, void>::value, "attend: prefill takes an attend::KvCache, FormatCache or RingCache second");
  static_assert(Same<QueryArray, Query<Shape, tokens>>::value,
                "attend: prefill takes an attend::Query of the cache's shape first");
  static_assert(Same<OutputArray, Output<Shape, tokens>>::value,
                "attend: prefill takes an attend::Output of the cache's shape, with as many tokens as the query, third");
  static_assert(Same<OptionsShape, Shape>::value, "attend: prefill takes attend::ScoreOptions of the cache's shape");
  static_assert(work_floats(static_cast<Work*>(nullptr)) >= OptionPlan<Shape, tokens>::floats,
                "attend: prefill with ScoreOptions needs an attend::OptionWorkspace<Shape, query tokens>");
  if (!has_tokens(options, tokens, cache.length())) return Status::bad_valid_queries;
  return run_over_cache<How>(query, cache, output, work, options, part...);
}

}  // namespace detail

// Attention of a chunk of tokens over a cache that already holds them, any of KvCache, FormatCache and RingCache. Unlike
// Options that are left out, options say themselves whether they are causal. By default the queries are the last tokens of the
// cache, which must hold at least as many.
//   query Query<Shape, tokens>     output Output<Shape, tokens>     work OptionWorkspace<Shape, tokens>, or a larger one
//   options ScoreOptions<Shape>
template <class QueryArray, class Cache, class OutputArray, class Work, class OptionsShape, class... Parts>
Status prefill(const QueryArray& query, const Cache& cache, OutputArray& output, Work& work,
               const ScoreOptions<OptionsShape>& options, const Parts&... part) {
  return detail::prefill_over<detail::AnyOptions>(query, cache, output, work, options, part...);
}

namespace detail {

template <class How, class QueryArray, class Cache, class OutputArray, class Work, class OptionsShape, class... Parts>
Status decode_over(const QueryArray& query, const Cache& cache, OutputArray& output, Work& work,
                   const ScoreOptions<OptionsShape>& options, const Parts&... part) {
  using Shape = typename AnyCacheShape<Cache>::ShapeType;
  static_assert(!Same<Shape, void>::value, "attend: decode takes an attend::KvCache, FormatCache or RingCache second");
  static_assert(Same<QueryArray, Query<Shape>>::value,
                "attend: decode takes an attend::Query of one token and of the cache's shape first");
  static_assert(Same<OutputArray, Output<Shape>>::value,
                "attend: decode takes an attend::Output of one token and of the cache's shape third");
  static_assert(Same<OptionsShape, Shape>::value, "attend: decode takes attend::ScoreOptions of the cache's shape");
  static_assert(work_floats(static_cast<Work*>(nullptr)) >= OptionPlan<Shape, 1>::floats,
                "attend: decode with ScoreOptions needs an attend::OptionWorkspace<Shape>");
  return run_over_cache<How>(query, cache, output, work, options, part...);
}

}  // namespace detail

// Attention of one token over everything in the cache that its window shows, any of KvCache, FormatCache and RingCache.
//   query Query<Shape>     output Output<Shape>     work OptionWorkspace<Shape>, or a larger one
//   options ScoreOptions<Shape>
template <class QueryArray, class Cache, class OutputArray, class Work, class OptionsShape, class... Parts>
Status decode(const QueryArray& query, const Cache& cache, OutputArray& output, Work& work,
              const ScoreOptions<OptionsShape>& options, const Parts&... part) {
  return detail::decode_over<detail::AnyOptions>(query, cache, output, work, options, part...);
}

}  // namespace attend
