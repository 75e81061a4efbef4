// Attention over arrays and over a cache: attention, prefill, decode.
//
// After its arrays a call takes work memory, then Options or ScoreOptions<Shape>, then a Part; options and part may be left
// out. RangedOptions<Shape> do wherever ScoreOptions<Shape> do. integer.h has what calls of integer shapes take besides,
// kv_cache.h the work memory of calls over rings. A call that finds an argument out of range returns a status and changes
// nothing. Output, work memory and whatever else a call fills must not overlap anything else.
#pragma once

#include "detail/option_calls.h"

namespace attend {

// One-shot attention over arrays: self-attention when queries and keys come from the same tokens, cross-attention otherwise.
// Every key is visible by default.
// clang-format off
//   query   Query<Shape, queries>
//   key     Key<Shape, keys>
//   value   Value<Shape, keys>, or values_in(key)
//   output  Output<Shape, queries>
//   work    Workspace<Shape, queries, keys>; with ScoreOptions OptionWorkspace<Shape, queries>
//   then    Options or ScoreOptions<Shape>, a Part
// clang-format on
template <class QueryArray, class KeyArray, class ValueArray, class OutputArray, class Work, class... More>
Status attention(const QueryArray& query, const KeyArray& key, const ValueArray& value, OutputArray& output, Work& work,
                 const More&... more) {
  using namespace detail;
  using Shape = typename Traits<QueryArray>::ShapeType;
  constexpr int queries = Traits<QueryArray>::tokens, keys = Traits<KeyArray>::tokens;
  constexpr bool is_query = Same<QueryArray, Query<Shape, queries>>::value;
  constexpr bool is_key = is_query && Same<KeyArray, Key<Shape, keys>>::value;
  constexpr bool is_value = is_key && is_value_of<ValueArray, Shape, keys>;
  constexpr bool is_output = is_value && is_output_of<OutputArray, Shape, queries>;
  static_assert(is_query, "attend: attention takes an attend::Query first");
  static_assert(is_key || !is_query, "attend: attention takes an attend::Key of the query's shape second");
  static_assert(is_value || !is_key,
                "attend: attention takes an attend::Value of the query's shape, with as many tokens as the key, or "
                "attend::values_in(key), third");
  static_assert(is_output || !is_value,
                "attend: attention takes an attend::Output of the query's shape, with as many tokens as the query, fourth");
  using Rest = CallArguments<Shape, More...>;
  if constexpr (!is_output || !Rest::right) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    constexpr bool plain = !Rest::score_options;
    using Memory = typename Choice<plain, Plan<Shape, queries, keys, false>, OptionPlan<Shape, queries, keys>>::Type;
    constexpr bool enough = is_enough<Work, Memory>();
    static_assert(enough || plain, "attend: attention with ScoreOptions needs an attend::OptionWorkspace<Shape, query tokens>");
    static_assert(enough || !plain, "attend: attention needs an attend::Workspace<Shape, query tokens, key tokens>");
    const InUse use(work);
    const CallArrays arrays(query.data[0][0], output.data[0][0], memory_of<enough>(work), queries, false);
    return run_call<Shape, Memory>(arrays, rows_of(key, value), keys, pick<Kind::part>(whole, more...), more...);
  }
}

// Attention of several tokens over a cache that already holds them: append the tokens, then prefill with their queries. Causal
// by default; set `causal = false` for a cache of encoder keys. Queries without an offset are the last tokens of the
// cache, which must hold at least as many. Where the last append had a count below the tokens of its arrays, like a padded last
// chunk, more queries than this count need a query_length: their rows would get the positions of other tokens.
// clang-format off
//   query   Query<Shape, tokens>
//   cache   KvCache, RingCache or PagedCache
//   output  Output<Shape, tokens>
//   work    Workspace<Shape, tokens>; with ScoreOptions, or over another cache than KvCache<Shape>, OptionWorkspace<Shape, tokens>
//   then    Options or ScoreOptions<Shape>, a Part
// clang-format on
template <class QueryArray, class Cache, class OutputArray, class Work, class... More>
Status prefill(const QueryArray& query, const Cache& cache, OutputArray& output, Work& work, const More&... more) {
  using namespace detail;
  using Shape = typename CacheTraits<Cache>::ShapeType;
  constexpr int tokens = Traits<QueryArray>::tokens;
  constexpr bool is_cache = !Same<Shape, void>::value;
  constexpr bool is_query = is_cache && Same<QueryArray, Query<Shape, tokens>>::value;
  constexpr bool is_output = is_query && is_output_of<OutputArray, Shape, tokens>;
  static_assert(is_cache, "attend: prefill takes an attend::KvCache, RingCache or PagedCache second");
  static_assert(is_query || !is_cache, "attend: prefill takes an attend::Query of the cache's shape first");
  static_assert(is_output || !is_query,
                "attend: prefill takes an attend::Output of the cache's shape, with as many tokens as the query, third");
  using Rest = CallArguments<Shape, More...>;
  if constexpr (!is_output || !Rest::right) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    constexpr bool plain = CacheTraits<Cache>::needs_no_options && !Rest::score_options;
    using CacheMemory = Plan<Shape, tokens, MaxTokens<Cache>::value, true>;
    using Memory = typename Choice<plain, CacheMemory, OptionPlan<Shape, tokens, CacheTraits<Cache>::keys>>::Type;
    constexpr bool enough = is_enough<Work, Memory>();
    constexpr bool is_ring = CacheTraits<Cache>::is_ring;
    static_assert(enough || !is_ring,
                  "attend: prefill over a RingCache needs an attend::OptionWorkspace<Shape, query tokens, "
                  "attend::over_ring<Sizes>>, of an integer shape a Workspace of these");
    static_assert(enough || plain || is_ring,
                  "attend: prefill with ScoreOptions, or over another cache than a KvCache of floats, needs an "
                  "attend::OptionWorkspace<Shape, query tokens>");
    static_assert(enough || !plain || is_ring, "attend: prefill needs an attend::Workspace<Shape, query tokens>");
    static_assert(tokens <= CacheTraits<Cache>::most_queries,
                  "attend: a RingCache serves at most tokens_at_once query tokens at once");
    const InUse use(work);
    const CallArrays arrays(query.data[0][0], output.data[0][0], memory_of<enough>(work), tokens, true,
                            CacheAccess::queries_without_length(cache));
    return run_call<Shape, Memory>(arrays, CacheAccess::rows(cache), cache.length(), pick<Kind::part>(whole, more...), more...);
  }
}

// Attention of one token over everything in the cache: append its key and value first. Over a KvCache of floats and with
// Options, work memory is on the stack: config::decode_stack_floats, or what one query head takes where that is more; or it is
// a Workspace<Shape, 1>, which reads the cache fewer times where heads are wide and many share their keys (128 query heads of
// 576).
// clang-format off
//   query   Query<Shape>
//   cache   KvCache, RingCache or PagedCache
//   output  Output<Shape>
//   work    none, or as above; with ScoreOptions, or over any other cache than KvCache<Shape>, OptionWorkspace<Shape>
//   then    Options or ScoreOptions<Shape>, a Part
// clang-format on
template <class QueryArray, class Cache, class OutputArray, class... More>
Status decode(const QueryArray& query, const Cache& cache, OutputArray& output, More&&... more) {
  using namespace detail;
  using Shape = typename CacheTraits<Cache>::ShapeType;
  constexpr bool is_cache = !Same<Shape, void>::value;
  constexpr bool is_query = is_cache && Same<QueryArray, Query<Shape>>::value;
  constexpr bool is_output = is_query && is_output_of<OutputArray, Shape, 1>;
  static_assert(is_cache, "attend: decode takes an attend::KvCache, RingCache or PagedCache second");
  static_assert(is_query || !is_cache, "attend: decode takes an attend::Query of one token and of the cache's shape first");
  static_assert(is_output || !is_query, "attend: decode takes an attend::Output of one token and of the cache's shape third");
  using Rest = CallArguments<Shape, More...>;
  if constexpr (!is_output || !Rest::right) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    const auto& part = pick<Kind::part>(whole, more...);
    auto& work = pick<Kind::work>(whole, more...);
    const auto& rows = CacheAccess::rows(cache);
    constexpr bool plain = CacheTraits<Cache>::needs_no_options && !Rest::score_options;
    if constexpr (plain && !is_integer<Shape> && !Rest::work) {
      alignas(config::alignment) float scratch[DecodePlan<Shape>::floats];
      const CallArrays arrays(query.data[0][0], output.data[0][0], scratch, 1, false);
      return run_call<Shape, DecodePlan<Shape>>(arrays, rows, cache.length(), part, more...);
    } else {
      using CacheMemory = Plan<Shape, 1, MaxTokens<Cache>::value, true>;
      using Memory = typename Choice<plain, CacheMemory, OptionPlan<Shape, 1, CacheTraits<Cache>::keys>>::Type;
      constexpr bool enough = is_enough<decltype(work), Memory>();
      constexpr bool is_ring = CacheTraits<Cache>::is_ring;
      static_assert(
          enough || !is_ring,
          "attend: decode over a RingCache needs an attend::OptionWorkspace<Shape, 1, attend::over_ring<Sizes>> after "
          "its arrays, of an integer shape a Workspace of these");
      static_assert(enough || plain || is_ring,
                    "attend: decode with ScoreOptions, or over another cache than a KvCache of floats, needs an "
                    "attend::OptionWorkspace<Shape> after its arrays");
      static_assert(enough || !plain || is_ring,
                    "attend: decode takes an attend::Workspace<Shape, 1>; of floats over a KvCache it may be left out");
      const InUse use(work);
      const CallArrays arrays(query.data[0][0], output.data[0][0], memory_of<enough>(work), 1, false);
      return run_call<Shape, Memory>(arrays, rows, cache.length(), part, more...);
    }
  }
}

// Catches everything else: a temporary, or arguments that are missing.
template <class... Any>
Status attention(const Any&...) {
  static_assert(sizeof...(Any) > 1000,
                "attend: attention takes a query, key, value, output and work memory, which are no temporaries; then options");
  return Status::ok;
}
template <class... Any>
Status prefill(const Any&...) {
  static_assert(sizeof...(Any) > 1000,
                "attend: prefill takes a query, a cache, an output and work memory, which are no temporaries; then options");
  return Status::ok;
}
template <class... Any>
Status decode(const Any&...) {
  static_assert(sizeof...(Any) > 1000,
                "attend: decode takes a query, a cache and an output, which are no temporaries; then options");
  return Status::ok;
}

// The most stack that a call takes, in bytes, as GCC compiles it with -Os or -O2 (config.h): for the size of a task's stack, or
// a static_assert. The first is for attention() too, append's for all formats. An attend::Part adds config::part_stack_bytes.
// Calls that take an OptionWorkspace need config::option_stack_bytes and 1 KB instead.
inline constexpr size_t prefill_stack_bytes = config::stack_bytes + config::call_stack_bytes;
inline constexpr size_t append_stack_bytes = prefill_stack_bytes;
template <class Shape>
inline constexpr size_t decode_stack_bytes = prefill_stack_bytes +
                                             detail::DecodePlan<Shape>::floats * sizeof(float) + config::alignment;

}  // namespace attend
