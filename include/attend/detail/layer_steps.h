// Steps of a multi-head layer between projection and attention: rotary positions, and normalisation of queries and keys.
//
//   static attend::Rotary<32> rotary;
//   const auto layer = attend::multi_head<Voice>(wq, wk, wv, wo, attend::head_norm(query_gain, key_gain),
//                                                attend::rotated<attend::RotaryPairs::halves>(rotary));
//
// Any type with these members is a step: check(position, count), which refuses positions before anything is touched, and
// prepare_query(Query<Shape>&, position) and prepare_key(Key<Shape>&, position), which change those of a token.
#pragma once

#include "../rotary.h"
#include "../row_functions.h"

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

}  // namespace attend
