// Attention over arrays and over a cache: attention, prefill, decode.
#pragma once

#include "core.h"
#include "kv_cache.h"
#include "shape.h"

namespace attend {

enum class Status {
  ok,
  bad_valid_queries,  // not within 0 … query tokens of the array (prefill: nor within the tokens that the cache holds)
  bad_valid_keys,     // not within 0 … key tokens of the array or the cache
  bad_scale,          // NaN
  bad_part,           // count not within 1 … 65535, or index not within 0 … count - 1

  // Of calls with ScoreOptions, RingCache or State.
  bad_window,    // window_left or window_right negative; over a RingCache: window_left larger than what it keeps
  bad_pinned,    // negative; over a RingCache: more than it keeps
  bad_soft_cap,  // neither 0 nor within 1e-30 … 1e30
  bad_mask,      // a mask of fewer queries than valid_queries, and not of 1, or of fewer keys than valid_keys
  bad_bias,      // likewise
  bad_lse,       // of fewer tokens than valid_queries
  bad_scores,    // of fewer tokens or keys than are valid; raw or capped over a RingCache; weights into a State
  not_in_ring,   // a query sees tokens that a RingCache no longer has
  bad_up_to,     // before the key that a State absorbs next
  bad_state,  // it has absorbed nothing, other queries, or more keys than there are; to merge: does not begin where this stops
};

// One English sentence for a status; never null.
const char* status_text(Status status);

// A setting that has a default of its own until a number is given to it.
template <class Type>
struct Setting {
  bool given = false;
  Type number{};

  constexpr Setting() = default;
  constexpr Setting(Type value) : given(true), number(value) {}
  constexpr Type or_else(Type fallback) const { return given ? number : fallback; }
};

struct Options {
  bool causal = false;  // query i sees keys 0 … offset + i; otherwise all that are valid
  Setting<int> offset;  // absolute position of query 0, any sign; 0, or with a cache its length - valid_queries
  Setting<int>
      valid_queries;        // query tokens to compute, from the first; all in the array. Output rows after them are not touched
  Setting<int> valid_keys;  // keys at or after it do not exist; all in the array or cache
  Setting<float> scale;     // of the scores, any number, zero and negative too; 1 / sqrt(head_dim)
};

// Options with just the causal mask. "Bottom-right" alignment is causal(keys - queries).
constexpr Options causal() {
  Options options;
  options.causal = true;
  return options;
}
constexpr Options causal(int offset) {
  Options options = causal();
  options.offset = offset;
  return options;
}

// A share of a call, for threads or cores: each makes the same call with its own index, its own work memory and the same
// output, of which every part writes a different piece. All together give the bits of the whole call, for any count up to
// 65535.
struct Part {
  int index;
  int count;
};

namespace detail {

// What calls without options take: objects, so that none is made on the caller's stack.
inline constexpr Options no_options{};
inline constexpr Options causal_options = causal();

// By its bits: without a floating-point unit, comparisons are calls.
inline bool is_nan(float a) {
  unsigned bits;
  static_assert(sizeof bits == sizeof a, "attend: unsigned must have 32 bits");
  __builtin_memcpy(&bits, &a, sizeof a);
  return (bits & 0x7fffffffu) > 0x7f800000u;
}

constexpr int smaller(int a, int b) { return a < b ? a : b; }
constexpr int larger(int a, int b) { return a > b ? a : b; }

// Base of every workspace; the way to tell one from other types.
template <size_t count>
struct WorkFloats {
  alignas(config::alignment) float data[count];
};

template <size_t count>
constexpr size_t work_floats(const WorkFloats<count>*) {
  return count;
}
constexpr size_t work_floats(const void*) { return 0; }

// The blocks that a shape of so many query and key tokens uses, and the work memory that they need.
template <class Shape, int queries, int keys, bool key_panels>
struct Plan {
  using Dims = Checked<Shape>;
  static_assert(queries >= 1, "attend: a workspace needs at least 1 query token");
  static_assert(keys >= 1, "attend: a workspace needs at least 1 key token");
  static constexpr int rows = core::rows_per_kv_head(Dims::query_heads, Dims::kv_heads, queries);
  static constexpr int row_block = smaller(rows, config::row_block);
  static constexpr int key_block = smaller(core::whole_chains(keys), config::key_block);
  static constexpr size_t floats =
      core::scratch_floats(row_block, key_block, Dims::head_dim, Dims::value_dim, keys, key_panels);
};

// The same for decode: as many rows as the stack allows, and longer blocks of keys when it is one.
template <class Shape, int queries = 1, int keys = KvCache<Shape>::max_tokens>
struct DecodePlan {
  using Dims = Checked<Shape>;
  static constexpr int rows = core::rows_per_kv_head(Dims::query_heads, Dims::kv_heads, queries);
  static constexpr int row_floats = Dims::head_dim + Dims::value_dim + panel_keys + config::score_keys;
  static constexpr int row_block = smaller(rows, larger(1, config::decode_stack_floats / row_floats));
  static constexpr int key_block = smaller(core::whole_chains(keys), row_block == 1 ? config::decode_keys : config::score_keys);
  static constexpr size_t floats = core::scratch_floats(row_block, key_block, Dims::head_dim, Dims::value_dim, keys, true);
};

// What a call brings: first elements of its arrays, and how many tokens they have.
struct Call {
  const float* query;
  float* output;
  core::Tensor<const float> key;
  core::Tensor<const float> value;
  bool key_panels;
  float* scratch;
  int queries;
  int keys;
};

// All of a problem, or the part that was asked for. Programs that ask for none do not hold the code that cuts.
inline bool good_part() { return true; }
inline bool good_part(const Part& part) { return part.index >= 0 && part.index < part.count && part.count <= 65535; }
inline void run_share(const core::Problem& problem) { core::run(problem); }
inline void run_share(const core::Problem& problem, const Part& part) { core::run_part(problem, part.index, part.count); }

// Refuses what is out of range, fills in what the options say, and runs.
template <class PlanType, class Dims, class... Parts>
Status run(const Call& call, const Options& options, const Parts&... part) {
  static_assert(sizeof...(Parts) <= 1, "attend: after the options only an attend::Part may follow");
  const int queries = options.valid_queries.or_else(call.queries);
  const int keys = options.valid_keys.or_else(call.keys);
  constexpr float usual_scale = default_scale(Dims::head_dim);  // by name, or some compilers iterate in double on every call
  const float scale = options.scale.or_else(usual_scale);
  if (queries < 0 || queries > call.queries) return Status::bad_valid_queries;
  if (keys < 0 || keys > call.keys) return Status::bad_valid_keys;
  if (is_nan(scale)) return Status::bad_scale;
  if (!good_part(part...)) return Status::bad_part;
  const core::Problem problem = {
      {call.query, ptrdiff_t(Dims::query_heads) * Dims::head_dim, Dims::head_dim},
      {call.output, ptrdiff_t(Dims::query_heads) * Dims::value_dim, Dims::value_dim},
      call.key,
      call.value,
      Dims::query_heads,
      Dims::kv_heads,
      Dims::head_dim,
      Dims::value_dim,
      queries,
      keys,
      options.offset.or_else(call.key_panels ? call.keys - queries : 0),
      scale,
      options.causal,
      call.key_panels,
      PlanType::row_block,
      PlanType::key_block,
      call.scratch,
  };
  run_share(problem, part...);
  return Status::ok;
}

}  // namespace detail

// Work memory for attention() over arrays of so many tokens. Contents do not matter before or after; one per concurrent call.
template <class Shape, int queries, int keys>
struct Workspace : detail::WorkFloats<detail::Plan<Shape, queries, keys, false>::floats> {};

// Work memory for prefill() with a query array of so many tokens.
template <class Shape, int queries>
struct PrefillWorkspace : detail::WorkFloats<detail::Plan<Shape, queries, KvCache<Shape>::max_tokens, true>::floats> {};

// One-shot attention over arrays. Self-attention when queries and keys come from the same tokens, cross-attention otherwise.
//   query  Query<Shape, queries>     key  Key<Shape, keys>     value  Value<Shape, keys>
//   output Output<Shape, queries>    work Workspace<Shape, queries, keys>, or any larger workspace
// Output and work must not overlap anything else. Refuses bad options with a status and touches nothing then.
template <class QueryArray, class KeyArray, class ValueArray, class OutputArray, class Work, class... Parts>
Status attention(const QueryArray& query, const KeyArray& key, const ValueArray& value, OutputArray& output, Work& work,
                 const Options& options = detail::no_options, const Parts&... part) {
  using Shape = typename detail::Traits<QueryArray>::ShapeType;
  constexpr int queries = detail::Traits<QueryArray>::tokens, keys = detail::Traits<KeyArray>::tokens;
  static_assert(detail::Same<QueryArray, Query<Shape, queries>>::value, "attend: attention takes an attend::Query first");
  static_assert(detail::Same<KeyArray, Key<Shape, keys>>::value,
                "attend: attention takes an attend::Key of the query's shape second");
  static_assert(detail::Same<ValueArray, Value<Shape, keys>>::value,
                "attend: attention takes an attend::Value of the query's shape, with as many tokens as the key, third");
  static_assert(detail::Same<OutputArray, Output<Shape, queries>>::value,
                "attend: attention takes an attend::Output of the query's shape, with as many tokens as the query, fourth");
  using Dims = detail::Checked<Shape>;
  using Plan = detail::Plan<Shape, queries, keys, false>;
  static_assert(detail::work_floats(static_cast<Work*>(nullptr)) >= Plan::floats,
                "attend: attention needs an attend::Workspace<Shape, query tokens, key tokens>");
  return detail::run<Plan, Dims>({query.data[0][0],
                                  output.data[0][0],
                                  {key.data[0][0], ptrdiff_t(Dims::kv_heads) * Dims::head_dim, Dims::head_dim},
                                  {value.data[0][0], ptrdiff_t(Dims::kv_heads) * Dims::value_dim, Dims::value_dim},
                                  false,
                                  work.data,
                                  queries,
                                  keys},
                                 options, part...);
}

// Attention of a chunk of tokens over a cache that already holds them: append the chunk, then prefill with its queries.
// Causal unless options say otherwise (a cache of encoder keys is read with Options{}). By default the queries are the last
// tokens of the cache, which must hold at least as many.
//   query Query<Shape, tokens>     output Output<Shape, tokens>     work PrefillWorkspace<Shape, tokens>, or a larger one
template <class QueryArray, class Cache, class OutputArray, class Work, class... Parts>
Status prefill(const QueryArray& query, const Cache& cache, OutputArray& output, Work& work,
               const Options& options = detail::causal_options, const Parts&... part) {
  using Shape = typename detail::CacheShape<Cache>::ShapeType;
  constexpr int tokens = detail::Traits<QueryArray>::tokens;
  static_assert(!detail::Same<Shape, void>::value, "attend: prefill takes an attend::KvCache second");
  static_assert(detail::Same<QueryArray, Query<Shape, tokens>>::value,
                "attend: prefill takes an attend::Query of the cache's shape first");
  static_assert(detail::Same<OutputArray, Output<Shape, tokens>>::value,
                "attend: prefill takes an attend::Output of the cache's shape, with as many tokens as the query, third");
  using Plan = detail::Plan<Shape, tokens, Cache::max_tokens, true>;
  static_assert(detail::work_floats(static_cast<Work*>(nullptr)) >= Plan::floats,
                "attend: prefill needs an attend::PrefillWorkspace<Shape, query tokens>");
  if (options.causal && !options.offset.given && options.valid_queries.or_else(tokens) > cache.length())
    return Status::bad_valid_queries;
  return detail::run<Plan, detail::Checked<Shape>>(
      {query.data[0][0], output.data[0][0], cache.key_panels(), cache.values(), true, work.data, tokens, cache.length()},
      options, part...);
}

// Attention of one token over everything in the cache. Work memory is on the stack: config::decode_stack_floats, or what one
// query head takes where that is more. Where heads are wide and many share their keys (128 query heads of 576), prefill with a
// one-token workspace reads the cache fewer times.
//   query Query<Shape>     output Output<Shape>
template <class QueryArray, class Cache, class OutputArray, class... Parts>
Status decode(const QueryArray& query, const Cache& cache, OutputArray& output, const Options& options = detail::no_options,
              const Parts&... part) {
  using Shape = typename detail::CacheShape<Cache>::ShapeType;
  static_assert(!detail::Same<Shape, void>::value,
                "attend: decode takes an attend::KvCache second; other caches take an attend::OptionWorkspace fourth");
  static_assert(detail::Same<QueryArray, Query<Shape>>::value,
                "attend: decode takes an attend::Query of one token and of the cache's shape first");
  static_assert(detail::Same<OutputArray, Output<Shape>>::value,
                "attend: decode takes an attend::Output of one token and of the cache's shape third");
  using Plan = detail::DecodePlan<Shape>;
  alignas(config::alignment) float scratch[Plan::floats];
  return detail::run<Plan, detail::Checked<Shape>>(
      {query.data[0][0], output.data[0][0], cache.key_panels(), cache.values(), true, scratch, 1, cache.length()}, options,
      part...);
}

// The most stack that a call takes, in bytes, as GCC compiles it with -Os or -O2 (config.h): for the size of a task's stack, or
// a static_assert. The first is for attention() too. An attend::Part adds config::part_stack_bytes.
inline constexpr size_t prefill_stack_bytes = config::stack_bytes + config::call_stack_bytes;
template <class Shape>
inline constexpr size_t decode_stack_bytes = prefill_stack_bytes +
                                             detail::DecodePlan<Shape>::floats * sizeof(float) + config::alignment;

}  // namespace attend
