// Arrays that a call with ScoreOptions (options.h) reads or fills beside its queries, keys and values. The type of a
// mask or bias shows what shares it: an extent of 1 means the same for all queries, or for all heads.
//
//   attend::Mask<1, 1, keys> padding;                  // of every query of every head
//   attend::BitMask<queries, 1, keys> tree;            // of each query, shared by the heads
//   attend::Bias<queries, Shape::query_heads, keys> bias;
#pragma once

#include "../core/options.h"
#include "../shape.h"

namespace attend {

// mask[query][head][key]: 0 (false) masks the key.
template <int queries, int heads, int keys>
struct Mask {
  static_assert(queries >= 1 && heads >= 1 && keys >= 1, "attend: extents of a mask must be at least 1");
  uint8_t data[size_t(queries)][size_t(heads)][size_t(keys)];

  constexpr auto& operator[](int query) { return data[query]; }
  constexpr const auto& operator[](int query) const { return data[query]; }
};

// The same in bits: key j has bit j % 8, from the lowest, of byte j / 8 of its row.
template <int queries, int heads, int keys>
struct BitMask {
  static_assert(queries >= 1 && heads >= 1 && keys >= 1, "attend: extents of a mask must be at least 1");
  uint8_t data[size_t(queries)][size_t(heads)][size_t(keys + 7) / 8];

  // `at` tells whether the key is visible, `set` makes it so or not.
  constexpr bool at(int query, int head, int key) const { return (data[query][head][key / 8] >> key % 8 & 1) != 0; }
  constexpr void set(int query, int head, int key, bool visible) {
    uint8_t& byte = data[query][head][key / 8];
    const unsigned bit = 1u << key % 8;
    byte = uint8_t(visible ? byte | bit : byte & ~bit);
  }
};

// bias[query][head][key] is added to the score, in natural-log units. -infinity masks the key, whatever the key and value hold.
// A number at or below -2.36e38, such as the lowest float, which many masks hold, makes the score -infinity: the key has weight
// 0, and a row of such keys only gives zeros; but a NaN in its key or value is seen. A number at or above 2.36e38 makes the
// score infinity, and the row's output NaN.
template <int queries, int heads, int keys>
struct Bias {
  static_assert(queries >= 1 && heads >= 1 && keys >= 1, "attend: extents of a bias must be at least 1");
  float data[size_t(queries)][size_t(heads)][size_t(keys)];

  constexpr auto& operator[](int query) { return data[query]; }
  constexpr const auto& operator[](int query) const { return data[query]; }
};

// at(head, distance) is added to the score of a key `distance` after the query's position (negative: before it), in natural-log
// units, as a Bias is. Keys farther away than left or right get the number at that end.
template <int heads, int left, int right>
struct RelativeBias {
  static_assert(heads >= 1, "attend: heads of a relative bias must be at least 1");
  static_assert(left >= 0 && right >= 0, "attend: distances of a relative bias must be at least 0");
  float data[size_t(heads)][size_t(left + 1 + right)];

  constexpr float& at(int head, int distance) { return data[head][left + distance]; }
  constexpr const float& at(int head, int distance) const { return data[head][left + distance]; }
};

// scales[head][key] of single keys or values of an integer shape, heads being the key/value heads: in 2^-15 of the scale that
// the Quantisation has, 0 … 32768.
template <class Shape, int keys>
struct TokenScales {
  static_assert(detail::is_integer<Shape>, "attend: TokenScales are of an integer shape; a cache of attend::int8 has its own");
  static_assert(keys >= 1, "attend: TokenScales need at least 1 key");
  uint16_t data[size_t(detail::Checked<Shape>::kv_heads)][size_t(keys)];

  constexpr auto& operator[](int head) { return data[head]; }
  constexpr const auto& operator[](int head) const { return data[head]; }
};

// lse[token][head], filled by a call: ln of the sum of exp(score) over the keys that the query sees, the sink included.
// -infinity where it sees none. With LseBase::two, log2 of the same sum.
template <class Shape, int tokens = 1>
struct Lse {
  static_assert(tokens >= 1, "attend: an array needs at least 1 token");
  float data[size_t(tokens)][size_t(detail::Checked<Shape>::query_heads)];

  constexpr auto& operator[](int token) { return data[token]; }
  constexpr const auto& operator[](int token) const { return data[token]; }
};

// scores[token][head][key], filled by a call with the scores of a stage, in natural-log units.
template <class Shape, int tokens, int keys>
struct Scores : detail::Rows<tokens, detail::Checked<Shape>::query_heads, keys, float> {
  static_assert(keys >= 1, "attend: scores need at least 1 key");
};

// raw: scale * dot(query, key) of all keys, masked or not. capped: the same after the soft cap. biased: after biases, -infinity
// where a key is masked. weights: after the softmax, 0 where a key is masked.
using ScoreStage = core::Scores;

// Where a bias joins a score: after the soft cap, or before it, which caps their sum. Before it only -infinity masks a key: any
// other number leaves a score within the cap.
enum class BiasStage : uint8_t { after_cap, before_cap };

// The base of a log-sum-exp's logarithm: ln of the sum of exp(score), or log2 of the same sum.
enum class LseBase : uint8_t { e, two };

namespace detail {

// The kind of an array type above, and its extents.
enum class ArrayKind { other, mask, bits, bias, relative };

template <ArrayKind array_kind, int query_count, int head_count, int key_count, int row_numbers = key_count>
struct Extents {
  static constexpr ArrayKind kind = array_kind;
  static constexpr int queries = query_count, heads = head_count, keys = key_count;
  static constexpr int row = row_numbers;  // from one row of keys to the next
  // Where all queries, or all heads, share one row, the stride is 0.
  static constexpr ptrdiff_t head_stride = heads == 1 ? 0 : row;
  static constexpr ptrdiff_t token_stride = queries == 1 ? 0 : ptrdiff_t(row) * heads;
};

template <class Type>
struct ExtentsOf : Extents<ArrayKind::other, 1, 1, 1> {};
template <class Type>
struct ExtentsOf<const Type> : ExtentsOf<Type> {};
template <class Type>
struct ExtentsOf<Type&> : ExtentsOf<Type> {};
template <int queries, int heads, int keys>
struct ExtentsOf<Mask<queries, heads, keys>> : Extents<ArrayKind::mask, queries, heads, keys> {};
template <int queries, int heads, int keys>
struct ExtentsOf<BitMask<queries, heads, keys>> : Extents<ArrayKind::bits, queries, heads, keys, (keys + 7) / 8 * 8> {};
template <int queries, int heads, int keys>
struct ExtentsOf<Bias<queries, heads, keys>> : Extents<ArrayKind::bias, queries, heads, keys> {};
template <int heads, int left, int right>
struct ExtentsOf<RelativeBias<heads, left, right>> : Extents<ArrayKind::relative, left, heads, right, left + 1 + right> {};
template <class Shape, int tokens>
struct ExtentsOf<Lse<Shape, tokens>> : Extents<ArrayKind::other, tokens, 1, 1> {};
template <class Shape, int keys>
struct ExtentsOf<TokenScales<Shape, keys>> : Extents<ArrayKind::other, 1, 1, keys> {};
template <class Shape, int tokens, int keys>
struct ExtentsOf<Scores<Shape, tokens, keys>> : Extents<ArrayKind::other, tokens, 1, keys> {};

template <class Shape, class Type>
constexpr bool has_heads() {
  return ExtentsOf<Type>::heads == 1 || ExtentsOf<Type>::heads == Checked<Shape>::query_heads;
}

// The address and the extents of an array, as options keep them. The array must live as long as the options are used, so
// temporaries are refused. Braces turn an option off: options.mask = {}.
template <class Shape>
struct MaskSetting {
  core::Mask mask = {};
  int queries = 0;  // 1: the same for all
  bool bits = false;

  constexpr MaskSetting() = default;
  template <class Array>
  constexpr MaskSetting(Array&& array) {
    using Is = ExtentsOf<Array>;
    constexpr bool is_mask = is_named<Array> && (Is::kind == ArrayKind::mask || Is::kind == ArrayKind::bits);
    static_assert(is_mask,
                  "attend: options.mask takes an attend::Mask or an attend::BitMask that outlives the call, not a temporary");
    static_assert(!is_mask || has_heads<Shape, Array>(),
                  "attend: options.mask takes a mask of 1 head, for all of them, or of the shape's query heads");
    if constexpr (is_mask) {
      mask = {array.data, 0, Is::token_stride, Is::head_stride, Is::keys};
      queries = Is::queries;
      bits = Is::kind == ArrayKind::bits;
    }
  }
};

template <class Shape>
struct BiasSetting {
  core::Mask mask = {};
  int queries = 0;  // 1: the same for all

  constexpr BiasSetting() = default;
  template <class Array>
  constexpr BiasSetting(Array&& array) {
    using Is = ExtentsOf<Array>;
    constexpr bool is_bias = is_named<Array> && Is::kind == ArrayKind::bias;
    static_assert(is_bias, "attend: options.bias takes an attend::Bias that outlives the call, not a temporary");
    static_assert(!is_bias || has_heads<Shape, Array>(),
                  "attend: options.bias takes a bias of 1 head, for all of them, or of the shape's query heads");
    if constexpr (is_bias) {
      mask = {array.data, 0, Is::token_stride, Is::head_stride, Is::keys};
      queries = Is::queries;
    }
  }
};

template <class Shape>
struct RelativeSetting {
  const float* data = nullptr;
  ptrdiff_t head_stride = 0;
  int left = 0;
  int right = 0;

  constexpr RelativeSetting() = default;
  template <class Array>
  constexpr RelativeSetting(Array&& array) {
    using Is = ExtentsOf<Array>;
    constexpr bool is_relative = is_named<Array> && Is::kind == ArrayKind::relative;
    static_assert(is_relative,
                  "attend: options.relative_bias takes an attend::RelativeBias that outlives the call, not a temporary");
    static_assert(!is_relative || has_heads<Shape, Array>(),
                  "attend: options.relative_bias takes a bias of 1 head, for all of them, or of the shape's query heads");
    if constexpr (is_relative) {
      data = array.data[0];
      head_stride = Is::head_stride;
      left = Is::queries;
      right = Is::keys;
    }
  }
};

template <class Shape>
struct HeadSetting {
  const float* data = nullptr;

  constexpr HeadSetting() = default;
  template <class Array>
  constexpr HeadSetting(Array&& array) {
    constexpr size_t heads = size_t(Checked<Shape>::query_heads);
    constexpr bool is_row = is_named<Array> && Same<const typename Bare<Array>::Name, const float[heads]>::value;
    static_assert(
        is_row,
        "attend: options.alibi_slopes and options.sink_logits take a float[] with as many numbers as the shape has query "
        "heads, which outlives the call: no temporary, and no pointer, whose length is unknown");
    if constexpr (is_row) data = array;
  }
};

template <class Shape>
struct TokenSetting {
  const uint16_t* data = nullptr;
  int keys = 0;

  constexpr TokenSetting() = default;
  template <class Array>
  constexpr TokenSetting(Array&& array) {
    using Is = ExtentsOf<Array>;
    constexpr bool are_scales = is_named<Array> && Same<typename Bare<Array>::Name, TokenScales<Shape, Is::keys>>::value;
    static_assert(are_scales,
                  "attend: options.key_scales and options.value_scales take attend::TokenScales of the options' shape that "
                  "outlive the call, no temporary");
    if constexpr (are_scales) {
      data = array.data[0];
      keys = Is::keys;
    }
  }
};

template <class Shape>
struct LseSetting {
  float* data = nullptr;
  int tokens = 0;

  constexpr LseSetting() = default;
  template <class Array>
  constexpr LseSetting(Array&& array) {
    using Is = ExtentsOf<Array>;
    constexpr bool is_lse = Same<Array, Lse<Shape, Is::queries>&>::value;
    static_assert(is_lse,
                  "attend: options.lse takes an attend::Lse of the options' shape that outlives the call, not a temporary");
    if constexpr (is_lse) {
      data = array.data[0];
      tokens = Is::queries;
    }
  }
};

template <class Shape>
struct ScoresSetting {
  float* data = nullptr;
  int tokens = 0;
  int keys = 0;

  constexpr ScoresSetting() = default;
  template <class Array>
  constexpr ScoresSetting(Array&& array) {
    using Is = ExtentsOf<Array>;
    constexpr bool are_scores = Same<Array, Scores<Shape, Is::queries, Is::keys>&>::value;
    static_assert(are_scores,
                  "attend: options.scores takes attend::Scores of the options' shape that outlives the call, not a temporary");
    if constexpr (are_scores) {
      data = array.data[0][0];
      tokens = Is::queries;
      keys = Is::keys;
    }
  }
};

}  // namespace detail
}  // namespace attend
