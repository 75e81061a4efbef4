// How the calls of multi-head layers go over their tokens: projections, attention and projection again, block by block.
#pragma once

#include "attention.h"
#include "layer_work.h"
#include "linear.h"

namespace attend {
namespace detail {

// Weights with their bias, or null.
template <class WeightArray>
struct Matrix {
  using Weights = WeightsOf<WeightArray>;
  static_assert(Weights::outputs > 0,
                "attend: a layer takes attend::Weights or attend::PackedWeights, or attend::biased() of them");
  constexpr Matrix(const WeightArray& weights_, const float* bias_ = nullptr) : weights(weights_), bias(bias_) {}
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
  void prepare([[maybe_unused]] Query<Shape>& of_token, [[maybe_unused]] int position) const {
    (static_cast<const Steps&>(*this).prepare_query(of_token, position), ...);
  }
  void prepare([[maybe_unused]] Key<Shape>& of_token, [[maybe_unused]] int position) const {
    (static_cast<const Steps&>(*this).prepare_key(of_token, position), ...);
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

// one_token: no call has more.
template <bool one_token, class WeightArray>
void project_tokens(const Matrix<WeightArray>& matrix, const float* from, int tokens, float* to, float* work) {
  run_linear_share<WeightsOf<WeightArray>, one_token ? 1 : 2>(linear_of(matrix.weights, matrix.bias, from, tokens, to, work),
                                                              whole);
}

// One call of a layer, as what run_plain and run_options run in the place of a whole problem: when they have refused what is
// out of range, blocks of tokens go through the layer one after another.
//
//   for each block of tokens:  keys and values = projections; steps; store
//   for each block of tokens:  queries = projection; steps; attention; output = projection
//
// `Store` is what is attended to: where a block's keys and values are projected to, and what becomes of them then.
template <class Layer, class Memory, class Store>
struct LayerCall {
  static constexpr int block = Memory::block;
  using Shape = typename LayerOf<Layer>::ShapeType;

  // Keys and values of `count` tokens.
  void store(const float* from, int count) const {
    for (int first = 0; first < count; first += block, from += ptrdiff_t(block) * Layer::memory_width) {
      const int some = smaller(block, count - first);
      float *const keys = kept.keys_at(work + Memory::first, first), *const values =
                                                                         kept.values_at(work + Memory::second, first);
      project_tokens<block == 1>(layer.key, from, some, keys, scratch());
      project_tokens<block == 1>(layer.value, from, some, values, scratch());
      prepare<Key<Shape>>(keys, first, some);
      kept.store(keys, values, some);
    }
  }

  // attend(first, count): attention of the block's queries.
  template <class Attend>
  void attend_blocks(int count, Attend attend) const {
    float *const queries = work + Memory::first, *const outputs = work + Memory::second;
    for (int first = 0; first < count; first += block) {
      const int some = smaller(block, count - first);
      project_tokens<block == 1>(layer.query, x + ptrdiff_t(first) * Layer::width, some, queries, scratch());
      prepare<Query<Shape>>(queries, first, some);
      attend(first, some);
      project_tokens<block == 1>(layer.output, outputs, some, y + ptrdiff_t(first) * Layer::output_width, scratch());
    }
  }

  // The steps, for each token of a block.
  template <class Token>
  void prepare(float* tokens, int first, int count) const {
    if constexpr (!Layer::has_steps) return;
    constexpr size_t width = sizeof(Token) / sizeof(float);
    for (int t = 0; t < count; ++t, tokens += width) layer.prepare(*reinterpret_cast<Token*>(tokens), position + first + t);
  }

  float* scratch() const { return Memory::projecting > 0 ? work : nullptr; }

  const Layer& layer;
  Store kept;
  const float* x;
  float* y;
  float* work;
  int position;  // of the first token, for the steps
};

template <class... Types>
bool is_part(const LayerCall<Types...>&) {
  return true;
}

template <class... Types>
Status run_share(const core::Problem& problem, const LayerCall<Types...>& call) {
  call.kept.fill(call, problem.queries);
  core::Problem of_block = problem;
  call.attend_blocks(problem.queries, [&](int first, int count) {
    of_block.queries = count;
    of_block.offset = core::offset_after(problem.offset, first);
    core::run(of_block);
  });
  return Status::ok;
}

template <class How, class... Types>
void run_option_share(OptionCall& of_block, const LayerCall<Types...>& call) {
  const int queries = of_block.problem.queries, offset = of_block.problem.offset;
  call.kept.fill(call, queries);
  call.attend_blocks(queries, [&](int first, int count) {
    of_block.problem.queries = count;
    of_block.problem.offset = core::offset_after(offset, first);
    How::run(of_block.problem, of_block.options);
    core::move_queries(of_block.options, count, 0);
  });
}

// What is attended to: a cache that the tokens of the call are appended to, one that is as it is, or arrays in work memory.
template <class Cache, int block>
struct AppendedCache {
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
  template <class Call>
  void fill(const Call&, int) const {}
};
template <class Shape>
struct KeptArrays {
  using Dims = Checked<Shape>;
  template <class Call>
  void fill(const Call& call, int tokens) const {
    call.store(call.x, tokens);
  }
  float* keys_at(float* /*work*/, int first) const { return keys + ptrdiff_t(first) * Dims::kv_heads * Dims::head_dim; }
  float* values_at(float* /*work*/, int first) const { return values + ptrdiff_t(first) * Dims::kv_heads * Dims::value_dim; }
  static void store(const float* /*keys*/, const float* /*values*/, int /*count*/) {}  // they are where they belong
  float* keys;
  float* values;
};

// Whether y shares memory with x without being the same array: what a block writes would be what a later one reads.
template <class X, class Y>
bool is_torn(const X& x, const Y& y) {
  return overlap(x, y) && (static_cast<const void*>(&x) != static_cast<const void*>(&y) || sizeof x != sizeof y);
}

// What the calls of layers ask of their arrays.
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
template <class Layer, class Kept, class X, class Cache, class Y, class Work, class AnyOptions>
Status run_layer(const Layer& layer, const Kept& kept, const X& x, const Cache& cache, int held, int position, bool causal,
                 Y& y, Work& work, const AnyOptions& options) {
  using Shape = typename LayerOf<Layer>::ShapeType;
  constexpr int tokens = VectorsOf<X>::tokens;
  float* const at = work.data;
  if constexpr (is_score_options(null_of<AnyOptions>()) || !CacheTraits<Cache>::plain) {
    using Memory = OptionLayerPlan<Shape, tokens, over_cache>;
    static_assert(is_enough<Work, Memory>(),
                  "attend: a layer with ScoreOptions, or over a RingCache or another format than float, needs an "
                  "attend::LayerOptionWorkspace<Shape, tokens>");
    static_assert(tokens <= CacheTraits<Cache>::most_queries,
                  "attend: a RingCache serves at most as many query tokens at once as its tokens_at_once says");
    const LayerCall<Layer, Memory, Kept> call = {layer, kept, first_float(x), first_float(y), at, position};
    using Block = OptionPlan<Shape, Memory::block>;
    OptionCall problem;
    set_query<Shape, Block>(problem, at + Memory::first, tokens, at);
    set_output<Shape>(problem, at + Memory::second);
    set_keys(problem, cache);
    problem.problem.keys = held;
    if constexpr (is_score_options(null_of<AnyOptions>()) || CacheTraits<Cache>::plain) {
      return run_options<RunAll, Shape>(problem, options, causal, call);
    } else {
      return run_options<RunWindow<Cache, Block>, Shape>(problem, options, causal, call);
    }
  } else {
    using Memory = PlainLayerPlan<Shape, tokens, over_cache>;
    static_assert(is_enough<Work, Memory>(), "attend: a layer needs an attend::LayerWorkspace<Shape, tokens>");
    const LayerCall<Layer, Memory, Kept> call = {layer, kept, first_float(x), first_float(y), at, position};
    const auto& rows = CacheAccess::rows(cache);
    return run_plain<typename BlockPlan<Shape, Memory::block, over_cache>::Type, Checked<Shape>>(
        {at + Memory::first, at + Memory::second, rows.keys(), rows.values(), true, causal, at, tokens, held}, options, call);
  }
}

}  // namespace detail
}  // namespace attend
