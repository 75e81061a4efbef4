// Calls of integer attention: their checks, and how a problem of the core is filled in.
#pragma once

#include "integer_arrays.h"
#include "option_calls.h"

namespace attend {

// In the place of a number of keys of an IntegerWorkspace: those of a cache, as for Workspace, or any number, in steps.
inline constexpr int in_steps = -2;

namespace detail {

constexpr bool is_integer_options(const void*) { return false; }
template <class Shape>
constexpr bool is_integer_options(const IntegerOptions<Shape>*) {
  return true;
}

// The arguments of a call after its quantisation.
template <class Shape, class... More>
struct IntegerCallArguments {
  static constexpr bool in_order = CallArguments<Shape, More...>::checked;
  static_assert(
      !CallArguments<Shape, More...>::work && !CallArguments<Shape, More...>::score_options,
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
  using ShapeType = Shape;
  using Dims = Checked<Shape>;
  static constexpr int tokens = queries;
  static_assert(Dims::head_dim <= 4096, "attend: integer attention takes a head_dim of at most 4096");
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

template <class Shape, int heads>
void set_quantisation(core::IntegerProblem& problem, const Quantisation<Shape, heads>& quantisation) {
  problem.score_scales = quantisation.scores();
  problem.output_scales = quantisation.outputs();
  problem.score_scale_stride = problem.output_scale_stride = quantisation.head_stride;
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
  const Status status = prepare_window(more, options, more.paging.ring_panels > 0);
  if (status != Status::ok) return status;
  const int zero = options.query_zero_point.or_else(0);
  if (zero < -128 || zero > 127) return Status::bad_zero_point;
  const auto& mask = options.mask;
  const bool is_short = (mask.queries != 1 && mask.queries < problem.queries) || mask.mask.keys < problem.keys;
  if (mask.mask.data != nullptr && is_short) return Status::bad_mask;
  more.visible = mask.mask;
  more.visible_bits = mask.bits;
  more.query_zero = zero;
  return Status::ok;
}
inline Status prepare_integer_options(core::IntegerOptions&, const Options&, const core::IntegerProblem&) { return Status::ok; }

// Whether a ring still holds every key that the first query sees of the first `held` tokens; later queries see no older ones.
inline bool is_in_integer_ring(const IntegerCall& call, int held) {
  const core::Paging& paging = call.options.paging;
  const int oldest = core::first_ring_panel(paging, held, integer_chunk);
  if (paging.ring_panels == 0 || oldest <= paging.sink_panels) return true;
  const int64_t first = int64_t(call.problem.offset) - call.options.left;
  return first >= call.problem.keys || first >= int64_t(oldest) * integer_chunk;
}

template <class Ring>
void set_integer_ring(core::IntegerOptions& options, int held) {
  if constexpr (Ring::window > 0) {
    options.paging.ring_panels = Ring::ring_chunks;
    options.paging.sink_panels = Ring::sink_chunks;
    options.paging.ring_tokens = held;
    options.left = Ring::window - 1;
    options.sink_tokens = Ring::sink_tokens;
  }
}

// Tensors of the core have the type int8_t, whatever numbers they hold.
inline int8_t* as_bytes(void* numbers) { return static_cast<int8_t*>(numbers); }

// First elements of the arrays of a call, which may lack some, and its work memory.
struct IntegerCallArrays {
  const int8_t* query;
  void* output;
  void* scratch;
};

// A call that has its arrays: refuses what is out of range, fills in what the options set, and runs it, or what `part` is of
// it. Plain calls hold no code of options.
//   Ring    the constants of a ring, or NoIntegerRing
//   format  of the output
//   rows    those of a cache or of arrays, of which there are `held`
template <class Plan, class Ring, core::IntegerFormat format, class Rows, class AnyQuantisation, class AnyOptions,
          class AnyPart>
[[gnu::always_inline]] inline Status run_integers(const IntegerCallArrays& arrays, const Rows& rows, int held,
                                                  const AnyQuantisation& quantisation, const AnyOptions& options,
                                                  const AnyPart& part) {
  using Shape = typename Plan::ShapeType;
  constexpr bool with_options = is_integer_options(null_of<AnyOptions>()) || format != core::IntegerFormat::int8 ||
                                Ring::window > 0 || is_one_of_several(null_of<AnyPart>());
  constexpr bool causal = Rows::cached && Plan::tokens > 1;
  const bool positioned = Ring::window > 0 || are_positioned(options, causal);
  if (quantisation.status() != Status::ok) return quantisation.status();
  if (causal && !are_held(options, positioned, Plan::tokens, held)) return Status::bad_query_length;
  if (!is_part(part)) return Status::bad_part;
  IntegerCallWith<with_options> call;
  core::IntegerProblem& problem = call.problem;
  set_query<Shape, Plan>(problem, arrays.query, Plan::tokens, arrays.scratch);
  set_output<Shape>(problem, as_bytes(arrays.output));
  set_quantisation(problem, quantisation);
  problem.key = rows.keys();
  problem.value = rows.values();
  problem.keys = held;
  if constexpr (!config::embedded) problem.panels = Rows::cached && config::integer_panels;
  if constexpr (with_options) {
    set_integer_ring<Ring>(call.options, held);
    Status status = prepare_integers(problem, options, causal, Rows::cached, positioned);
    if (status == Status::ok) status = prepare_integer_options(call.options, options, problem);
    if (status == Status::ok && !is_in_integer_ring(call, held)) status = Status::not_in_ring;
    if (status != Status::ok) return status;
    call.options.output_format = format;
    return run_part_of<CoreRunner>(part, problem, call.options);
  } else {
    const Status status = prepare_integers(problem, options, causal, Rows::cached, positioned);
    return status == Status::ok ? run_part_of<CoreRunner>(part, problem) : status;
  }
}

}  // namespace detail

// Work memory of integer calls over arrays of so many tokens or, with keys left out, over an IntegerKvCache or
// IntegerRingCache; with in_steps, of accumulate into an IntegerState. Contents do not matter before or after; one for each
// concurrent call.
template <class Shape, int queries = 1, int keys = in_steps>
struct IntegerWorkspace : detail::WorkBytes<detail::IntegerPlan<Shape, queries, keys>::bytes> {};

}  // namespace attend
