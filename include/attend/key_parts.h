// Attention of one or a few tokens over a cache with the keys in parts, for more threads or cores than there are heads.
//
//   static attend::Partials<Shape> partials;                                                // common to all
//   attend::accumulate(query, cache, partials, options, attend::Part{index, count});        // in each thread
//   … wait for all of them …
//   attend::finish(cache, partials, output, options);                                       // in one
//
// The output has the bits of decode (or, for several tokens, of prefill) for any number of parts. Partials keep the sums of
// each segment of 512 keys apart, which is why any thread may take any of them in any order; a State (states.h) keeps one sum,
// takes its keys in order, and is what time slices, other caches and ScoreOptions need.
#pragma once

#include "attention.h"

namespace attend {

namespace detail {
struct PartialsAccess;
}

// What the parts leave for finish: the sums of each segment of 512 keys, for each token and query head. sizeof is all the
// memory, value_dim + 2 floats for each. Contents do not matter before.
template <class Shape, int tokens = 1>
class Partials {
  static_assert(tokens >= 1, "attend: partials need at least 1 query token");
  friend detail::PartialsAccess;
  alignas(config::alignment) float data_[core::partial_floats(detail::Checked<Shape>::query_heads, tokens,
                                                              detail::Checked<Shape>::value_dim, KvCache<Shape>::max_tokens)];
};

namespace detail {

struct PartialsAccess {
  template <class Shape, int tokens>
  static float* data(Partials<Shape, tokens>& partials) {
    return partials.data_;
  }
  template <class Shape, int tokens>
  static const float* data(const Partials<Shape, tokens>& partials) {
    return partials.data_;
  }
};

// What takes the place of a Part in the calls below.
struct KeyPart {
  Part part;
  float* partials;
};
struct AllKeyParts {
  const float* partials;
};

inline bool is_part(const KeyPart& key_part) { return is_part(key_part.part); }
inline bool is_part(const AllKeyParts&) { return true; }
inline void run_share(const core::Problem& problem, const KeyPart& key_part) {
  core::run_key_part(problem, key_part.part.index, key_part.part.count, key_part.partials);
}
inline void run_share(const core::Problem& problem, const AllKeyParts& all) { core::add_key_parts(problem, all.partials); }

// Of one segment at a time.
template <class Shape, int tokens>
using KeyPartPlan = DecodePlan<Shape, tokens, smaller(KvCache<Shape>::max_tokens, segment_keys)>;

inline constexpr Part whole_part{};

}  // namespace detail

// A part of the attention of one or a few tokens over everything in the cache: that of some segments of keys of some key/value
// heads. Parts write to different places in the partials and share nothing else that changes; work memory is on the stack, as
// for decode. There are no more useful parts than kv_heads * segments of 512 keys: the others do nothing.
//   query Query<Shape, tokens>     cache KvCache<Shape>     partials Partials<Shape, tokens>     then Options, then the Part
// Options mean what they do in prefill, and must be the same for all parts: several tokens are causal unless they say
// otherwise.
template <class QueryArray, class Cache, class Shape, int tokens, class... More>
Status accumulate(const QueryArray& query, const Cache& cache, Partials<Shape, tokens>& partials, const More&... more) {
  using namespace detail;
  static_assert(Same<Cache, KvCache<Shape>>::value,
                "attend: accumulate takes an attend::KvCache of floats and of the partials' shape second; for other caches "
                "give each part an attend::State");
  static_assert(Same<QueryArray, Query<Shape, tokens>>::value,
                "attend: accumulate takes an attend::Query of the partials' shape, with as many tokens, first");
  using Rest = Given<Shape, More...>;
  static_assert(!Rest::score_options && !Rest::work,
                "attend: accumulate into attend::Partials takes attend::Options, then an attend::Part; with ScoreOptions give "
                "each part an attend::State");
  const auto& options = pick<Kind::options>(no_options, more...);
  if (tokens > 1 && !are_held(options, true, tokens, cache.length())) return Status::bad_query_length;
  using Memory = KeyPartPlan<Shape, tokens>;
  alignas(config::alignment) float scratch[Memory::floats];
  const KeyPart share = {pick<Kind::part>(whole_part, more...), PartialsAccess::data(partials)};
  return run_over_plain<Memory, tokens>(query.data[0][0], cache, nullptr, tokens > 1, scratch, options, share);
}

// Adds up what all parts of one call have left, when they are done: the caller sees to that. Cache and options must be what
// they were for the parts.
//   cache KvCache<Shape>     partials Partials<Shape, tokens>     output Output<Shape, tokens>     then Options
template <class Cache, class Shape, int tokens, class OutputArray, class... More>
Status finish(const Cache& cache, const Partials<Shape, tokens>& partials, OutputArray& output, const More&... more) {
  using namespace detail;
  static_assert(Same<Cache, KvCache<Shape>>::value, "attend: finish takes an attend::KvCache of the partials' shape first");
  static_assert(Same<OutputArray, Output<Shape, tokens>>::value,
                "attend: finish takes an attend::Output of the partials' shape, with as many tokens as the partials, third");
  static_assert(Given<Shape, More...>::only_options && !Given<Shape, More...>::score_options,
                "attend: after the output finish takes attend::Options only");
  const auto& options = pick<Kind::options>(no_options, more...);
  if (tokens > 1 && !are_held(options, true, tokens, cache.length())) return Status::bad_query_length;
  return run_over_plain<KeyPartPlan<Shape, tokens>, tokens>(nullptr, cache, output.data[0][0], tokens > 1, nullptr, options,
                                                            AllKeyParts{PartialsAccess::data(partials)});
}

// The most stack that accumulate takes with Partials, as decode_stack_bytes for decode. For finish it is prefill_stack_bytes.
template <class Shape, int tokens = 1>
inline constexpr size_t key_part_stack_bytes = prefill_stack_bytes + config::part_stack_bytes +
                                               detail::KeyPartPlan<Shape, tokens>::floats * sizeof(float) + config::alignment;

}  // namespace attend
