// Shapes of linear attention, and their arrays.
#pragma once

#include "../core/rules.h"
#include "../options.h"
#include "core_linear_integer.h"

namespace attend {
namespace detail {

// An enumerator that a shape names, and whether it does; otherwise the first one.
template <class Enum, class Number>
constexpr Enum named_enumerator(Number number) {
  static_assert(Same<Enum, Number>::value, "attend: the rule of a shape is an attend::LinearRule, its decay an attend::Decay");
  return Enum(number);
}
#define ATTEND_ENUMERATOR(Trait, Enum, constant)                           \
  template <class Shape, class = void>                                     \
  struct Trait {                                                           \
    static constexpr bool named = false;                                   \
    static constexpr Enum value{};                                         \
  };                                                                       \
  template <class Shape>                                                   \
  struct Trait<Shape, decltype(void(Shape::constant))> {                   \
    static constexpr bool named = true;                                    \
    static constexpr Enum value = named_enumerator<Enum>(Shape::constant); \
  };
ATTEND_ENUMERATOR(RuleOf, LinearRule, rule)
ATTEND_ENUMERATOR(DecayOf, Decay, decay)
#undef ATTEND_ENUMERATOR

// The constants of a shape of linear attention, checked once where it is first used.
template <class Shape>
struct LinearChecked : Checked<Shape> {
  static_assert(RuleOf<Shape>::named, "attend: add `static constexpr attend::LinearRule rule = ...;` to the shape");
  static_assert(!is_integer<Shape> || Checked<Shape>::head_dim <= core::most_linear_dims,
                "attend: head_dim of linear attention in integers is at most 256");
  static constexpr LinearRule rule = RuleOf<Shape>::value;
  static constexpr bool gated = core::has_gate(rule);
  static_assert(gated || !DecayOf<Shape>::named || !RuleOf<Shape>::named,
                "attend: this rule has no gate: leave decay out of the shape, or make the rule gated or gated_delta");
  static constexpr Decay decay = gated ? DecayOf<Shape>::value : Decay::per_head;
  static_assert(ValueHeads<Shape>::value >= 1 || ValueHeads<Shape>::value == KvHeads<Shape>::value,
                "attend: value_heads must be at least 1");
  static_assert(ValueHeads<Shape>::value < 1 || ValueHeads<Shape>::value % Checked<Shape>::kv_heads == 0,
                "attend: kv_heads must divide value_heads");
  static constexpr int value_heads = Checked<Shape>::value_heads, query_heads = Checked<Shape>::query_heads;
  static_assert(query_heads % value_heads == 0 || value_heads % query_heads == 0,
                "attend: one of query_heads and value_heads must divide the other");
  static_assert(
      core::is_linear_head(query_heads, value_heads, Checked<Shape>::head_dim, Checked<Shape>::value_dim),
      "attend: head_dim * value_dim of linear attention, and head_dim * (query_heads / value_heads + 2), must be less "
      "than 2^31");
};

// What calls in floats and in integers are made of.
template <class Shape>
struct LinearTypes {
  using Call = typename Choice<is_integer<Shape>, core::IntegerLinearAttention, core::LinearAttention>::Type;
  using Number = typename Choice<is_integer<Shape>, int32_t, float>::Type;  // of a state
  using Gate = typename Choice<is_integer<Shape>, uint16_t, float>::Type;
};

// The gates of tokens, as rules have them.
template <class Shape, int tokens, bool gated = LinearChecked<Shape>::gated, Decay = LinearChecked<Shape>::decay,
          bool integer = is_integer<Shape>>
struct LogDecay {
  // As core::LinearAttention takes them; no data where the rule has none.
  static constexpr core::Tensor<const typename LinearTypes<Shape>::Gate> gates() { return {}; }
};
template <class Shape, int tokens>
struct LogDecay<Shape, tokens, true, Decay::per_head, false> {
  float log_decay[size_t(at_least_one(tokens))][size_t(LinearChecked<Shape>::value_heads)];
  core::Tensor<const float> gates() const { return {log_decay[0], LinearChecked<Shape>::value_heads, 1}; }
};
template <class Shape, int tokens>
struct LogDecay<Shape, tokens, true, Decay::per_key, false> {
  using Dims = LinearChecked<Shape>;
  float log_decay[size_t(at_least_one(tokens))][size_t(Dims::value_heads)][size_t(Dims::head_dim)];
  core::Tensor<const float> gates() const {
    return {log_decay[0][0], ptrdiff_t(Dims::value_heads) * Dims::head_dim, Dims::head_dim};
  }
};
template <class Shape, int tokens>
struct LogDecay<Shape, tokens, true, Decay::per_head, true> {
  uint16_t decay[size_t(at_least_one(tokens))][size_t(LinearChecked<Shape>::value_heads)];
  core::Tensor<const uint16_t> gates() const { return {decay[0], LinearChecked<Shape>::value_heads, 1}; }
};
template <class Shape, int tokens>
struct LogDecay<Shape, tokens, true, Decay::per_key, true> {
  using Dims = LinearChecked<Shape>;
  uint16_t decay[size_t(at_least_one(tokens))][size_t(Dims::value_heads)][size_t(Dims::head_dim)];
  core::Tensor<const uint16_t> gates() const {
    return {decay[0][0], ptrdiff_t(Dims::value_heads) * Dims::head_dim, Dims::head_dim};
  }
};
template <class Shape, int tokens, bool has = core::has_beta(LinearChecked<Shape>::rule)>
struct Beta {
  // As core::LinearAttention takes them; no data where the rule has none.
  static constexpr core::Tensor<const typename LinearTypes<Shape>::Gate> betas() { return {}; }
};
template <class Shape, int tokens>
struct Beta<Shape, tokens, true> {
  using Number = typename LinearTypes<Shape>::Gate;
  Number beta[size_t(at_least_one(tokens))][size_t(LinearChecked<Shape>::value_heads)];
  core::Tensor<const Number> betas() const { return {beta[0], LinearChecked<Shape>::value_heads, 1}; }
};

}  // namespace detail

// What a rule takes of each token beside key and value, with the value heads as heads; of the rule linear it is empty:
//
//   log_decay[token][head]  of gated and gated_delta: g <= 0 of the gate e^g, which is 0 below 2^-24; [token][head][d] with
//                           Decay::per_key
//   beta[token][head]       of delta and gated_delta: how far the value of a key is replaced, 0 … 1; 0 … 2 in some models
//
// In integers decay[…] is there in place of log_decay, the gate itself, and 1 is 32768 in both arrays.
template <class Shape, int tokens = 1>
struct Gates : detail::LogDecay<Shape, tokens>, detail::Beta<Shape, tokens> {
  static_assert(tokens >= 1, "attend: an array needs at least 1 token");
};

// Options of a call, which may be left out. Outputs of tokens that do not exist stay as they are.
struct LinearOptions {
  Setting<int> count{};    // tokens at or after it do not exist; all in the arrays
  int first = 0;           // tokens before it do not exist: padding in front
  Setting<float> scale{};  // of queries, -2^127 … 2^127; 1 / sqrt(head_dim)
  // Documents<any number> of all tokens up to count. Each begins with an empty state, but the first with the call's.
  detail::DocumentsSetting documents{};
};

}  // namespace attend
