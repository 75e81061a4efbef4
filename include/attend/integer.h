// Attention in integers of 8 bits: attention, prefill and decode without one float instruction, for processors without floats
// and for models that are quantised already. On hosts it is faster than floats.
//
//   constexpr attend::Quantisation<Wake> quantisation(0.031, 0.027, 0.02, 0.008);  // scales of query, key, value and output
//   static attend::IntegerKvCache<Wake> cache;
//   static attend::IntegerWorkspace<Wake, 1> work;
//   cache.append(key, value);
//   attend::decode(query, cache, output, work, quantisation);
//
// The results are the same bits on every target, in any cutting into parts, blocks and calls. The number of instructions of a
// call depends on its shape and its masks alone, not on its numbers. Errors: include/guide/integers.md.
#pragma once

#include "detail/integer_calls.h"

namespace attend {

// As attention() of attention.h.
// clang-format off
//   query         IntegerQuery<Shape, queries>
//   key           IntegerKey<Shape, keys>
//   value         IntegerValue<Shape, keys>
//   output        IntegerOutput<Shape, queries> or Int16Output
//   work          IntegerWorkspace<Shape, queries, keys>
//   quantisation  Quantisation<Shape>
//   then          Options or IntegerOptions<Shape>, a Part
// clang-format on
template <class Shape, int queries, class KeyArray, class ValueArray, class OutputArray, class Work, class AnyQuantisation,
          class... More>
Status attention(const IntegerQuery<Shape, queries>& query, const KeyArray& key, const ValueArray& value, OutputArray& output,
                 Work& work, const AnyQuantisation& quantisation, const More&... more) {
  using namespace detail;
  constexpr int keys = Traits<KeyArray>::tokens;
  constexpr bool is_key = Same<KeyArray, IntegerKey<Shape, keys>>::value;
  constexpr bool is_value = is_key && Same<ValueArray, IntegerValue<Shape, keys>>::value;
  using Out = IntegerOutputOf<OutputArray, Shape, queries>;
  constexpr bool is_output = is_value && Out::value;
  constexpr bool is_quantisation = is_output && Same<typename QuantisationOf<AnyQuantisation>::ShapeType, Shape>::value;
  static_assert(is_key, "attend: attention of an attend::IntegerQuery takes an attend::IntegerKey of its shape second");
  static_assert(is_value || !is_key, "attend: attention takes an attend::IntegerValue, with as many tokens as the key, third");
  static_assert(is_output || !is_value,
                "attend: attention takes an attend::IntegerOutput or Int16Output, with as many tokens as the query, fourth");
  static_assert(is_quantisation || !is_output, "attend: attention takes an attend::Quantisation of the query's shape sixth");
  if constexpr (!is_quantisation) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    using Plan = IntegerPlan<Shape, queries, keys>;
    static_assert(keys <= integer_keys, "attend: integer attention takes at most 65535 keys");
    static_assert(work_bytes(null_of<Work>()) >= Plan::bytes,
                  "attend: attention needs an attend::IntegerWorkspace<Shape, query tokens, key tokens> fifth");
    static_assert(IntegerCallArguments<Shape, More...>::in_order);
    return run_integers<Plan, NoIntegerRing, Out::format>(
        {query.data[0][0], output.data, work.data}, ArrayRows<Shape, int8_t>(key.data[0][0], value.data[0][0]), keys,
        quantisation, pick<Kind::options>(no_options, more...), pick<Kind::part>(whole, more...));
  }
}

namespace detail {

template <class Shape, int tokens, class Cache, class OutputArray, class Work, class AnyQuantisation, class... More>
Status run_over_integer_cache(const IntegerQuery<Shape, tokens>& query, const Cache& cache, OutputArray& output, Work& work,
                              const AnyQuantisation& quantisation, const More&... more) {
  using Out = IntegerOutputOf<OutputArray, Shape, tokens>;
  constexpr bool is_cache = Same<typename CacheTraits<Cache>::IntegerShape, Shape>::value, is_output = is_cache && Out::value;
  constexpr bool is_quantisation = is_output && Same<typename QuantisationOf<AnyQuantisation>::ShapeType, Shape>::value;
  static_assert(is_cache,
                "attend: an attend::IntegerQuery goes with an attend::IntegerKvCache or IntegerRingCache of its shape");
  static_assert(
      is_output || !is_cache,
      "attend: third comes an attend::IntegerOutput or Int16Output of the cache's shape, with as many tokens as the query");
  static_assert(is_quantisation || !is_output, "attend: fifth comes an attend::Quantisation of the cache's shape");
  if constexpr (!is_quantisation) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    using Plan = IntegerPlan<Shape, tokens, in_steps>;
    static_assert(tokens <= CacheTraits<Cache>::most_queries,
                  "attend: an IntegerRingCache serves at most tokens_at_once query tokens at once");
    static_assert(work_bytes(null_of<Work>()) >= Plan::bytes,
                  "attend: a call over an integer cache needs an attend::IntegerWorkspace<Shape, query tokens> fourth");
    static_assert(IntegerCallArguments<Shape, More...>::in_order);
    return run_integers<Plan, typename CacheTraits<Cache>::Ring, Out::format>(
        {query.data[0][0], output.data, work.data}, CacheAccess::rows(cache), cache.length(), quantisation,
        pick<Kind::options>(no_options, more...), pick<Kind::part>(whole, more...));
  }
}

}  // namespace detail

// As prefill() of attention.h: the query tokens are the last tokens of the cache, and causal by default.
// clang-format off
//   query         IntegerQuery<Shape, tokens>
//   cache         IntegerKvCache or IntegerRingCache
//   output        IntegerOutput<Shape, tokens> or Int16Output
//   work          IntegerWorkspace<Shape, tokens>
//   quantisation  Quantisation<Shape>
//   then          Options or IntegerOptions<Shape>, a Part
// clang-format on
template <class Shape, int tokens, class Cache, class OutputArray, class Work, class AnyQuantisation, class... More>
Status prefill(const IntegerQuery<Shape, tokens>& query, const Cache& cache, OutputArray& output, Work& work,
               const AnyQuantisation& quantisation, const More&... more) {
  return detail::run_over_integer_cache(query, cache, output, work, quantisation, more...);
}

// As decode() of attention.h: one token over everything in the cache. The same arguments, with one token.
template <class Shape, class Cache, class OutputArray, class Work, class... More>
Status decode(const IntegerQuery<Shape>& query, const Cache& cache, OutputArray& output, Work& work, More&&... more) {
  static_assert(sizeof...(More) > 0, "attend: decode of an attend::IntegerQuery takes an attend::Quantisation fifth");
  if constexpr (sizeof...(More) == 0) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    return detail::run_over_integer_cache(query, cache, output, work, more...);
  }
}

}  // namespace attend
