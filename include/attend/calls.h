// What the calls of attention.h, states.h and key_parts.h share: work memory, arguments, and filling in a problem of the core.
#pragma once

#include "kv_cache.h"
#include "score_options.h"

namespace attend {
namespace detail {

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

// Without reference and const.
template <class Type>
struct Bare {
  using Name = Type;
};
template <class Type>
struct Bare<const Type> : Bare<Type> {};
template <class Type>
struct Bare<Type&> : Bare<Type> {};

template <class Type>
constexpr typename Bare<Type>::Name* null_of() {
  return nullptr;
}

template <class Work, class Plan>
constexpr bool is_enough() {
  return work_floats(null_of<Work>()) >= Plan::floats;
}

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

// The same for calls with ScoreOptions, and over caches that are not plain.
template <class Shape, int queries>
struct OptionPlan {
  using Dims = Checked<Shape>;
  static_assert(queries >= 1, "attend: a workspace needs at least 1 query token");
  static constexpr int rows = core::rows_per_kv_head(Dims::query_heads, Dims::kv_heads, queries);
  static constexpr int row_block = smaller(rows, config::option_row_block);
  static constexpr int key_block = config::key_block;
  static constexpr size_t floats = core::option_scratch_floats(row_block, key_block, Dims::head_dim, Dims::value_dim);
};

// What may follow the arrays of a call, each at most once and in this order.
enum class Kind { other, work, options, part };

template <class Type>
struct KindOf {
  static constexpr Kind kind = work_floats(static_cast<Type*>(nullptr)) > 0 ? Kind::work : Kind::other;
};
template <>
struct KindOf<Options> {
  static constexpr Kind kind = Kind::options;
};
template <class Shape>
struct KindOf<ScoreOptions<Shape>> {
  static constexpr Kind kind = Kind::options;
  using ShapeType = Shape;
};
template <>
struct KindOf<Part> {
  static constexpr Kind kind = Kind::part;
};

// What a call without options or without a part takes: objects, so that none is made on the caller's stack.
struct Whole {};
inline constexpr Options no_options{};
inline constexpr Whole whole{};

// The argument of a kind, or what stands for it.
template <Kind kind, class Fallback>
constexpr Fallback& pick(Fallback& fallback) {
  return fallback;
}
template <Kind kind, class Fallback, class First, class... Others>
constexpr auto& pick(Fallback& fallback, First& first, Others&... others) {
  if constexpr (KindOf<typename Bare<First>::Name>::kind == kind) {
    return first;
  } else {
    return pick<kind>(fallback, others...);
  }
}

template <class Shape, class Type>
constexpr bool is_of_shape(const Type*) {
  return true;
}
template <class Shape, class Other>
constexpr bool is_of_shape(const ScoreOptions<Other>*) {
  return Same<Other, Shape>::value;
}
constexpr bool is_score_options(const void*) { return false; }
template <class Shape>
constexpr bool is_score_options(const ScoreOptions<Shape>*) {
  return true;
}

// What a call was given after its arrays.
template <class Shape, class... More>
struct Given {
  static constexpr bool in_order() {
    const Kind kinds[] = {Kind::other, KindOf<typename Bare<More>::Name>::kind...};
    for (size_t i = 0; i < sizeof...(More); ++i) {
      if (kinds[i + 1] <= kinds[i]) return false;
    }
    return true;
  }
  static_assert(in_order(),
                "attend: after its arrays a call takes work memory, if it needs any, then attend::Options or "
                "attend::ScoreOptions<Shape>, then an attend::Part; the last two may be left out");
  static_assert((is_of_shape<Shape>(null_of<More>()) && ...),
                "attend: attend::ScoreOptions must be of the shape of the call's arrays");
  static constexpr bool score_options = (is_score_options(null_of<More>()) || ...);
  static constexpr bool work = ((KindOf<typename Bare<More>::Name>::kind == Kind::work) || ...);
  static constexpr bool only_options = ((KindOf<typename Bare<More>::Name>::kind == Kind::options) && ...);
};

inline bool is_part(const Whole&) { return true; }

// Causal queries over a cache that have no offset are its last tokens, which it must hold. Inlined, so that constant options
// cost nothing.
[[gnu::always_inline]] inline bool are_held(const Options& options, bool causal, int tokens, int held) {
  return !options.causal.or_else(causal) || options.offset.given || options.query_length.or_else(tokens) <= held;
}

// What a plain call brings: first elements of its arrays, how many tokens they have, and whether it is causal if its options do
// not say.
struct Call {
  const float* query;
  float* output;
  core::Tensor<const float> key;
  core::Tensor<const float> value;
  bool key_panels;
  bool causal;
  float* scratch;
  int queries;
  int keys;
};

// Runs the whole problem or one part. Programs without parts do not link the code that cuts.
inline void run_share(const core::Problem& problem, const Whole&) { core::run(problem); }
inline void run_share(const core::Problem& problem, const Part& part) { core::run_part(problem, part.index, part.count); }

// Refuses what is out of range, fills in what the options say, and runs.
template <class PlanType, class Dims, class Share>
Status run_plain(const Call& call, const Options& options, const Share& share) {
  const int queries = options.query_length.or_else(call.queries);
  const int keys = options.key_length.or_else(call.keys);
  constexpr float usual_scale = default_scale(Dims::head_dim);  // by name, or some compilers iterate in double on every call
  const float scale = options.scale.or_else(usual_scale);
  if (queries < 0 || queries > call.queries) return Status::bad_query_length;
  if (keys < 0 || keys > call.keys) return Status::bad_key_length;
  if (!is_finite(scale)) return Status::bad_scale;
  if (!is_part(share)) return Status::bad_part;
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
      options.causal.or_else(call.causal),
      call.key_panels,
      PlanType::row_block,
      PlanType::key_block,
      call.scratch,
  };
  run_share(problem, share);
  return Status::ok;
}

// A normal number above 0, or 0. By its bits, as is_finite.
inline bool is_cap(float cap) {
  unsigned bits;
  __builtin_memcpy(&bits, &cap, sizeof cap);
  return (bits & 0x7fffffffu) == 0 || (bits >= 0x0da24260u && bits <= 0x7149f2cau);
}

template <class Shape, class Plan, int tokens, class Work>
void set_query(OptionCall& call, const Query<Shape, tokens>& query, Work& work) {
  using Dims = Checked<Shape>;
  core::Problem& problem = call.problem;
  problem.query_heads = Dims::query_heads;
  problem.kv_heads = Dims::kv_heads;
  problem.head_dim = Dims::head_dim;
  problem.value_dim = Dims::value_dim;
  problem.row_block = Plan::row_block;
  problem.key_block = Plan::key_block;
  problem.scratch = work.data;
  problem.query = {query.data[0][0], ptrdiff_t(Dims::query_heads) * Dims::head_dim, Dims::head_dim};
  problem.queries = tokens;
}
template <class Shape, int tokens>
void set_output(OptionCall& call, Output<Shape, tokens>& output) {
  using Dims = Checked<Shape>;
  call.problem.output = {output.data[0][0], ptrdiff_t(Dims::query_heads) * Dims::value_dim, Dims::value_dim};
}
template <class Shape, int keys>
void set_keys(OptionCall& call, const Key<Shape, keys>& key, const Value<Shape, keys>& value) {
  const NewTokens<Shape> tokens(key, value);
  call.problem.key = tokens.key;
  call.problem.value = tokens.value;
  call.problem.keys = keys;
}
template <class Cache>
void set_keys(OptionCall& call, const Cache& cache) {
  CacheAccess::rows(cache).set(call);
  call.problem.key_panels = true;
  call.problem.keys = cache.length();
}

// Whether a ring still holds every key that the first query sees of the first `held` tokens; later queries see no older ones.
inline bool is_in_ring(const OptionCall& call, int held) {
  const core::Paging& paging = call.options.paging;
  const int oldest = (held - 1) / panel_keys - paging.ring_groups + 1;  // group
  if (paging.ring_groups == 0 || oldest <= paging.sink_groups) return true;
  const int64_t first = int64_t(call.problem.offset) - call.options.left;
  return first >= call.problem.keys || first >= int64_t(oldest) * panel_keys;
}

// Refuses what is out of range, and fills in what the options say.
//   causal  whether the call is, if the options do not say
template <class Shape>
Status prepare(OptionCall& call, const ScoreOptions<Shape>& options, bool causal, bool has_states) {
  core::Problem& problem = call.problem;
  core::Options& more = call.options;
  const bool ring = more.paging.ring_groups != 0;
  const int held = problem.keys, queries = options.query_length.or_else(problem.queries);
  const int keys = options.key_length.or_else(held);
  constexpr float usual_scale = default_scale(Checked<Shape>::head_dim);
  const float scale = options.scale.or_else(usual_scale);
  const int offset = options.offset.or_else(problem.key_panels ? held - queries : 0);
  const int left = options.window_left.or_else(more.left), right = options.window_right.or_else(-1);
  const int sink_tokens = options.sink_tokens.or_else(more.sink_tokens);
  if (queries < 0 || queries > problem.queries) return Status::bad_query_length;
  if (keys < 0 || keys > held) return Status::bad_key_length;
  if (!is_finite(scale)) return Status::bad_scale;
  if (offset > any_number - queries) return Status::bad_offset;
  if (options.window_left.given && (left < 0 || (ring && left > more.left))) return Status::bad_window;
  if (options.window_right.given && right < 0) return Status::bad_window;
  if (sink_tokens < 0 || (ring && sink_tokens > more.sink_tokens)) return Status::bad_sink_tokens;
  if (!is_cap(options.soft_cap)) return Status::bad_soft_cap;
  const auto is_short = [&](int rows, int columns) { return rows < queries || columns < keys; };
  const auto rows_of = [&](int of_array) { return of_array == 1 ? queries : of_array; };
  if (options.mask.mask.data != nullptr && is_short(rows_of(options.mask.queries), options.mask.mask.keys))
    return Status::bad_mask;
  if (options.bias.mask.data != nullptr && is_short(rows_of(options.bias.queries), options.bias.mask.keys))
    return Status::bad_bias;
  if (options.lse.data != nullptr && options.lse.tokens < queries) return Status::bad_lse;
  if (options.scores.data != nullptr) {
    const bool of_hidden = options.score_stage == ScoreStage::raw || options.score_stage == ScoreStage::capped;
    if (is_short(options.scores.tokens, options.scores.keys) || (ring && of_hidden)) return Status::bad_scores;
    if (has_states && options.score_stage == ScoreStage::weights) return Status::bad_scores;
  }

  problem.queries = queries;
  problem.keys = keys;
  problem.offset = offset;
  problem.scale = scale;
  problem.causal = options.causal.or_else(causal);
  more.left = left;
  more.right = right;
  more.sink_tokens = sink_tokens;
  if (!is_in_ring(call, held)) return Status::not_in_ring;
  more.paging.ring_tokens = ring ? held : 0;
  more.visible = options.mask.mask;
  more.visible_bits = options.mask.bits;
  more.bias = options.bias.mask;
  more.alibi_slopes = options.alibi_slopes.data;
  more.relative = options.relative_bias.data;
  more.relative_head_stride = options.relative_bias.head_stride;
  more.relative_left = options.relative_bias.left;
  more.relative_right = options.relative_bias.right;
  more.soft_cap = options.soft_cap;
  more.sink_logits = options.sink_logits.data;
  constexpr ptrdiff_t heads = Checked<Shape>::query_heads;
  more.lse = {options.lse.data, heads, 1};
  more.scores = {options.scores.data, heads * options.scores.keys, options.scores.keys};
  more.score_keys = options.scores.keys;
  more.score_stage = options.score_stage;
  return Status::ok;
}

// How a call is made that can have all options. One that asks for a window at most has less code: TypedRows::run_window.
struct RunAll {
  static void run(const core::Problem& problem, const core::Options& options) { core::run(problem, options); }
};
template <class Cache, class Plan>
struct RunWindow {
  static void run(const core::Problem& problem, const core::Options& options) {
    CacheTraits<Cache>::Rows::template run_window<Plan::row_block == 1>(problem, options);
  }
};

template <class How>
void run_option_share(const OptionCall& call, const Whole&) {
  How::run(call.problem, call.options);
}
template <class How>
void run_option_share(const OptionCall& call, const Part& part) {
  core::run_part(call.problem, call.options, part.index, part.count);
}

template <class How, class Shape, class Share>
Status run_options(OptionCall& call, const ScoreOptions<Shape>& options, bool causal, const Share& share) {
  if (!is_part(share)) return Status::bad_part;
  const Status status = prepare(call, options, causal, false);
  if (status == Status::ok) run_option_share<How>(call, share);
  return status;
}

}  // namespace detail

// In the place of a number of keys: those of a cache.
inline constexpr int over_cache = -1;

// Work memory for attention() over arrays of so many tokens and, with keys left out, for prefill() with a query array of so
// many tokens over a KvCache of floats. Contents do not matter before or after; one per concurrent call. A larger one does as
// well.
template <class Shape, int queries, int keys = over_cache>
struct Workspace : detail::WorkFloats<detail::Plan<Shape, queries, keys, false>::floats> {};
template <class Shape, int queries>
struct Workspace<Shape, queries, over_cache>
    : detail::WorkFloats<detail::Plan<Shape, queries, detail::Capacity<Shape>::value, true>::floats> {};

// The same for calls with ScoreOptions, or over a RingCache or a cache of another format, decode too; however many keys there
// are. It is a type of its own because it is larger: a part with 64 KB of memory should not pay for options that it does not
// use.
template <class Shape, int queries = 1>
struct OptionWorkspace : detail::WorkFloats<detail::OptionPlan<Shape, queries>::floats> {};

}  // namespace attend
