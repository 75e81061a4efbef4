// Multi-head attention from token vectors to context vectors: the projections to queries, keys and values, attention, and the
// projection of all heads' outputs, in one call.
//
//   const auto layer = attend::multi_head<Voice>(wq, wk, wv, wo);        // Weights or PackedWeights of any format
//   static attend::LayerWorkspace<Voice, 16> work;                       // sizeof is all the memory that it takes
//   attend::self_attention(x, layer, cache, y, work);                    // appends the tokens of x, then causal attention
//   attend::self_attention(x, layer, y, work_of_arrays);                 // without a cache: all tokens see each other
//   attend::project_memory(encoded, layer, memory, work);                // encoder tokens, once
//   attend::cross_attention(x, layer, memory, y, work);                  // and then for each x
//
//   static attend::LayerWorkspace<Voice, 16, attend::over_cache, false, 4> work_of_4;        // one, which 4 threads share
//   team.run([&](attend::TeamPart part) { return attend::self_attention(x, layer, cache, y, work_of_4, part); });
//
// x and y are Vectors<tokens, width>; y may be x. multi_head keeps references and pointers: the arrays must live as long
// as the layer is used. Each call has the bits of project, append, attention, prefill or decode, and project one after
// another, for any block of tokens. A call that finds an argument out of range returns a status and changes nothing; where a
// key or value is too large for a ring, what the block of tokens before it has overwritten is gone.
//
// After the options, or without them, calls take a TeamPart: threads that compute a call together, with the bits of one. Where
// there is std::thread, attend::Team (hosted/threads.h) starts and joins them. All return the same status; where one alone is
// refused, for its index, the others wait for it in the barrier. A thread that does not pass its part on computes the whole
// call, and over a cache appends the tokens once more: -Werror=unused-parameter finds a part that a lambda does not use.
#pragma once

#include "layer_calls.h"

namespace attend {

// The layer whose queries, keys, values and outputs these matrices make: Weights, PackedWeights, or biased() ones, of any
// formats. `steps` follow one another: rotated(), head_norm() and scaled_queries() change queries and keys after their
// projection, gated() the outputs of attention (layer_steps.h).
// clang-format off
//   query_weights   query_heads * head_dim outputs, as many inputs as x has numbers for each token
//   key_weights     kv_heads * head_dim outputs, inputs of x or of an encoder's memory
//   value_weights   kv_heads * value_dim outputs, the same inputs
//   output_weights  as many outputs as y has numbers for each token, query_heads * value_dim inputs
// clang-format on
template <class Shape, class Q, class K, class V, class O, class... Steps>
constexpr auto multi_head(Q&& query_weights, K&& key_weights, V&& value_weights, O&& output_weights, const Steps&... steps) {
  using namespace detail;
  static_assert(is_kept<Q> && is_kept<K> && is_kept<V> && is_kept<O>,
                "attend: a layer refers to its weights: they must have a name and outlive it, so not be what pack() returns");
  return MultiHead<Shape, MatrixOf<Q>, MatrixOf<K>, MatrixOf<V>, MatrixOf<O>, Steps...>(
      matrix_of(query_weights), matrix_of(key_weights), matrix_of(value_weights), matrix_of(output_weights), steps...);
}

// Weights with a bias, for multi_head.
//   bias: float[outputs]
template <class WeightArray, class Bias>
constexpr auto biased(WeightArray&& weights, Bias&& bias) {
  using Array = typename detail::Bare<WeightArray>::Name;
  using Numbers = detail::ArrayOf<typename detail::Bare<Bias>::Name>;
  static_assert(detail::is_named<WeightArray>,
                "attend: a layer refers to its weights: they must have a name and outlive it, so not be what pack() returns");
  static_assert(detail::is_named<Bias> && detail::is_row<Bias> && Numbers::count == size_t(detail::WeightsOf<Array>::outputs),
                "attend: a bias is a float[] with as many numbers as the weights have outputs, and with a name: a layer refers "
                "to it");
  const float* numbers = nullptr;
  if constexpr (detail::is_row<Bias>) numbers = bias;
  return detail::Matrix<Array>(weights, numbers);
}

namespace detail {

// Refuses tokens that self-attention cannot take at a position. room: how many it can.
template <class X, class Layer, class Y>
Status check_tokens(const X& x, const Layer& layer, const Y& y, int position, int room, const Options& options) {
  static_assert(Layer::memory_width == Layer::width,
                "attend: the key weights of self_attention have as many inputs as the query weights");
  const int count = options.query_length.or_else(VectorsOf<X>::tokens);
  if (count < 0 || count > VectorsOf<X>::tokens) return Status::bad_query_length;
  if (count > room) return Status::cache_full;
  if (overlaps_partly(x, y)) return Status::bad_output;
  if (Layer::has_steps && options.offset.or_else(position) != position) return Status::bad_offset;
  return layer.check(position, count);
}

template <class X, class Layer, class Cache, class Y, class Work, class... More>
Status attend_to_cache(const X& x, const Layer& layer, Cache& cache, Y& y, Work& work, const More&... more) {
  using Shape = typename LayerOf<Layer>::ShapeType;
  static_assert(are_layer_arguments<Layer, X, Y, More...>());
  static_assert(Same<typename CacheTraits<Cache>::ShapeType, Shape>::value,
                "attend: self_attention takes a KvCache, RingCache or PagedCache of the layer's shape");
  constexpr int tokens = VectorsOf<X>::tokens;
  const auto& options = pick<Kind::options>(no_options, more...);
  using Memory = CacheLayerPlan<Shape, tokens, Cache, Work, decltype(options)>;
  const int position = cache.length();
  const Status status = check_tokens(x, layer, y, position, cache.room(), options);
  if (status != Status::ok) return status;
  return run_layer<Memory, tokens>(layer, AppendedCache<Cache, Memory::block>{cache}, CacheAccess::rows(cache),
                                   position + options.query_length.or_else(tokens), work,
                                   {first_number(x), first_number(y), work.data, position}, options,
                                   pick<Kind::part>(whole, more...));
}

template <class X, class Layer, class Y, class Work, class... More>
Status attend_to_tokens(const X& x, const Layer& layer, Y& y, Work& work, const More&... more) {
  using Shape = typename LayerOf<Layer>::ShapeType;
  using Dims = Checked<Shape>;
  static_assert(are_layer_arguments<Layer, X, Y, More...>());
  constexpr int tokens = VectorsOf<X>::tokens;
  using Memory = LayerPlan<!CallArguments<Shape, More...>::score_options, Shape, tokens, tokens>;
  static_assert(
      is_enough<Work, Memory>(),
      "attend: self_attention without a cache needs an attend::LayerWorkspace<Shape, tokens, tokens>, with ScoreOptions "
      "an attend::LayerWorkspace<Shape, tokens, tokens, attend::with_options>");
  const auto& options = pick<Kind::options>(no_options, more...);
  const Status status = check_tokens(x, layer, y, 0, tokens, options);
  if (status != Status::ok) return status;
  float* const at = work.data;
  const KeptArrays kept = {{at + Memory::keys, ptrdiff_t(Dims::kv_heads) * Dims::head_dim, Dims::head_dim},
                           {at + Memory::values, ptrdiff_t(Dims::kv_heads) * Dims::value_dim, Dims::value_dim}};
  return run_layer<Memory, tokens>(layer, kept, ArrayRows<Shape>(at + Memory::keys, at + Memory::values),
                                   options.query_length.or_else(tokens), work, {first_number(x), first_number(y), at, 0},
                                   options, pick<Kind::part>(whole, more...));
}

}  // namespace detail

// Self-attention of the tokens of x, in two forms:
//   x, layer, cache, y, work   appends the tokens to the cache, of any kind, and attends over everything in it, causal by
//                              default: prefill, and decode where x has one token
//   x, layer, y, work          over these tokens alone; every token sees every other one by default
// Options::query_length sets how many tokens x has, where they are fewer than its array has. The positions of the tokens, for
// steps, count from the beginning of the cache, or from 0; with steps another offset is refused.
template <class X, class Layer, class Third, class Fourth, class... More>
Status self_attention(const X& x, const Layer& layer, Third& third, Fourth& fourth, More&&... more) {
  static_assert(detail::is_layer<Layer>(),
                "attend: after x, the call of a layer takes what attend::multi_head<Shape>(...) has made");
  constexpr bool is_cache = !detail::Same<typename detail::CacheTraits<Third>::ShapeType, void>::value;
  static_assert(!is_cache || !detail::Same<Third, const Third>::value,
                "attend: self_attention appends to the cache, which must not be const");
  static_assert(is_cache || !detail::Same<Third, const Third>::value,
                "attend: self_attention writes y, which must not be const");
  static_assert(!is_cache || sizeof...(More) > 0,
                "attend: self_attention over a cache takes y and then work memory, an attend::LayerWorkspace<Shape, tokens>");
  if constexpr (!detail::is_layer<Layer>() || detail::Same<Third, const Third>::value || (is_cache && sizeof...(More) == 0)) {
    return Status::ok;
  } else if constexpr (is_cache) {
    return detail::attend_to_cache(x, layer, third, fourth, more...);
  } else {
    return detail::attend_to_tokens(x, layer, third, fourth, more...);
  }
}

// Catches everything else: a temporary, or arguments that are missing.
template <class... Any>
Status self_attention(const Any&...) {
  static_assert(sizeof...(Any) > 1000,
                "attend: self_attention takes x, a layer, a cache or none, y and work memory, an attend::LayerWorkspace<Shape, "
                "tokens>, without a cache <Shape, tokens, tokens>; none is a temporary; then options");
  return Status::ok;
}

// Projects tokens of an encoder to keys and values and appends them to a cache, for cross_attention: once for each sequence,
// after cache.clear(). count: tokens that are no padding, from the first; a TeamPart may follow.
// clang-format off
//   memory  Vectors<tokens, inputs of the key weights>
//   cache   KvCache
//   work    LayerWorkspace<Shape, tokens>
// clang-format on
template <class Vectors, class Layer, class Cache, class Work, class AnyPart = detail::Whole>
Status project_memory(const Vectors& memory, const Layer& layer, Cache& cache, Work& work,
                      int count = detail::VectorsOf<Vectors>::tokens, const AnyPart& part = {}) {
  using namespace detail;
  using Shape = typename LayerOf<Layer>::ShapeType;
  constexpr int tokens = VectorsOf<Vectors>::tokens;
  static_assert(
      tokens > 0 && VectorsOf<Vectors>::size == Layer::memory_width,
      "attend: project_memory takes attend::Vectors with as many numbers for each token as the key weights have inputs");
  static_assert(Same<typename CacheTraits<Cache>::ShapeType, Shape>::value,
                "attend: project_memory takes a cache of the layer's shape third");
  constexpr bool right_part = Same<AnyPart, Whole>::value || Same<AnyPart, TeamPart>::value;
  static_assert(right_part, "attend: project_memory takes an attend::TeamPart last, which has the barrier of its threads");
  using Memory = LayerPlan<true, Shape, tokens, over_cache>;
  static_assert(is_enough<Work, Memory>(), "attend: project_memory needs an attend::LayerWorkspace<Shape, tokens>");
  if (count < 0 || count > tokens) return Status::bad_count;
  if (count > cache.room()) return Status::cache_full;
  const Status status = layer.check(cache.length(), count);
  if (status != Status::ok) return status;
  using Places = typename Memory::Places;
  if constexpr (right_part) {
    if (!is_team<Places, Work>(part)) return Status::bad_part;
    const InUse use(work, team_of(part).part == 0);
    const LayerCall<Layer, Places, AppendedCache<Cache, Memory::block>, decltype(team_of(part))> call = {
        {}, layer, {cache}, {nullptr, nullptr, work.data, cache.length()}, team_of(part)};
    if (!call.store(first_number(memory), count)) return Status::out_of_range;
  }
  return Status::ok;
}

// Attention of the tokens of x to the memory that project_memory has put into the cache; every token sees all of it by
// default (options: key_length, mask). The tokens of x have the positions offset, offset + 1 … for steps. Where causal or
// another option depends on positions, they are by default the last tokens of the memory; otherwise offset is 0.
// clang-format off
//   x      Vectors<tokens, width>
//   cache  KvCache
//   y      Vectors<tokens, outputs>
//   work   LayerWorkspace<Shape, tokens>
// clang-format on
template <class X, class Layer, class Cache, class Y, class Work, class... More>
Status cross_attention(const X& x, const Layer& layer, const Cache& cache, Y& y, Work& work, const More&... more) {
  using namespace detail;
  using Shape = typename LayerOf<Layer>::ShapeType;
  static_assert(are_layer_arguments<Layer, X, Y, More...>());
  static_assert(Same<typename CacheTraits<Cache>::ShapeType, Shape>::value,
                "attend: cross_attention takes a KvCache, RingCache or PagedCache of the layer's shape third");
  constexpr int tokens = VectorsOf<X>::tokens;
  const auto& options = pick<Kind::options>(no_options, more...);
  const bool positioned = CacheTraits<Cache>::is_ring || are_positioned(options, false);
  const int count = options.query_length.or_else(tokens);
  if (count < 0 || count > tokens) return Status::bad_query_length;
  const int position = options.offset.or_else(positioned ? cache.length() - count : 0);
  if (!are_held(options, positioned, tokens, cache.length(), cache.length())) return Status::bad_query_length;
  if (overlaps_partly(x, y)) return Status::bad_output;
  const Status status = layer.check(position, count);
  if (status != Status::ok) return status;
  auto attention_options = options;
  if (Layer::has_steps && !positioned) attention_options.offset = Setting<int>{};  // it is for the steps alone
  using Memory = CacheLayerPlan<Shape, tokens, Cache, Work, decltype(options)>;
  return run_layer<Memory, tokens>(layer, FullCache{}, CacheAccess::rows(cache), cache.length(), work,
                                   {first_number(x), first_number(y), work.data, position}, attention_options,
                                   pick<Kind::part>(whole, more...));
}

// The most stack that the calls of a layer take, in bytes, as GCC compiles them with -Os or -O2: over a KvCache of floats or
// without a cache, with Options; and with ScoreOptions, or over other caches. An attend::TeamPart adds
// config::part_stack_bytes.
inline constexpr size_t multi_head_stack_bytes =
    (config::stack_bytes > config::linear_stack_bytes ? config::stack_bytes : config::linear_stack_bytes) + 1024;
inline constexpr size_t multi_head_option_stack_bytes =
    (config::option_stack_bytes > config::linear_stack_bytes ? config::option_stack_bytes : config::linear_stack_bytes) + 1024;

}  // namespace attend
