// The calls of multi-head layers: projections, attention and projection again, block by block.
#pragma once

#include "../attention.h"
#include "../linear.h"
#include "layer_work.h"

namespace attend {
namespace detail {

// Weights with their bias, or null.
template <class WeightArray>
struct Matrix {
  using Weights = WeightsOf<WeightArray>;
  static_assert(Weights::outputs > 0,
                "attend: a layer takes attend::Weights or attend::PackedWeights, or attend::biased() of them");
  constexpr Matrix(const WeightArray& weights_, const float* bias_ = nullptr) : weights(weights_), bias(bias_) {}

  // one_token: no call has more.
  template <bool one_token>
  void project(const float* from, int tokens, float* to, float* work) const {
    run_linear_part_of<Weights, one_token ? 1 : 2>(linear_of(weights, bias, from, tokens, to, work), whole);
  }

  const WeightArray& weights;
  const float* bias;
};
template <class WeightArray>
constexpr Matrix<WeightArray> matrix_of(const WeightArray& weights) {
  return Matrix<WeightArray>(weights);
}
template <class WeightArray>
constexpr const Matrix<WeightArray>& matrix_of(const Matrix<WeightArray>& matrix) {
  return matrix;
}

// Whether what a layer refers to outlives the call that makes it.
template <class Type>
constexpr bool is_kept = is_named<Type> || WeightsOf<typename Bare<Type>::Name>::outputs == 0;

template <class Type>
using MatrixOf = typename Bare<decltype(matrix_of(*null_of<Type>()))>::Name;

// A layer; its steps change queries and keys between projection and attention.
template <class Shape, class Q, class K, class V, class O, class... Steps>
struct MultiHead : Steps... {
  using Dims = Checked<Shape>;
  static constexpr bool has_steps = sizeof...(Steps) > 0;
  static constexpr int width = Q::Weights::inputs, memory_width = K::Weights::inputs, output_width = O::Weights::outputs;
  static_assert(Q::Weights::outputs == 0 || Q::Weights::outputs == Dims::query_heads * Dims::head_dim,
                "attend: the query weights of a layer have query_heads * head_dim outputs");
  static_assert(K::Weights::outputs == 0 || K::Weights::outputs == Dims::kv_heads * Dims::head_dim,
                "attend: the key weights of a layer have kv_heads * head_dim outputs");
  static_assert(V::Weights::outputs == 0 || V::Weights::outputs == Dims::kv_heads * Dims::value_dim,
                "attend: the value weights of a layer have kv_heads * value_dim outputs");
  static_assert(O::Weights::outputs == 0 || O::Weights::inputs == Dims::query_heads * Dims::value_dim,
                "attend: the output weights of a layer have query_heads * value_dim inputs");
  static_assert(V::Weights::inputs == memory_width,
                "attend: the key and value weights of a layer have the same number of inputs");

  constexpr MultiHead(const Q& q, const K& k, const V& v, const O& o, const Steps&... steps)
      : Steps(steps)..., query(q), key(k), value(v), output(o) {}

  // Whether the steps can take these positions.
  Status check([[maybe_unused]] int position, [[maybe_unused]] int count) const {
    Status status = Status::ok;
    (void)(((status = static_cast<const Steps&>(*this).check(position, count)) == Status::ok) && ...);
    return status;
  }
  // The steps, for tokens that lie side by side.
  void prepare_queries([[maybe_unused]] float* tokens, [[maybe_unused]] int position, [[maybe_unused]] int count) const {
    if constexpr (has_steps) {
      for (auto* token = reinterpret_cast<Query<Shape>*>(tokens); count > 0; --count, ++token, ++position) {
        (static_cast<const Steps&>(*this).prepare_query(*token, position), ...);
      }
    }
  }
  void prepare_keys([[maybe_unused]] float* tokens, [[maybe_unused]] int position, [[maybe_unused]] int count) const {
    if constexpr (has_steps) {
      for (auto* token = reinterpret_cast<Key<Shape>*>(tokens); count > 0; --count, ++token, ++position) {
        (static_cast<const Steps&>(*this).prepare_key(*token, position), ...);
      }
    }
  }

  Q query;
  K key;
  V value;
  O output;
};

template <class Type>
struct LayerOf {
  using ShapeType = void;
};
template <class Shape, class... Parts>
struct LayerOf<MultiHead<Shape, Parts...>> {
  using ShapeType = Shape;
};

template <class Type>
constexpr bool is_layer() {
  return !Same<typename LayerOf<Type>::ShapeType, void>::value;
}

template <class... Types>
bool is_part(const LayerCall<Types...>&) {
  return true;
}

template <class... Types>
Status run_part_of(const core::Problem& problem, const LayerCall<Types...>& call) {
  run_blocks(problem, call);
  return Status::ok;
}

template <class Runner, class... Types>
void run_option_part_of(OptionCall& of_block, const LayerCall<Types...>& call) {
  run_option_blocks<Runner>(of_block.problem, of_block.options, call);
}

// The keys and values of a layer: a cache that the tokens of the call are appended to, one that is as it is, or arrays in work
// memory.
template <class Cache, int block>
struct AppendedCache {
  static constexpr bool causal = true;  // where the options do not set it
  using Shape = typename CacheTraits<Cache>::ShapeType;
  template <class Call>
  void fill(const Call& call, int tokens) const {
    call.store(call.x, tokens);
  }
  static float* keys_at(float* work, int /*first*/) { return work; }
  static float* values_at(float* work, int /*first*/) { return work; }
  void store(const float* keys, const float* values, int count) const {  // there is room, as was found before
    (void)cache.append(*reinterpret_cast<const Key<Shape, block>*>(keys), *reinterpret_cast<const Value<Shape, block>*>(values),
                       count);
  }
  Cache& cache;
};
struct FullCache {
  static constexpr bool causal = false;
  template <class Call>
  void fill(const Call&, int) const {}
};
// Whether y shares memory with x without being the same array: what a block writes would be what a later one reads.
template <class X, class Y>
bool overlaps_partly(const X& x, const Y& y) {
  return overlap(x, y) && (static_cast<const void*>(&x) != static_cast<const void*>(&y) || sizeof x != sizeof y);
}

// The requirements of layers on their arrays.
template <class Layer, class X, class Y>
constexpr bool are_token_vectors() {
  using From = VectorsOf<X>;
  using To = VectorsOf<Y>;
  static_assert(From::tokens > 0 && To::tokens > 0, "attend: the call of a layer takes attend::Vectors as x and y");
  static_assert(From::tokens == To::tokens, "attend: x and y of a layer have the same number of tokens");
  static_assert(From::size == Layer::width,
                "attend: x has as many numbers for each token as the layer's query weights have inputs");
  static_assert(To::size == Layer::output_width,
                "attend: y has as many numbers for each token as the layer's output weights have outputs");
  return true;
}

// Attention of a layer's tokens to `held` keys of a cache, some of which the call itself appends.
template <int tokens, class Work, class Layer, class Kept, class Cache, class AnyOptions>
Status run_layer(const Layer& layer, const Kept& kept, const Cache& cache, int held, const LayerTokens& of_call,
                 const AnyOptions& options) {
  using Shape = typename LayerOf<Layer>::ShapeType;
  float* const at = of_call.work;
  if constexpr (is_score_options(null_of<AnyOptions>()) || !CacheTraits<Cache>::plain) {
    using Memory = OptionLayerPlan<Shape, tokens, over_cache>;
    static_assert(is_enough<Work, Memory>(),
                  "attend: a layer with ScoreOptions, or over a RingCache or another format than float, needs an "
                  "attend::LayerOptionWorkspace<Shape, tokens>");
    static_assert(tokens <= CacheTraits<Cache>::most_queries,
                  "attend: a RingCache serves at most tokens_at_once query tokens at once");
    const LayerCall<Layer, typename Memory::Places, Kept> call = {{}, layer, kept, of_call};
    using Block = OptionPlan<Shape, Memory::block>;
    OptionCall problem;
    set_query<Shape, Block>(problem, at + Memory::first, tokens, at);
    set_output<Shape>(problem, at + Memory::second);
    set_keys(problem, cache);
    problem.problem.keys = held;
    if constexpr (is_score_options(null_of<AnyOptions>()) || CacheTraits<Cache>::plain) {
      return run_options<OptionRunner, Shape>(problem, options, Kept::causal, call);
    } else {
      return run_options<WindowRunner<Cache, Block>, Shape>(problem, options, Kept::causal, call);
    }
  } else {
    using Memory = PlainLayerPlan<Shape, tokens, over_cache>;
    static_assert(is_enough<Work, Memory>(), "attend: a layer needs an attend::LayerWorkspace<Shape, tokens>");
    const LayerCall<Layer, typename Memory::Places, Kept> call = {{}, layer, kept, of_call};
    const auto& rows = CacheAccess::rows(cache);
    return run_plain<typename BlockPlan<Shape, Memory::block, over_cache>::Type, Checked<Shape>>(
        {at + Memory::first, at + Memory::second, rows.keys(), rows.values(), true, Kept::causal, at, tokens, held}, options,
        call);
  }
}

}  // namespace detail
}  // namespace attend
