// Attention of one or a few tokens over a cache with the keys in parts, for more threads or cores than there are heads.
//
//   static attend::Partials<Shape> partials;                                                // common to all
//   attend::accumulate(query, cache, partials, options, attend::Part{index, count});        // in each thread
//   // wait for all of them
//   attend::finish(cache, partials, output, options);                                       // in one
//
// The output has the bits of decode (or, for several tokens, of prefill) for any number of parts, over any cache and with any
// options. Partials keep the sums of each segment of 512 keys apart, which is why any thread may take any of them in any order;
// a State (states.h) takes its keys in order and adds segments up on the way, for time slices and machines.
#pragma once

#include "attention.h"
#include "detail/several_calls.h"

namespace attend {

namespace detail {

// The number of segments that the tokens of a call can see: all of a KvCache; of a RingCache those that its tokens may lie in.
template <class Shape, class Sizes>
struct SegmentCount {
  using Ring = RingOf<Shape, Sizes>;
  static constexpr int count = (Ring::places + segment_keys - 2) / segment_keys + 1 +
                               (Ring::sink_tokens > 0 ? core::segment_count(Ring::sink_tokens) : 0);
};
template <class Shape>
struct SegmentCount<Shape, NoRing> {
  static_assert(
      MaxTokens<Shape>::named,
      "attend: Partials of a KvCache need `static constexpr int max_tokens = ...;` in the shape; those of a RingCache "
      "name its sizes: attend::Partials<Shape, tokens, Sizes>");
  static constexpr int count = core::segment_count(at_least_one(MaxTokens<Shape>::value));
};

}  // namespace detail

// The results of parts, for finish: the sums of each segment of 512 keys, for each token and query head, and a mark by which
// finish knows that they are of its call. sizeof is all the memory, value_dim + 2 numbers of 32 bits for each. Contents do not
// matter before. For a RingCache, the sizes of the ring come third: Partials<Voice, 1, LastWords>.
template <class Shape, int tokens = 1, class Sizes = detail::NoRing>
class Partials {
  static_assert(tokens >= 1, "attend: partials need at least 1 query token");
  friend detail::StateAccess;
  using Dims = detail::Checked<Shape>;
  static constexpr size_t segments = size_t(detail::SegmentCount<Shape, Sizes>::count);
  alignas(config::alignment)
      detail::SumOf<Shape> data_[size_t(Dims::query_heads) * size_t(tokens) * segments * (size_t(Dims::value_dim) + 2) +
                                 detail::finishing_sums<Shape>];
  uint32_t marks_[size_t(Dims::kv_heads) * segments];
};

namespace detail {

// The mark of a problem, alone or with its options, in partials. The number of units determines their segments.
template <class Problem, class... CoreOptions>
uint32_t mark_of(const Problem& problem, const CoreOptions&... options) {
  uint32_t hash = core::hash_with(uint32_t(problem.queries), uint32_t(problem.keys));
  hash = core::hash_with(hash, uint32_t(core::key_units(problem, options..., 0, 1).end));
  CallSettings settings = settings_of(problem, options...);
  settings.words[CallSettings::flags] &= ~uint32_t(CallSettings::lse | CallSettings::lse_base2);  // only finish() looks at it
  for (const uint32_t word : settings.words) hash = core::hash_with(hash, word);
  return hash | 1u;  // not that of memory that is zero
}

inline void write_marks(uint32_t* marks, const core::KeyUnits& units, uint32_t mark) {
  for (int unit = units.first; unit < units.end; ++unit) marks[unit] = mark;
}
inline bool all_marked(const uint32_t* marks, const core::KeyUnits& units, uint32_t mark) {
  for (int unit = units.first; unit < units.end; ++unit) {
    if (marks[unit] != mark) return false;
  }
  return true;
}

// Segments that a ring has forgotten would have columns of scores, but have no sums.
constexpr bool lacks_sums(const void*) { return false; }
inline bool lacks_sums(const core::Options* options) {
  return options->paging.ring_panels != 0 && options->scores.data != nullptr;
}

// In the place of a part: a part of the keys, and all of them.
template <class Number>
struct KeyPart : OneOfSeveral {
  template <class AnyPartials>
  KeyPart(AnyPartials& of_call, const Part& part_)
      : part(part_), sums(StateAccess::data(of_call)), marks(StateAccess::marks(of_call)) {}
  Part part;
  Number* sums;
  uint32_t* marks;
};
template <class Number>
struct AllKeyParts : OneOfSeveral {
  template <class AnyPartials>
  explicit AllKeyParts(AnyPartials& of_call) : sums(StateAccess::data(of_call)), marks(StateAccess::marks(of_call)) {}
  const Number* sums;
  uint32_t* marks;
};

template <class Number>
bool is_part(const KeyPart<Number>& key_part) {
  return is_part(key_part.part);
}

template <class Runner, class Number, class Problem, class... CoreOptions>
[[gnu::always_inline]] inline Status run_part_of(const KeyPart<Number>& key_part, const Problem& problem,
                                                 const CoreOptions&... options) {
  if ((lacks_sums(&options) || ...)) return Status::bad_scores;
  core::run_key_part(problem, options..., key_part.part.index, key_part.part.count, key_part.sums);
  const core::KeyUnits units = core::key_units(problem, options..., key_part.part.index, key_part.part.count);
  write_marks(key_part.marks, units, mark_of(problem, options...));
  return Status::ok;
}
template <class Runner, class Number, class Problem, class... CoreOptions>
Status run_part_of(const AllKeyParts<Number>& all, const Problem& problem, const CoreOptions&... options) {
  if ((lacks_sums(&options) || ...)) return Status::bad_scores;
  const core::KeyUnits units = core::key_units(problem, options..., 0, 1);
  if (!all_marked(all.marks, units, mark_of(problem, options...))) return Status::bad_partials;
  core::add_key_parts(problem, options..., all.sums);
  write_marks(all.marks, units, 0);  // which is no call's
  return Status::ok;
}

inline constexpr Part whole_part{};

// The work memory of a call that goes over one segment at a time.
template <class Shape, int tokens>
struct KeyPartPlan : DecodePlan<Shape, tokens, smaller(Capacity<Shape>::value, segment_keys)> {};

template <class Cache, class Shape, class Sizes>
constexpr bool is_cache_of_partials() {
  return Same<typename CacheTraits<Cache>::ShapeType, Shape>::value &&
         Same<typename CacheTraits<Cache>::Ring::Sizes, Sizes>::value;
}

}  // namespace detail

// A part of the attention of one or a few tokens over everything in the cache: that of some segments of keys of some key/value
// heads. Parts write to different places in the partials and share nothing else that changes. At most kv_heads * segments of
// 512 keys that tokens see have work; any further parts do nothing.
// clang-format off
//   query     Query<Shape, tokens>
//   cache     KvCache, RingCache or PagedCache
//   partials  Partials<Shape, tokens>; over a RingCache Partials<Shape, tokens, Sizes>
//   work      over a KvCache of floats, with Options: none, because it is on the stack, as for decode;
//             otherwise OptionWorkspace<Shape, tokens>, of an integer shape Workspace<Shape, tokens>, one for each thread
//   then      of an integer shape a Quantisation<Shape>; Options or ScoreOptions<Shape>, the Part
// clang-format on
// Options mean what they do in prefill, and must be the same for all parts: several tokens are causal by default. options.lse
// and sink_logits take effect in finish(). Scores are written, but over a RingCache and as weights they are refused.
template <class QueryArray, class Cache, class Shape, int tokens, class Sizes, class... More>
Status accumulate(const QueryArray& query, const Cache& cache, Partials<Shape, tokens, Sizes>& partials, More&&... more) {
  using namespace detail;
  constexpr bool is_cache = is_cache_of_partials<Cache, Shape, Sizes>();
  constexpr bool is_query = is_cache && Same<QueryArray, Query<Shape, tokens>>::value;
  static_assert(is_cache,
                "attend: accumulate takes an attend::KvCache or PagedCache of the partials' shape second, or for "
                "attend::Partials<Shape, tokens, Sizes> an attend::RingCache of these sizes");
  static_assert(is_query || !is_cache,
                "attend: accumulate takes an attend::Query of the partials' shape, with as many tokens, first");
  static_assert(tokens <= CacheTraits<Cache>::most_queries,
                "attend: a RingCache serves at most tokens_at_once query tokens at once");
  using Rest = CallArguments<Shape, More...>;
  if constexpr (!is_query || !Rest::right) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    auto& work = pick<Kind::work>(whole, more...);
    const KeyPart<SumOf<Shape>> key_part(partials, pick<Kind::part>(whole_part, more...));
    const auto& rows = CacheAccess::rows(cache);
    const int held = cache.length(), newest = tokens > 1 ? CacheAccess::newest(cache) : any_number;
    constexpr NumberOf<Shape>* no_output = nullptr;
    if constexpr (Rest::score_options || is_integer<Shape> || !CacheTraits<Cache>::plain) {
      using Memory = OptionPlan<Shape, tokens, 0>;
      constexpr bool enough = is_enough<decltype(work), Memory>();
      static_assert(enough || is_integer<Shape>,
                    "attend: accumulate with ScoreOptions, or over another cache than a KvCache of floats, needs an "
                    "attend::OptionWorkspace<Shape, query tokens> after the partials");
      static_assert(
          enough || !is_integer<Shape>,
          "attend: accumulate of an integer shape needs an attend::Workspace<Shape, query tokens> after the partials");
      const InUse use(work);
      const CallArrays arrays(query.data[0][0], no_output, memory_of<enough>(work), tokens, tokens > 1, newest);
      return run_call<Shape, Memory>(arrays, rows, held, key_part, more...);
    } else {
      static_assert(!Rest::work,
                    "attend: accumulate over an attend::KvCache of floats takes no work memory, unless with "
                    "attend::ScoreOptions");
      using Memory = KeyPartPlan<Shape, tokens>;
      alignas(config::alignment) float scratch[Memory::floats];
      const CallArrays arrays(query.data[0][0], no_output, scratch, tokens, tokens > 1, newest);
      return run_call<Shape, Memory>(arrays, rows, held, key_part, more...);
    }
  }
}

// Adds up the partials of one call. The caller makes sure that all parts are done. Cache and options must be what they were for
// the parts; bad_partials: they are not, or a part is missing. After ok, the partials are empty: all parts of another call must
// run before the next finish.
// clang-format off
//   cache     KvCache, RingCache or PagedCache
//   partials  Partials<Shape, tokens>; over a RingCache Partials<Shape, tokens, Sizes>
//   output    Output<Shape, tokens>
//   then      of an integer shape a Quantisation<Shape>; options, as for accumulate
// clang-format on
template <class Cache, class Shape, int tokens, class Sizes, class OutputArray, class... More>
Status finish(const Cache& cache, Partials<Shape, tokens, Sizes>& partials, OutputArray& output, const More&... more) {
  using namespace detail;
  constexpr bool is_cache = is_cache_of_partials<Cache, Shape, Sizes>();
  constexpr bool is_output = is_cache && is_output_of<OutputArray, Shape, tokens>;
  using Rest = CallArguments<Shape, More...>;
  static_assert(is_cache,
                "attend: finish takes an attend::KvCache or PagedCache of the partials' shape first, or for "
                "attend::Partials<Shape, tokens, Sizes> an attend::RingCache of these sizes");
  static_assert(is_output || !is_cache,
                "attend: finish takes an attend::Output of the partials' shape, with as many tokens as the partials, third");
  if constexpr (!is_output || !Rest::right) {
    return Status::ok;  // the compiler has reported what is wrong
  } else {
    static_assert(Rest::only_options, "attend: after the output finish takes options only");
    constexpr bool plain = CacheTraits<Cache>::plain && !is_integer<Shape> && !Rest::score_options;
    using Memory = typename Choice<plain, KeyPartPlan<Shape, tokens>, OptionPlan<Shape, tokens, 0>>::Type;
    const int held = cache.length();
    const CallArrays arrays(null_of<NumberOf<Shape>>(), output.data[0][0], sums_of<Shape>(StateAccess::data(partials)), tokens,
                            tokens > 1, tokens > 1 ? CacheAccess::newest(cache) : any_number);
    return run_call<Shape, Memory>(arrays, CacheAccess::rows(cache), held, AllKeyParts<SumOf<Shape>>(partials), more...);
  }
}

// The most stack that accumulate takes with Partials over a KvCache of floats and with Options, as decode_stack_bytes for
// decode; otherwise it is config::option_stack_bytes + config::option_part_stack_bytes and 1 KB. For finish it is
// prefill_stack_bytes, or config::option_stack_bytes and 1 KB.
template <class Shape, int tokens = 1>
inline constexpr size_t key_part_stack_bytes = prefill_stack_bytes + config::part_stack_bytes +
                                               detail::KeyPartPlan<Shape, tokens>::floats * sizeof(float) + config::alignment;

}  // namespace attend
