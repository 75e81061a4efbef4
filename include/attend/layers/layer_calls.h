// The calls of multi-head layers: projections, attention and projection again, block by block; and their work memory.
#pragma once

#include "../attention.h"
#include "layer_blocks.h"
#include "linear.h"

namespace attend {
namespace detail {

// The work memory of a shape. `Attention` is the plan of a block's call. What a LayerCall needs of it is apart.
template <class Shape, int tokens, class Attention, int keys_of_arrays>
struct LayerPlaces {
  static constexpr LayerMemory memory{Checked<Shape>(), tokens, larger(keys_of_arrays, 0), Attention::floats};
  static constexpr bool one_token = tokens == 1;
};

// The blocks of attention itself: over arrays of so many keys, or over a cache, where a single token takes decode's blocks.
//   plain  whether its calls have no ScoreOptions, and no other cache than a KvCache of floats
template <bool plain, class Shape, int tokens, int keys>
using BlockPlan = typename Choice<
    !plain, OptionPlan<Shape, tokens, keys>,
    typename Choice<tokens == 1 && keys == over_cache, DecodePlan<Shape>, WorkPlan<Shape, tokens, keys>>::Type>::Type;

template <bool plain, class Shape, int tokens, int keys_of_arrays, int threads = 1>
struct LayerPlan {
  static_assert(threads >= 1 && threads <= 65535, "attend: a LayerWorkspace is for 1 to 65535 threads");
  static constexpr bool has_keys = !plain || keys_of_arrays != over_cache || tokens == 1 || MaxTokens<Shape>::named;
  static_assert(
      has_keys,
      "attend: without a cache a layer takes an attend::LayerWorkspace<Shape, tokens, tokens>; one for a KvCache needs "
      "`static constexpr int max_tokens = ...;` in the shape");
  using Block = BlockPlan<plain, Shape, smaller(tokens, config::layer_tokens), has_keys ? keys_of_arrays : tokens>;
  using Places = LayerPlaces<Shape, tokens, Block, keys_of_arrays>;
  static constexpr int block = Places::memory.block;
  static constexpr size_t first = size_t(Places::memory.first), second = size_t(Places::memory.second),
                          keys = size_t(Places::memory.keys), values = size_t(Places::memory.values),
                          floats = size_t(Places::memory.floats_of(threads));
};

// The threads of a call, and a thread's part of the calls in it. Whole, or a type that the call refuses, is one thread.
template <class Other>
constexpr OneThread team_of(const Other&) {
  return {};
}
inline LayerTeam team_of(const TeamPart& part) { return {part.index, part.count, part.barrier, part.context}; }
constexpr Whole part_of(const OneThread&) { return {}; }
inline Part part_of(const LayerTeam& team) { return {team.part, team.parts}; }

// Whether the threads can meet, and the work memory has what each needs of its own.
template <class Places, class Work, class Other>
bool is_team(const Other&) {
  return true;
}
template <class Places, class Work>
bool is_team(const TeamPart& part) {
  return is_part(part) && (part.count == 1 || part.barrier != nullptr) &&
         Places::memory.floats_of(part.count) <= work_floats(null_of<Work>());
}

// Weights with their bias, or null.
template <class WeightArray>
struct Matrix {
  using Weights = WeightsOf<WeightArray>;
  static_assert(Weights::outputs > 0,
                "attend: a layer takes attend::Weights or attend::PackedWeights, or attend::biased() of them");
  constexpr Matrix(const WeightArray& weights_, const float* bias_ = nullptr) : weights(weights_), bias(bias_) {}

  // one_token: no call has more.
  template <bool one_token, class Team>
  void project(const float* from, int tokens, float* to, float* work, const Team& team) const {
    run_linear_part_of<Weights, one_token ? 1 : 2>(linear_of(weights, bias, from, tokens, to, work), part_of(team));
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

template <class GateMatrix>
struct GateStep;
template <class Step>
struct GateOf {
  static constexpr int gates = 0, outputs = 0, inputs = 0;
};
template <class GateMatrix>
struct GateOf<GateStep<GateMatrix>> {
  static constexpr int gates = 1, outputs = GateMatrix::Weights::outputs, inputs = GateMatrix::Weights::inputs;
};

// Whether a step depends on where tokens are. One that does not says so: static constexpr bool uses_positions = false.
template <class Step>
constexpr auto step_uses_positions(const Step*) -> decltype(bool(Step::uses_positions)) {
  return Step::uses_positions;
}
constexpr bool step_uses_positions(const void*) { return true; }

// A layer; its steps change queries and keys between projection and attention.
template <class Shape, class Q, class K, class V, class O, class... Steps>
struct MultiHead : Steps... {
  using Dims = Checked<Shape>;
  static constexpr bool has_steps = sizeof...(Steps) > 0;
  static constexpr bool uses_positions = (false || ... || step_uses_positions(null_of<Steps>()));
  static constexpr int gates = (0 + ... + GateOf<Steps>::gates);
  static_assert(gates <= 1, "attend: a layer has one gate, if any");
  static_assert(gates == 0 || ((0 + ... + GateOf<Steps>::outputs) == Dims::query_heads * Dims::value_dim &&
                               (0 + ... + GateOf<Steps>::inputs) == Q::Weights::inputs),
                "attend: the gate's weights have query_heads * value_dim outputs and the inputs of the query weights");
  static_assert(gates == 0 || Dims::value_dim <= Dims::head_dim,
                "attend: a layer with a gate has a value_dim of at most head_dim");
  static constexpr int width = Q::Weights::inputs, memory_width = K::Weights::inputs, output_width = O::Weights::outputs;
  static_assert(!is_integer<Shape>, "attend: layers compute in float32: give them a shape without attend::integer");
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
  // The steps, for tokens begin … end - 1 of tokens that lie side by side; position: of token 0.
  void prepare_queries([[maybe_unused]] float* tokens, [[maybe_unused]] int position, [[maybe_unused]] int begin,
                       [[maybe_unused]] int end) const {
    if constexpr (has_steps) {
      auto* const rows = reinterpret_cast<Query<Shape>*>(tokens);
      for (int i = begin; i < end; ++i) (static_cast<const Steps&>(*this).prepare_query(rows[i], position + i), ...);
    }
  }
  void prepare_keys([[maybe_unused]] float* tokens, [[maybe_unused]] int position, [[maybe_unused]] int begin,
                    [[maybe_unused]] int end) const {
    if constexpr (has_steps) {
      auto* const rows = reinterpret_cast<Key<Shape>*>(tokens);
      for (int i = begin; i < end; ++i) (static_cast<const Steps&>(*this).prepare_key(rows[i], position + i), ...);
    }
  }

  // How many numbers attention gives for each token; and whether a gate multiplies them.
  static constexpr int context_width = Dims::query_heads * Dims::value_dim;
  static constexpr bool may_gate = gates > 0;
  static constexpr bool is_gated() { return may_gate; }

  Q query;
  K key;
  V value;
  O output;
};

template <class Type>
struct LayerOf {
  using ShapeType = void;
};
template <class Shape, class... Types>
struct LayerOf<MultiHead<Shape, Types...>> {
  using ShapeType = Shape;
};

template <class Type>
constexpr bool is_layer() {
  return !Same<typename LayerOf<Type>::ShapeType, void>::value;
}

template <class... Types>
bool is_possible(const LayerCall<Types...>&) {
  return true;
}

template <class Runner, class... Types, class... CoreOptions>
Status perform(const LayerCall<Types...>& call, core::Problem& block, CoreOptions&... options) {
  return run_blocks<Runner>(block, call, options...) ? Status::ok : Status::out_of_range;
}

// The keys and values of a layer: a cache that the call's tokens are appended to or not, or arrays in work memory.
template <class Cache, int block>
struct AppendedCache {
  static_assert(
      !values_in_keys<typename CacheTraits<Cache>::RowsType>,
      "attend: a layer makes values of their own, for which a cache of attend::in_keys has no memory: give the values "
      "of its cache a format");
  static constexpr bool causal = true;  // where the options do not set it
  using Shape = typename CacheTraits<Cache>::ShapeType;
  template <class Call>
  bool fill(const Call& call, int tokens) const {
    return call.store(call.x, tokens);
  }
  static float* keys_at(float* work, int /*first*/) { return work; }
  static float* values_at(float* work, int /*first*/) { return work; }
  void store(const float* keys, const float* values, int count) const {  // there is room, as was found before
    const Status status = cache.append(*reinterpret_cast<const Key<Shape, block>*>(keys),
                                       *reinterpret_cast<const Value<Shape, block>*>(values), count);
    if (status == Status::ok) CacheAccess::count_all(cache);
  }
  bool holds(int tokens) const { return CacheTraits<Cache>::needs_no_options || cache.length() == tokens; }
  // In a ring, tokens of the blocks before have overwritten others, and stay.
  void take_back([[maybe_unused]] int tokens) const {
    if constexpr (!CacheTraits<Cache>::is_ring) (void)cache.truncate(tokens);
  }
  Cache& cache;
};
struct FullCache {
  static constexpr bool causal = false;
  template <class Call>
  bool fill(const Call&, int) const {
    return true;
  }
};

constexpr bool is_team_part(const void*) { return false; }
constexpr bool is_team_part(const TeamPart*) { return true; }

// The requirements of layers on their arrays, and on what follows the work memory.
template <class Layer, class X, class Y, class... More>
constexpr bool are_layer_arguments() {
  using From = VectorsOf<X>;
  using To = VectorsOf<Y>;
  static_assert(From::tokens > 0 && To::tokens > 0, "attend: the call of a layer takes attend::Vectors as x and y");
  static_assert(!Same<Y, const Y>::value, "attend: the call of a layer writes y, which must not be const");
  static_assert(From::tokens == To::tokens, "attend: x and y of a layer have the same number of tokens");
  static_assert(From::size == Layer::width,
                "attend: x has as many numbers for each token as the layer's query weights have inputs");
  static_assert(To::size == Layer::output_width,
                "attend: y has as many numbers for each token as the layer's output weights have outputs");
  using Rest = CallArguments<typename LayerOf<Layer>::ShapeType, More...>;
  static_assert(
      !Rest::work && Rest::has(Kind::part) == (is_team_part(null_of<More>()) || ...),
      "attend: after its work memory the call of a layer takes attend::Options or attend::ScoreOptions<Shape>, then an "
      "attend::TeamPart, which has the barrier of its threads; both may be left out");
  return true;
}

// The work memory of a call over a cache.
template <class Shape, int tokens, class Cache, class Work, class AnyOptions>
struct CacheLayerPlan : LayerPlan<is_plain<CacheTraits<Cache>, AnyOptions>, Shape, tokens,
                                  CacheTraits<Cache>::is_ring ? CacheTraits<Cache>::keys : over_cache> {
  static constexpr bool plain = is_plain<CacheTraits<Cache>, AnyOptions>, enough = is_enough<Work, CacheLayerPlan>();
  static_assert(enough || plain,
                "attend: a layer with ScoreOptions, or over another cache than a KvCache of floats, needs an "
                "attend::LayerWorkspace<Shape, tokens, attend::over_cache, attend::with_options>; over a RingCache "
                "attend::over_ring<Sizes> third");
  static_assert(plain || tokens <= CacheTraits<Cache>::most_queries,
                "attend: a RingCache serves at most tokens_at_once query tokens at once");
  static_assert(enough || !plain, "attend: a layer needs an attend::LayerWorkspace<Shape, tokens>");
};

// Attention of a layer's tokens to `held` keys of arrays or of a cache; the call itself may append some of them.
template <class Memory, int tokens, class Layer, class Kept, class Rows, class Work, class AnyOptions, class AnyPart>
Status run_layer(const Layer& layer, const Kept& kept, const Rows& rows, int held, Work& work, const LayerTokens& given,
                 const AnyOptions& options, const AnyPart& part) {
  using Places = typename Memory::Places;
  if (!is_team<Places, Work>(part)) return Status::bad_part;
  if constexpr (has_ranges(null_of<AnyOptions>()) && Layer::uses_positions) {
    if (options.documents.count != nullptr) return Status::bad_documents;  // steps take positions in x
  }
  const InUse use(work, team_of(part).part == 0);
  const LayerCall<Layer, Places, Kept, decltype(team_of(part))> call = {{}, layer, kept, given, team_of(part)};
  float* const at = given.work;
  const CallArrays arrays(at + Memory::first, at + Memory::second, at, tokens, Kept::causal);
  return run_call<typename LayerOf<Layer>::ShapeType, typename Memory::Block>(arrays, rows, held, call, options);
}

}  // namespace detail

// The fourth parameter of a LayerWorkspace for calls with ScoreOptions.
inline constexpr bool with_options = true;

// Work memory of a layer, for calls of so many tokens over a KvCache of floats; or, with keys = tokens, for self_attention
// without a cache, whose keys and values it holds. For calls with ScoreOptions, or over a RingCache or a cache of another
// format, the fourth parameter is with_options. The threads of a call with a TeamPart share one that is for as many. Contents
// do not matter before or after; one per concurrent call. A larger one does as well.
template <class Shape, int tokens, int keys = over_cache, bool options = false, int threads = 1>
struct LayerWorkspace : detail::WorkFloats<detail::LayerPlan<!options, Shape, tokens, keys, threads>::floats> {};

}  // namespace attend
