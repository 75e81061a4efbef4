// Lists of a call with RangedOptions (options.h): the keys that each of its queries sees, and documents that lie side by side.
#pragma once

#include "../core/ranges.h"
#include "../shape.h"
#include "../status.h"

namespace attend {

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

namespace detail {

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

}  // namespace detail
}  // namespace attend
