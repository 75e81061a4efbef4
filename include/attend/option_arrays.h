// Arrays that a call with ScoreOptions (options.h) reads or fills beside its queries, keys and values. The type of a
// mask or bias shows what shares it: an extent of 1 means the same for all queries, or for all heads.
//
//   attend::Mask<1, 1, keys> padding;                  // of every query of every head
//   attend::BitMask<queries, 1, keys> tree;            // of each query, shared by the heads
//   attend::Bias<queries, Shape::query_heads, keys> bias;
#pragma once

#include "core/options.h"
#include "core/ranges.h"
#include "shape.h"
#include "status.h"

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

// ---- Lists of a call with RangedOptions: the keys that each of its queries sees, and documents that lie side by side.

namespace detail {
struct DocumentsSetting;
}

// Query i of the call sees keys first[i] … end[i] - 1, of those that its other options let through; sink tokens too. Requires
// 0 <= first[i] <= end[i]; the end may pass the keys, and a query whose two are the same sees none.
template <int tokens>
struct Ranges {
  static_assert(tokens >= 1, "attend: ranges are of at least 1 query token");
  int32_t first[size_t(tokens)];
  int32_t end[size_t(tokens)];
};

// The same where one limit is enough: all keys from first[i] on, or all before end[i].
template <int tokens>
struct FirstKeys {
  static_assert(tokens >= 1, "attend: ranges are of at least 1 query token");
  int32_t first[size_t(tokens)];
};
template <int tokens>
struct EndKeys {
  static_assert(tokens >= 1, "attend: ranges are of at least 1 query token");
  int32_t end[size_t(tokens)];
};

// The lengths of documents whose tokens lie one behind another in the arrays of one call, at most so many documents.
template <int most_documents>
class Documents {
  static_assert(most_documents >= 1, "attend: there is room for at least 1 document");

 public:
  constexpr Documents() : boundaries_{}, count_(0) {}

  // Adds a document of so many tokens behind the others. Returns bad_count and changes nothing when that is negative, when
  // there is no room for one more, or when all would have more than 2^31 - 1 tokens.
  constexpr Status add(int tokens) {
    if (count_ == most_documents || tokens < 0 || tokens > 0x7fffffff - boundaries_[count_]) return Status::bad_count;
    boundaries_[count_ + 1] = boundaries_[count_] + tokens;
    ++count_;
    return Status::ok;
  }
  constexpr void clear() { count_ = 0; }  // forgets all documents

  constexpr int count() const { return count_; }                                   // documents
  constexpr int tokens() const { return boundaries_[count_]; }                     // of all documents
  constexpr int first_token(int document) const { return boundaries_[document]; }  // of document 0 … count()

 private:
  friend detail::DocumentsSetting;
  int32_t boundaries_[size_t(most_documents) + 1];
  int count_;
};

}  // namespace attend
