// The keys that queries see by a mask of bytes and a bias.
#pragma once

#include <attend/attend_c.h>

#include <cstdint>

namespace attend_adapter {

// The first key that a query sees in any of its heads; none: as many as there are columns.
struct FirstKey {
  std::ptrdiff_t key;
  float hides;  // a bias that is not above it hides a key from this query
  bool operator==(const FirstKey& other) const { return key == other.key && hides == other.hides; }
};

// Of a problem whose strides and columns of mask and bias are set; either may be missing. A bias hides a key from -10,000
// downwards, as the numbers do that exporters write in place of minus infinity (-1e4, -1e9, the lowest float): its weight is 0
// beside that of any other key. Where these are all that a head of a query has, they hide none, down to -2.36e38, from where on
// the library's own weights are 0.
class VisibleKeys {
 public:
  explicit VisibleKeys(const attend_problem& problem)
      : problem_(problem), mask_(problem.mask.data != nullptr), bias_(problem.bias.data != nullptr) {
    const bool exact = problem.bias_stage == ATTEND_BIAS_BEFORE_CAP;
    masks_ = exact ? -__builtin_inff() : -2.36e38f;
    // Scores that are shown with their biases have those of these keys too.
    const bool shown = problem.scores.data != nullptr && problem.scores.stage == ATTEND_SCORES_BIASED;
    hides_ = exact || shown ? masks_ : -1e4f;
  }

  // Whether all batch rows, queries or heads have the same mask and bias.
  bool shared_by_rows() const { return stride(problem_.mask.batch_stride, problem_.bias.batch_stride); }
  bool shared_by_queries() const { return stride(problem_.mask.query_stride, problem_.bias.query_stride); }
  bool shared_by_heads() const { return stride(problem_.mask.head_stride, problem_.bias.head_stride); }

  std::ptrdiff_t keys(std::ptrdiff_t row) const {
    return problem_.key_lengths == nullptr ? problem_.keys : problem_.key_lengths[row];
  }

  FirstKey first(std::ptrdiff_t row, std::ptrdiff_t query) const {
    const std::ptrdiff_t keys = columns(row);
    FirstKey first = {problem_.keys, hides_};
    for (std::ptrdiff_t head = 0; head < heads(); ++head) {
      std::ptrdiff_t own = first_above(hides_, row, head, query, keys);
      if (own == keys && bias_ && hides_ > masks_) {
        own = first_above(masks_, row, head, query, keys);
        if (own < keys) first.hides = masks_;
      }
      if (own < keys && own < first.key) first.key = own;
    }
    return first;
  }

  // The end of the keys that a query sees, if it lies behind `least`; `least` otherwise.
  std::ptrdiff_t end(std::ptrdiff_t row, std::ptrdiff_t query, const FirstKey& first, std::ptrdiff_t least) const {
    for (std::ptrdiff_t head = 0; head < heads(); ++head) {
      std::ptrdiff_t end = columns(row);
      while (end > least && !sees(first.hides, row, head, query, end - 1)) --end;
      least = end > least ? end : least;
    }
    return least;
  }

 private:
  bool stride(std::ptrdiff_t of_mask, std::ptrdiff_t of_bias) const { return !(mask_ && of_mask) && !(bias_ && of_bias); }
  std::ptrdiff_t heads() const { return shared_by_heads() ? 1 : problem_.query_heads; }
  std::ptrdiff_t columns(std::ptrdiff_t row) const {
    std::ptrdiff_t least = keys(row);
    if (mask_ && problem_.mask.keys < least) least = problem_.mask.keys;
    if (bias_ && problem_.bias.keys < least) least = problem_.bias.keys;
    return least;
  }

  template <class Matrix>
  static std::ptrdiff_t place(const Matrix& matrix, std::ptrdiff_t row, std::ptrdiff_t head, std::ptrdiff_t query) {
    return row * matrix.batch_stride + head * matrix.head_stride + query * matrix.query_stride;
  }
  bool sees(float hides, std::ptrdiff_t row, std::ptrdiff_t head, std::ptrdiff_t query, std::ptrdiff_t key) const {
    const auto* const mask = static_cast<const std::uint8_t*>(problem_.mask.data);
    return (!mask_ || mask[place(problem_.mask, row, head, query) + key] != 0) &&
           (!bias_ || !(problem_.bias.data[place(problem_.bias, row, head, query) + key] <= hides));
  }
  std::ptrdiff_t first_above(float hides, std::ptrdiff_t row, std::ptrdiff_t head, std::ptrdiff_t query,
                             std::ptrdiff_t keys) const {
    std::ptrdiff_t key = 0;
    while (key < keys && !sees(hides, row, head, query, key)) ++key;
    return key;
  }

  const attend_problem& problem_;
  bool mask_, bias_;
  float masks_, hides_;
};

}  // namespace attend_adapter
