// Calls with Options over arrays and plain caches: their checks, and how a problem of the core is filled in.
#pragma once

#include "arguments.h"

namespace attend {
namespace detail {

inline bool is_part(const Whole&) { return true; }

// Whether anything in the options depends on the positions of queries. causal: whether the call is by default.
[[gnu::always_inline]] inline bool are_positioned(const Options& options, bool causal) {
  return options.causal.or_else(causal);
}
template <class Shape>
bool are_positioned(const ScoreOptions<Shape>& options, bool causal) {
  return options.causal.or_else(causal) || options.window_left.given || options.window_right.given ||
         options.alibi_slopes.data != nullptr || options.relative_bias.data != nullptr;
}

// The same over a cache: a ring always has a window.
template <class Cache, class AnyOptions>
[[gnu::always_inline]] inline bool is_positioned(const AnyOptions& options, bool causal) {
  return CacheTraits<Cache>::is_ring || are_positioned(options, causal);
}

// Queries over a cache that have no offset are its last tokens, which it must hold where positions matter. Inlined, so that
// constant options cost nothing.
[[gnu::always_inline]] inline bool are_held(const Options& options, bool positioned, int tokens, int held) {
  return !positioned || options.offset.given || options.query_length.or_else(tokens) <= held;
}

// An offset must be set where it does something, and only there. Queries over arrays that have none are the first tokens of the
// keys where there are as many of both: as the array has, or as are valid.
//   held  keys of the array or cache
[[gnu::always_inline]] inline Status check_offset(const Options& options, bool positioned, bool cached, int queries, int held) {
  if (options.offset.given) return positioned ? Status::ok : Status::no_effect;
  const bool clear = !positioned || cached || queries == 0 || queries == held || queries == options.key_length.or_else(held);
  return clear ? Status::ok : Status::ambiguous_offset;
}

// The cache is empty although queries attend to it: an append was forgotten, unless the options set key_length to 0.
[[gnu::always_inline]] inline bool lacks_tokens(const Options& options, bool cached, int queries, int held) {
  return cached && held == 0 && queries > 0 && !options.key_length.given;
}

// The arguments of a plain call: first elements of its arrays, their tokens, and whether it is causal by default.
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
inline Status run_part_of(const core::Problem& problem, const Whole&) {
  core::run(problem);
  return Status::ok;
}
inline Status run_part_of(const core::Problem& problem, const Part& part) {
  core::run_part(problem, part.index, part.count);
  return Status::ok;
}

// Refuses what is out of range, fills in what the options set, and runs.
template <class PlanType, class Dims, class AnyPart>
Status run_plain(const Call& call, const Options& options, const AnyPart& part) {
  const int queries = options.query_length.or_else(call.queries);
  const int keys = options.key_length.or_else(call.keys);
  constexpr float usual_scale = default_scale(Dims::head_dim);  // by name, or some compilers iterate in double on every call
  const float scale = options.scale.or_else(usual_scale);
  if (queries < 0 || queries > call.queries) return Status::bad_query_length;
  if (keys < 0 || keys > call.keys) return Status::bad_key_length;
  if (lacks_tokens(options, call.key_panels, queries, call.keys)) return Status::empty_cache;
  if (!is_finite(scale)) return Status::bad_scale;
  const Status position = check_offset(options, options.causal.or_else(call.causal), call.key_panels, queries, call.keys);
  if (position != Status::ok) return position;
  if (!is_part(part)) return Status::bad_part;
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
  return run_part_of(problem, part);
}

}  // namespace detail
}  // namespace attend
