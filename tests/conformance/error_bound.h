// How far outputs and log-sum-exps may be from the exact ones, whatever the input. src/guide/arithmetic.md, "The error bound",
// derives it.
#pragma once

#include <algorithm>
#include <cmath>

namespace attend_test {

constexpr double unit_roundoff = 0x1p-24;

// What the polynomials add, in units of 2^-24: relative errors of 2^f and tanh, and the absolute one of a logarithm without its
// last rounding.
constexpr double exp2_error = 1.14, tanh_error = 4.25, log_error = 1.0;

// Products of errors count as a hundredth of the errors, while these are less than a four-hundredth.
constexpr double second_order = 1.01;

// The most roundings that one number goes through.
// The levels of the tree of segments over so many keys.
inline int levels_over(int keys) {
  int levels = 0;
  while (512ll << levels < keys) ++levels;
  return levels;
}

struct Roundings {
  int score = 0;        // query * key, until it is part of a score
  int numerator = 0;    // weight * value, until it is part of the weighted sum
  int denominator = 0;  // weight, until it is part of the denominator
};

inline Roundings roundings_of(int head_dim, int keys) {
  const auto parts = [](int whole, int part) { return (whole + part - 1) / part; };
  const int in_segment = std::min(keys, 512), levels = levels_over(keys);
  Roundings count;
  // The scale, the scaled query, a chain of at most 16 dimensions, the chains after the first.
  count.score = 2 + std::min(head_dim, 16) + parts(head_dim, 16) - 1;
  // A chain of at most 64 keys, the chains after the first, the levels of the tree of segments.
  count.numerator = std::min(keys, 64) + parts(in_segment, 64) - 1 + levels;
  // One of 16 lanes, the pairs of lanes, the levels of the tree.
  int pairs = 0;
  while (1 << pairs < std::min(keys, 16)) ++pairs;
  count.denominator = parts(in_segment, 16) - 1 + pairs + levels;
  return count;
}

// What a soft cap adds to those of a score: two of its factor, tanh, and two of what multiplies it.
constexpr int soft_cap_roundings = 9;
static_assert(soft_cap_roundings >= 2 + tanh_error + 2, "all of them");

// Of a weight, relative, in units of 2^-24. score_size: the largest sum of |scale * query_d * key_d| of any key.
inline double weight_error(const Roundings& count, double score_size) { return count.score * score_size + exp2_error; }

// Of an output, relative to the largest |value| of its column. A weight's error moves the output by no more than the values lie
// from it, so it counts less the nearer the output is to the largest value; those of the quotient count more.
inline double output_bound(const Roundings& count, double score_size) {
  const double weight = weight_error(count, score_size), quotient = count.denominator + 2.0;
  const double both = quotient <= 2.0 * weight ? weight + quotient * quotient / (4.0 * weight) : quotient;
  return second_order * (count.numerator + both) * unit_roundoff;
}

// Of a score, which is multiplied by ln 2 when it is a result of its own.
inline double score_bound(const Roundings& count, double score_size) {
  return second_order * (count.score + 2.0) * score_size * unit_roundoff;
}

// Of a log-sum-exp, absolute.
inline double lse_bound(const Roundings& count, double score_size, double lse) {
  const double rounded_once = std::fabs(lse);
  return second_order * (weight_error(count, score_size) + count.denominator + log_error + rounded_once) * unit_roundoff;
}

// The same two in the short form of include/guide/exactness.md, which is never less; options: what they add to h.
inline double short_output_bound(int head_dim, int keys, double score_size, int options = 0) {
  const double sums = keys <= 64 ? keys + 9.0 : 108.0 + 2.0 * levels_over(keys);
  return 6.1e-8 * (sums + (roundings_of(head_dim, keys).score + options) * score_size);
}
inline double short_lse_bound(int head_dim, int keys, double score_size, double lse, int options = 0) {
  const double sums = keys <= 64 ? 10.0 : 38.0 + levels_over(keys);
  return 6.1e-8 * (sums + (roundings_of(head_dim, keys).score + options) * score_size + std::fabs(lse));
}

}  // namespace attend_test
