// Steps of a multi-head layer between projection and attention: rotary positions, normalisation of queries and keys, factors of
// queries by position; and behind attention, a gate.
//
//   static attend::Rotary<32> rotary;
//   const auto layer = attend::multi_head<Voice>(wq, wk, wv, wo, attend::head_norm(query_gain, key_gain),
//                                                attend::rotated<attend::RotaryPairs::halves>(rotary));
//
// Any type with these members is a step: check(position, count), which refuses positions before anything is touched, and
// prepare_query(Query<Shape>&, position) and prepare_key(Key<Shape>&, position), which change one token. One that takes no
// notice of positions has `static constexpr bool uses_positions = false` too, and then serves packed documents.
#pragma once

#include "rotary.h"
#include "row_functions.h"
#include "layer_calls.h"

namespace attend {
namespace detail {

template <RotaryPairs pairs, int first, class Angles>
struct RotaryStep {
  Status check(int position, int count) const { return angles.check(position, count); }
  template <class Token>
  void prepare_query(Token& query, int position) const {
    (void)angles.template rotate<pairs, first>(query, position);
  }
  template <class Token>
  void prepare_key(Token& key, int position) const {
    (void)angles.template rotate<pairs, first>(key, position);
  }
  const Angles& angles;
};

template <int head_dim>
struct HeadNormStep {
  static constexpr bool uses_positions = false;
  Status check(int /*position*/, int /*count*/) const { return core::is_epsilon(epsilon) ? Status::ok : Status::bad_epsilon; }
  template <class Token>
  void prepare_query(Token& query, int /*position*/) const {
    normalise(query, query_weight);
  }
  template <class Token>
  void prepare_key(Token& key, int /*position*/) const {
    normalise(key, key_weight);
  }
  template <class Token>
  void normalise(Token& token, const float* weight) const {
    static_assert(ArrayOf<Token>::last == size_t(head_dim), "attend: the weights of head_norm are float[head_dim]");
    float* const first = first_number(token);
    core::rms_norm({first, head_dim, first, head_dim, weight, nullptr, int(ArrayOf<Token>::before_last), head_dim, epsilon});
  }
  const float* query_weight;
  const float* key_weight;
  float epsilon;
};

struct QueryFactorStep {
  Status check(int position, int /*count*/) const {
    const bool right = position >= 0 && factors.period >= 1 && factors.shift >= 0;
    return right ? Status::ok : Status::bad_position;
  }
  template <class Token>
  void prepare_query(Token& query, int position) const {
    core::scale(factors.at(position), int(ArrayOf<Token>::count), first_number(query));
  }
  template <class Token>
  void prepare_key(Token& /*key*/, int /*position*/) const {}
  core::PositionFactors factors;
};

template <class GateMatrix>
struct GateStep {
  static constexpr bool uses_positions = false;
  static Status check(int /*position*/, int /*count*/) { return Status::ok; }
  template <class Token>
  void prepare_query(Token& /*query*/, int /*position*/) const {}
  template <class Token>
  void prepare_key(Token& /*key*/, int /*position*/) const {}
  GateMatrix gate;
};

}  // namespace detail

// Queries and keys turn by their positions (RoPE).
//   angles  Rotary or RotaryTable, after its init
//   first   the first number of a head that turns
template <RotaryPairs pairs, int first = 0, class Angles>
constexpr auto rotated(Angles&& angles) {
  static_assert(detail::is_named<Angles>,
                "attend: a layer refers to its Rotary or RotaryTable, which must have a name and outlive it");
  return detail::RotaryStep<pairs, first, typename detail::Bare<Angles>::Name>{angles};
}

// Each head of queries and keys is normalised by its root mean square: x / sqrt(mean(x^2) + epsilon) * weight.
//   query_weight, key_weight  float[head_dim]
//   epsilon                   1e-30 … 1e30
template <class QueryWeight, class KeyWeight>
constexpr auto head_norm(QueryWeight&& query_weight, KeyWeight&& key_weight, float epsilon = 1e-5f) {
  using namespace detail;
  using Width = ArrayOf<typename Bare<QueryWeight>::Name>;
  constexpr bool are_rows = is_named<QueryWeight> && is_named<KeyWeight> && is_row<QueryWeight> && is_row<KeyWeight> &&
                            ArrayOf<typename Bare<KeyWeight>::Name>::count == Width::count;
  static_assert(are_rows, "attend: head_norm takes two float[head_dim] with a name: a layer refers to them");
  const float *query = nullptr, *key = nullptr;
  if constexpr (are_rows) query = query_weight, key = key_weight;
  return HeadNormStep<int(Width::count)>{query, key, epsilon};
}

// Queries at position p are multiplied by factors[(p + shift) / period], or by the last factor: so that attention over long
// contexts stays sharp. Llama 4's layers without positions have period 8192 and shift 1, Ministral 3 has the positions that it
// was trained on and shift 0.
//   factors  float[], for example from logarithmic_factors
//   period   at least 1
//   shift    at least 0
template <class Factors>
constexpr auto scaled_queries(Factors&& factors, int period, int shift = 0) {
  using namespace detail;
  using Table = ArrayOf<typename Bare<Factors>::Name>;
  constexpr bool is_table = is_named<Factors> && is_row<Factors>;
  static_assert(is_table, "attend: scaled_queries takes a float[] with a name: a layer refers to it");
  const float* first = nullptr;
  if constexpr (is_table) first = factors;
  return QueryFactorStep{{first, int(Table::count), period, shift}};
}

// factors[k] = 1 + beta * ln(1 + k), the same bits on every target. beta is 0.1 of Llama 4.
template <size_t count>
void logarithmic_factors(float (&factors)[count], float beta) {
  core::logarithmic_factors(beta, int(count), factors);
}

// The outputs of attention are multiplied by the sigmoid of another projection of x, number by number, before they are
// projected (Qwen3-Next: the second half of each head's rows of q_proj).
//   weights  query_heads * value_dim outputs, the inputs of the query weights; biased() ones too. value_dim is at most head_dim
template <class WeightArray>
constexpr auto gated(WeightArray&& weights) {
  using namespace detail;
  static_assert(is_kept<WeightArray>,
                "attend: a layer refers to its weights: they must have a name and outlive it, so not be what pack() returns");
  return GateStep<MatrixOf<WeightArray>>{matrix_of(weights)};
}

}  // namespace attend
