// What ScoreOptions and RangedOptions (options.h) keep of the arrays that they are given: where these lie, and their extents.
#pragma once

#include "../option_arrays.h"

namespace attend::detail {

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

// Which limits a list has, and of how many queries.
struct RangeLimits {
  bool first;
  bool end;
  int tokens;
};
template <class Type>
constexpr RangeLimits limits_of(const Type*) {
  return {false, false, 0};
}
template <int tokens>
constexpr RangeLimits limits_of(const Ranges<tokens>*) {
  return {true, true, tokens};
}
template <int tokens>
constexpr RangeLimits limits_of(const FirstKeys<tokens>*) {
  return {true, false, tokens};
}
template <int tokens>
constexpr RangeLimits limits_of(const EndKeys<tokens>*) {
  return {false, true, tokens};
}
template <class Type>
constexpr bool is_list_of_documents(const Type*) {
  return false;
}
template <int most>
constexpr bool is_list_of_documents(const Documents<most>*) {
  return true;
}

// The addresses of the lists, which must outlive the call. Braces turn an option off: options.ranges = {}.
struct RangesSetting {
  const int32_t* first = nullptr;
  const int32_t* end = nullptr;
  int tokens = 0;

  constexpr RangesSetting() = default;
  template <class List>
  constexpr RangesSetting(List&& list) {
    constexpr RangeLimits limits = limits_of(null_of<typename Bare<List>::Name>());
    static_assert(is_named<List> && limits.tokens > 0,
                  "attend: options.ranges takes attend::Ranges<tokens>, FirstKeys<tokens> or EndKeys<tokens> that outlive the "
                  "call, not a temporary");
    if constexpr (limits.first) first = list.first;
    if constexpr (limits.end) end = list.end;
    tokens = limits.tokens;
  }
};
struct DocumentsSetting {
  const int32_t* boundaries = nullptr;
  const int* count = nullptr;  // where it is, because documents may be added later

  constexpr DocumentsSetting() = default;
  template <class List>
  constexpr DocumentsSetting(List&& list) {
    constexpr bool fits = is_list_of_documents(null_of<typename Bare<List>::Name>());
    static_assert(is_named<List> && fits,
                  "attend: options.documents takes attend::Documents<most> that outlive the call, not a temporary");
    if constexpr (fits) {
      boundaries = list.boundaries_;
      count = &list.count_;
    }
  }
};

}  // namespace attend::detail
