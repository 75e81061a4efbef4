// Decoding with the keys in parts, for more threads or cores than there are heads: decode_part and decode_finish.
//
//   static attend::Partials<Shape> partials;                                         // common to all
//   attend::decode_part(query, cache, partials, options, attend::Part{index, count});  // in each thread
//   … wait for all of them …
//   attend::decode_finish(cache, partials, output, options);                         // in one
//
// The output has the bits of decode (or, for several tokens, of prefill) for any number of parts.
#pragma once

#include "attention.h"

namespace attend {

// What the parts leave for decode_finish: the sums of each segment of 512 keys, for each token and query head. sizeof is all
// the memory, value_dim + 2 floats for each. Contents do not matter before.
template <class Shape, int tokens = 1>
struct Partials {
  static_assert(tokens >= 1, "attend: partials need at least 1 query token");
  alignas(config::alignment) float data[core::partial_floats(detail::Checked<Shape>::query_heads, tokens,
                                                             detail::Checked<Shape>::value_dim, KvCache<Shape>::max_tokens)];
};

namespace detail {

// What takes the place of a Part in the calls below.
struct KeyPart {
  Part part;
  float* partials;
};
struct AllKeyParts {
  const float* partials;
};

inline bool good_part(const KeyPart& key_part) { return good_part(key_part.part); }
inline bool good_part(const AllKeyParts&) { return true; }
inline void run_share(const core::Problem& problem, const KeyPart& key_part) {
  core::run_key_part(problem, key_part.part.index, key_part.part.count, key_part.partials);
}
inline void run_share(const core::Problem& problem, const AllKeyParts& all) { core::add_key_parts(problem, all.partials); }

// Of one segment at a time.
template <class Shape, int tokens>
using KeyPartPlan = DecodePlan<Shape, tokens, smaller(KvCache<Shape>::max_tokens, segment_keys)>;

// As prefill says: several queries without a position are the last tokens of a cache that holds at least as many.
template <int tokens, class Cache>
bool has_tokens(const Cache& cache, const Options& options) {
  return tokens == 1 || !options.causal || options.offset.given || options.valid_queries.or_else(tokens) <= cache.length();
}

}  // namespace detail

// A part of the attention of one or a few tokens over everything in the cache: that of some segments of keys of some key/value
// heads. Parts write to different places in the partials and share nothing else that changes; work memory is on the stack, as
// for decode. There are no more useful parts than kv_heads * segments of 512 keys: the others do nothing.
//   query Query<Shape, tokens>     partials Partials<Shape, tokens>
// Options mean what they do in decode, and must be the same for all parts: attend::causal() lets each of several tokens see
// those before it, Options{} lets all see everything. Refuses bad options with a status and touches nothing then.
template <class QueryArray, class Cache, class PartialsArray>
Status decode_part(const QueryArray& query, const Cache& cache, PartialsArray& partials, const Options& options,
                   const Part& part) {
  using Shape = typename detail::CacheShape<Cache>::ShapeType;
  constexpr int tokens = detail::Traits<QueryArray>::tokens;
  static_assert(!detail::Same<Shape, void>::value, "attend: decode_part takes an attend::KvCache second");
  static_assert(detail::Same<QueryArray, Query<Shape, tokens>>::value,
                "attend: decode_part takes an attend::Query of the cache's shape first");
  static_assert(detail::Same<PartialsArray, Partials<Shape, tokens>>::value,
                "attend: decode_part takes attend::Partials of the cache's shape, with as many tokens as the query, third");
  if (!detail::has_tokens<tokens>(cache, options)) return Status::bad_valid_queries;
  using Plan = detail::KeyPartPlan<Shape, tokens>;
  alignas(config::alignment) float scratch[Plan::floats];
  return detail::run<Plan, detail::Checked<Shape>>(
      {query.data[0][0], nullptr, cache.key_panels(), cache.values(), true, scratch, tokens, cache.length()}, options,
      detail::KeyPart{part, partials.data});
}

// Adds up what all parts of one call have left, when they are done: the caller sees to that. Cache and options must be what
// they were for the parts.
//   partials Partials<Shape, tokens>     output Output<Shape, tokens>
template <class Cache, class PartialsArray, class OutputArray>
Status decode_finish(const Cache& cache, const PartialsArray& partials, OutputArray& output, const Options& options) {
  using Shape = typename detail::CacheShape<Cache>::ShapeType;
  constexpr int tokens = detail::Traits<OutputArray>::tokens;
  static_assert(!detail::Same<Shape, void>::value, "attend: decode_finish takes an attend::KvCache first");
  static_assert(detail::Same<PartialsArray, Partials<Shape, detail::Traits<PartialsArray>::tokens>>::value,
                "attend: decode_finish takes attend::Partials of the cache's shape second");
  static_assert(
      detail::Same<OutputArray, Output<Shape, detail::Traits<PartialsArray>::tokens>>::value,
      "attend: decode_finish takes an attend::Output of the cache's shape, with as many tokens as the partials, third");
  if (!detail::has_tokens<tokens>(cache, options)) return Status::bad_valid_queries;
  return detail::run<detail::KeyPartPlan<Shape, tokens>, detail::Checked<Shape>>(
      {nullptr, output.data[0][0], cache.key_panels(), cache.values(), true, nullptr, tokens, cache.length()}, options,
      detail::AllKeyParts{partials.data});
}

// The most stack that decode_part takes, as decode_stack_bytes for decode. For decode_finish it is prefill_stack_bytes.
template <class Shape, int tokens = 1>
inline constexpr size_t decode_part_stack_bytes =
    prefill_stack_bytes + config::part_stack_bytes +
    detail::KeyPartPlan<Shape, tokens>::floats * sizeof(float) + config::alignment;

}  // namespace attend
