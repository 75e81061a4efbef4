// Calls of integer attention: their checks, and how a problem of the core is filled in.
#pragma once

#include "calls.h"
#include "integer_cache.h"

namespace attend {

// In the place of a number of keys of an IntegerWorkspace: those of a cache, as for Workspace, or any number, in steps.
inline constexpr int in_steps = -2;

namespace detail {

template <class Shape>
struct KindOf<IntegerOptions<Shape>> {
  static constexpr Kind kind = Kind::options;
  using ShapeType = Shape;
};
template <class Shape, class Other>
constexpr bool is_of_shape(const IntegerOptions<Other>*) {
  return Same<Other, Shape>::value;
}
constexpr bool is_integer_options(const void*) { return false; }
template <class Shape>
constexpr bool is_integer_options(const IntegerOptions<Shape>*) {
  return true;
}
template <class Shape>
bool are_positioned(const IntegerOptions<Shape>& options, bool causal) {
  return options.causal.or_else(causal) || options.window_left.given || options.window_right.given;
}

// The arguments of a call after its quantisation.
template <class Shape, class... More>
struct IntegerCallArguments {
  static constexpr bool in_order = CallArguments<Shape, More...>::checked;
  static_assert(
      ((KindOf<typename Bare<More>::Name>::kind != Kind::work) && ...) && !CallArguments<Shape, More...>::score_options,
      "attend: after its attend::Quantisation an integer call takes attend::Options or attend::IntegerOptions<Shape>, "
      "then an attend::Part; both may be left out");
  static constexpr bool options = (is_integer_options(null_of<More>()) || ...);
};

template <class Type>
struct QuantisationOf {
  using ShapeType = void;
};
template <class Shape, int heads>
struct QuantisationOf<Quantisation<Shape, heads>> {
  using ShapeType = Shape;
};

// The blocks of a call, and the work memory that they need.
template <class Shape, int queries, int keys>
struct IntegerPlan {
  using Dims = Checked<Shape>;
  static_assert(queries >= 1, "attend: a workspace needs at least 1 query token");
  static constexpr int rows = core::rows_per_kv_head(Dims::query_heads, Dims::kv_heads, queries);
  static constexpr int row_block = smaller(rows, config::integer_row_block);
  static constexpr int key_block =
      keys < 0 ? config::integer_key_block : smaller(chunks_of(keys) * integer_chunk, config::integer_key_block);
  static constexpr size_t bytes =
      core::integer_scratch_bytes(row_block, key_block, Dims::head_dim, Dims::value_dim, keys < 0 ? any_number : keys);
};

// Base of every integer workspace; the way to tell one from other types.
template <size_t count>
struct WorkBytes {
  alignas(config::alignment) unsigned char data[count];
};
template <size_t count>
constexpr size_t work_bytes(const WorkBytes<count>*) {
  return count;
}
constexpr size_t work_bytes(const void*) { return 0; }

// Outputs by the format of their numbers.
template <class Array, class Shape, int tokens>
struct IntegerOutputOf {
  static constexpr bool value = false, plain = false;
  static constexpr core::IntegerFormat format = core::IntegerFormat::int8;
};
template <class Shape, int tokens>
struct IntegerOutputOf<IntegerOutput<Shape, tokens>, Shape, tokens> {
  static constexpr bool value = true, plain = true;
  static constexpr core::IntegerFormat format = core::IntegerFormat::int8;
};
template <class Shape, int tokens>
struct IntegerOutputOf<Int16Output<Shape, tokens>, Shape, tokens> {
  static constexpr bool value = true, plain = false;
  static constexpr core::IntegerFormat format = core::IntegerFormat::int16;
};

// A call while it is being filled in.
struct IntegerCall {
  core::IntegerProblem problem{};
  core::IntegerOptions options{};
};

// The same of a call that may have no options, and then has no memory for them to be cleared: of its problem all is set.
template <bool with_options>
struct IntegerCallWith : IntegerCall {};
template <>
struct IntegerCallWith<false> {
  core::IntegerProblem problem;
};

template <class Shape>
void set_integer_shape(core::IntegerProblem& problem, int queries) {
  using Dims = Checked<Shape>;
  problem.query_heads = Dims::query_heads;
  problem.kv_heads = Dims::kv_heads;
  problem.head_dim = Dims::head_dim;
  problem.value_dim = Dims::value_dim;
  problem.queries = queries;
  if constexpr (!config::embedded) problem.panels = false;
}
template <class Shape, class Plan, int queries>
void set_integer_query(core::IntegerProblem& problem, const IntegerQuery<Shape, queries>& query, void* scratch) {
  using Dims = Checked<Shape>;
  static_assert(Dims::head_dim <= 4096, "attend: integer attention takes a head_dim of at most 4096");
  set_integer_shape<Shape>(problem, queries);
  problem.query = {query.data[0][0], ptrdiff_t(Dims::query_heads) * Dims::head_dim, Dims::head_dim};
  problem.row_block = Plan::row_block;
  problem.key_block = Plan::key_block;
  problem.scratch = scratch;
}
template <class Shape, class OutputArray>
void set_integer_output(core::IntegerProblem& problem, OutputArray& output) {
  using Dims = Checked<Shape>;
  // Tensors of the core have the type int8_t, whatever numbers they hold.
  void* const data = output.data;
  problem.output = {static_cast<int8_t*>(data), ptrdiff_t(Dims::query_heads) * Dims::value_dim, Dims::value_dim};
}
template <class Shape, int heads>
void set_quantisation(core::IntegerProblem& problem, const Quantisation<Shape, heads>& quantisation) {
  problem.score_scales = quantisation.scores();
  problem.output_scales = quantisation.outputs();
  problem.score_scale_stride = problem.output_scale_stride = quantisation.head_stride;
}
template <class Shape, class KeyArray, class ValueArray>
void set_integer_arrays(core::IntegerProblem& problem, const KeyArray& key, const ValueArray& value, int keys) {
  const NewTokens<Shape, int8_t> tokens(key, value);
  problem.key = tokens.key;
  problem.value = tokens.value;
  problem.keys = keys;
}
template <class Cache>
void set_integer_keys(core::IntegerProblem& problem, const Cache& cache) {
  problem.key = CacheAccess::rows(cache).keys();
  problem.value = CacheAccess::rows(cache).values();
  if constexpr (config::integer_panels) problem.panels = true;
  problem.keys = cache.length();
}

// Refuses what is out of range, and fills in what Options set. held: keys of the arrays or of the cache.
template <class AnyOptions>
[[gnu::always_inline]] inline Status prepare_integers_inlined(core::IntegerProblem& problem, const AnyOptions& options,
                                                              bool causal, bool cached, bool positioned) {
  const int held = problem.keys, queries = options.query_length.or_else(problem.queries);
  const int keys = options.key_length.or_else(held);
  if (queries < 0 || queries > problem.queries) return Status::bad_query_length;
  if (keys < 0 || keys > held) return Status::bad_key_length;
  if (lacks_tokens(options, cached, queries, held)) return Status::empty_cache;
  if (options.scale.given) return Status::no_effect;
  const Status position = check_offset(options, positioned, cached, queries, held);
  if (position != Status::ok) return position;
  problem.offset = options.offset.or_else(cached ? held - queries : 0);
  if (problem.offset > any_number - queries) return Status::bad_offset;
  problem.queries = queries;
  problem.keys = keys;
  problem.causal = options.causal.or_else(causal);
  return Status::ok;
}
template <class AnyOptions>
Status prepare_integers(core::IntegerProblem& problem, const AnyOptions& options, bool causal, bool cached, bool positioned) {
  return prepare_integers_inlined(problem, options, causal, cached, positioned);
}
[[gnu::always_inline]] inline Status prepare_integers(core::IntegerProblem& problem, const NoOptions& options, bool causal,
                                                      bool cached, bool positioned) {
  return prepare_integers_inlined(problem, options, causal, cached, positioned);
}

// Likewise the further fields of IntegerOptions. Over a ring, `more` already has what the ring keeps.
template <class Shape>
Status prepare_integer_options(core::IntegerOptions& more, const IntegerOptions<Shape>& options,
                               const core::IntegerProblem& problem) {
  const bool ring = more.ring_chunks > 0;
  const int left = options.window_left.or_else(more.left), right = options.window_right.or_else(-1);
  const int sink_tokens = options.sink_tokens.or_else(more.sink_tokens), zero = options.query_zero_point.or_else(0);
  if (options.window_left.given && (left < 0 || (ring && left > more.left))) return Status::bad_window;
  if (options.window_right.given && right < 0) return Status::bad_window;
  if (sink_tokens < 0 || (ring && sink_tokens > more.sink_tokens)) return Status::bad_sink_tokens;
  if (sink_tokens > 0 && left < 0) return Status::no_effect;
  if (zero < -128 || zero > 127) return Status::bad_zero_point;
  const auto& mask = options.mask;
  const bool is_short = (mask.queries != 1 && mask.queries < problem.queries) || mask.mask.keys < problem.keys;
  if (mask.mask.data != nullptr && is_short) return Status::bad_mask;
  more.left = left;
  more.right = right;
  more.sink_tokens = sink_tokens;
  more.visible = mask.mask;
  more.visible_bits = mask.bits;
  more.query_zero = zero;
  return Status::ok;
}
inline Status prepare_integer_options(core::IntegerOptions&, const Options&, const core::IntegerProblem&) { return Status::ok; }

// Whether a ring still holds every key that the first query sees of the first `held` tokens; later queries see no older ones.
inline bool is_in_integer_ring(const IntegerCall& call, int held) {
  const int oldest = (held - 1) / integer_chunk - call.options.ring_chunks + 1;
  if (call.options.ring_chunks == 0 || oldest <= call.options.sink_chunks) return true;
  const int64_t first = int64_t(call.problem.offset) - call.options.left;
  return first >= call.problem.keys || first >= int64_t(oldest) * integer_chunk;
}

template <class Ring>
void set_integer_ring(core::IntegerOptions& options, int held) {
  if constexpr (Ring::window > 0) {
    options.ring_chunks = Ring::ring_chunks;
    options.sink_chunks = Ring::sink_chunks;
    options.ring_tokens = held;
    options.left = Ring::window - 1;
    options.sink_tokens = Ring::sink_tokens;
  }
}

// All of a call with options but running it.
template <class Ring, class AnyOptions>
Status prepare_integer_call(IntegerCall& call, const AnyOptions& options, bool causal, bool cached) {
  const int held = call.problem.keys;
  set_integer_ring<Ring>(call.options, held);
  Status status = prepare_integers(call.problem, options, causal, cached, Ring::window > 0 || are_positioned(options, causal));
  if (status == Status::ok) status = prepare_integer_options(call.options, options, call.problem);
  if (status == Status::ok && !is_in_integer_ring(call, held)) status = Status::not_in_ring;
  return status;
}

inline void run_integer_part_of(const core::IntegerProblem& problem, const Whole&) { core::run(problem); }
inline void run_integer_part_of(const core::IntegerProblem& problem, const Part& part) {
  core::run_part(problem, part.index, part.count);
}
inline void run_integer_part_of(const IntegerCall& call, const Whole&) { core::run(call.problem, call.options); }
inline void run_integer_part_of(const IntegerCall& call, const Part& part) {
  core::run_part(call.problem, call.options, part.index, part.count);
}

// A call that has its arrays: checks the rest and runs. Plain calls hold no code of options.
template <class Ring, core::IntegerFormat format, bool with_options, class AnyOptions, class AnyPart>
Status run_integers(IntegerCallWith<with_options>& call, const AnyOptions& options, bool causal, bool cached,
                    const AnyPart& part) {
  if (!is_part(part)) return Status::bad_part;
  if constexpr (with_options) {
    const Status status = prepare_integer_call<Ring>(call, options, causal, cached);
    if (status != Status::ok) return status;
    call.options.output_format = format;
    run_integer_part_of(call, part);
  } else {
    const Status status = prepare_integers(call.problem, options, causal, cached, are_positioned(options, causal));
    if (status != Status::ok) return status;
    run_integer_part_of(call.problem, part);
  }
  return Status::ok;
}

}  // namespace detail

// Work memory of integer calls over arrays of so many tokens or, with keys left out, over an IntegerKvCache or
// IntegerRingCache; with in_steps, of accumulate into an IntegerState. Contents do not matter before or after; one for each
// concurrent call.
template <class Shape, int queries = 1, int keys = in_steps>
struct IntegerWorkspace : detail::WorkBytes<detail::IntegerPlan<Shape, queries, keys>::bytes> {};

}  // namespace attend
