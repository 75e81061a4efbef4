// Attention as the arithmetic defines it, one row and one number at a time, with the C library's own fma, nearbyint, ceil and
// ldexp: what every backend must equal bit for bit. It shares no code with the library. A plain row is one without options.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "../support/core_numbers.h"
#include "attend/core/attention.h"

namespace attend_test {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

inline float defined_exp2(float fraction) {
  float g = 0x1.3fa208p-13f;
  for (const float c : {0x1.5f0b82p-10f, 0x1.3b30a0p-7f, 0x1.c6af76p-5f, 0x1.ebfbd8p-3f, 0x1.62e430p-1f, 1.0f}) {
    g = std::fma(g, fraction, c);
  }
  return g;
}

// The weight of a score in base 2 relative to the whole number max.
inline float defined_weight(float score, float max) {
  const float whole = std::nearbyint(score);
  if (whole - max < -125.0f) return 0.0f;
  const float digits = defined_exp2(score - whole);
  return std::isnan(whole - max) ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(digits, int(whole - max));
}

// What one output row is made of. The oracle takes it too.
struct OptionKey {
  const float* key = nullptr;  // null where the key does not exist; whatever its format, its numbers as floats
  const float* value = nullptr;
  float key_scale = 1.0f, value_scale = 1.0f;
  bool seen = false;
  long long distance = 0;  // its position less the query's
  std::optional<float> bias, relative;
};

struct OptionRow {
  const float* query = nullptr;
  int head_dim = 0, value_dim = 0;
  float scale = 1.0f, soft_cap = 0.0f;
  bool bias_before_cap = false;
  std::optional<float> slope, sink;
  std::vector<OptionKey> keys;  // from position 0 on
};

struct DefinedRow {
  std::vector<float> output, raw, capped, biased, weights;
  double lse = 0.0;  // of the row's own sums, with a logarithm of double precision
};

namespace defined {

constexpr float ln2 = 0x1.62e430p-1f, log2e = 0x1.715476p+0f;

// scale * log2(e), rounded once.
inline float base2(float scale) { return float(double(scale) * 1.4426950408889634073599); }

// (2^y - 1) / (2^y + 1), which is the hyperbolic tangent of y * ln2 / 2.
inline float tanh_of_base2(float y) {
  if (std::isnan(y)) return y;
  y = std::min(std::max(y, -32.0f), 32.0f);
  const float whole = std::nearbyint(y), fraction = y - whole;
  float g = 0x1.3fa208p-13f;
  for (const float c : {0x1.5f0b82p-10f, 0x1.3b30a0p-7f, 0x1.c6af76p-5f, 0x1.ebfbd8p-3f, 0x1.62e430p-1f}) {
    g = std::fma(g, fraction, c);
  }
  const float e = g * fraction, power = std::ldexp(1.0f, int(whole));
  const float less_one = std::fma(power, e, power - 1.0f);
  const float plus_one = less_one + 2.0f;
  std::uint32_t bits;  // of 1 / plus_one within an eighth; three steps of Newton's follow
  std::memcpy(&bits, &plus_one, sizeof bits);
  bits = 0x7ef311c7u - bits;
  float inverse;
  std::memcpy(&inverse, &bits, sizeof inverse);
  for (int step = 0; step < 3; ++step) inverse = std::fma(inverse, std::fma(-plus_one, inverse, 1.0f), inverse);
  return less_one * inverse;
}

// Scores in base 2 of one key, and what the scores output shows of them.
struct Score {
  float raw, capped, biased;
  float base2;
};

inline Score score_of(const OptionRow& row, const OptionKey& key) {
  if (key.key == nullptr) return {minus_infinity, minus_infinity, minus_infinity, minus_infinity};
  const bool capped = row.soft_cap > 0.0f;
  const float c = capped ? base2(row.scale) * (2.0f * (1.0f / row.soft_cap)) : base2(row.scale);
  float y = 0.0f, largest = 0.0f;
  for (int d = 0; key.key_scale != 1.0f && d < row.head_dim; ++d) largest = std::fmax(largest, std::fabs(row.query[d] * c));
  const bool shrunk = key.key_scale != 1.0f && largest >= 0x1p105f;  // the scale may take back an overflow of the sum
  for (int first = 0; first < row.head_dim; first += 16) {
    float chain = 0.0f;
    for (int d = first; d < row.head_dim && d < first + 16; ++d) {
      float q = row.query[d] * c;
      if (shrunk) q = std::fabs(q) < 0x1p-70f ? 0.0f : q * 0x1p-32f;
      chain = std::fma(q, key.key[d], chain);
    }
    y = first == 0 ? chain : y + chain;
  }
  y *= key.key_scale;
  if (shrunk) y *= 0x1p32f;
  const float dot = y;
  if (row.bias_before_cap && key.bias) {  // -inf masks whatever the score was
    y = *key.bias == minus_infinity ? minus_infinity : std::fma(*key.bias, log2e * (2.0f * (1.0f / row.soft_cap)), y);
  }
  float s = capped ? base2(row.soft_cap) * tanh_of_base2(y) : y;
  Score score{};
  score.raw = capped ? dot * (row.soft_cap * 0.5f * ln2) : s * ln2;
  score.capped = s * ln2;
  if (key.bias && !row.bias_before_cap) s = std::fma(*key.bias, log2e, s);
  if (key.relative) s = std::fma(*key.relative, log2e, s);
  if (row.slope) s = std::fma(base2(*row.slope), float(key.distance), s);
  score.base2 = key.seen ? s : minus_infinity;
  score.biased = key.seen ? s * ln2 : minus_infinity;
  return score;
}

}  // namespace defined

// A row of a plain problem whose keys lie in rows: of those that it sees, and of nothing behind them.
inline OptionRow plain_row(const attend::core::Problem& p, int token, int head) {
  const int kv = head / (p.query_heads / p.kv_heads);
  const long long end = p.causal ? std::clamp(1LL + p.offset + token, 0LL, 0LL + p.keys) : p.keys;
  OptionRow row;
  row.query = row_of<float>(p.query, token, head);
  row.head_dim = p.head_dim, row.value_dim = p.value_dim, row.scale = p.scale;
  row.keys.resize(std::size_t(end));
  for (std::ptrdiff_t j = 0; j < end; ++j) {
    OptionKey& key = row.keys[std::size_t(j)];
    key.key = row_of<float>(p.key, j, kv);
    key.value = row_of<float>(p.value, j, kv);
    key.seen = true;
  }
  return row;
}

inline DefinedRow defined_row(const OptionRow& row) {
  const int keys = int(row.keys.size());
  const auto width = std::size_t(row.value_dim);
  DefinedRow result;
  std::vector<float> scores, weights;
  for (auto* const numbers : {&result.raw, &result.capped, &result.biased, &scores, &weights}) numbers->reserve(row.keys.size());
  constexpr float lowest = -std::numeric_limits<float>::max();
  float max = lowest;
  for (const OptionKey& key : row.keys) {
    const defined::Score score = defined::score_of(row, key);
    result.raw.push_back(score.raw);
    result.capped.push_back(score.capped);
    result.biased.push_back(score.biased);
    scores.push_back(score.base2);
    if (std::ceil(score.base2) > max) max = std::ceil(score.base2);
  }
  const float relative_to = max == lowest ? 0.0f : max;
  std::vector<std::vector<float>> nodes;  // of the keys' segments: sums, then the denominator
  for (int segment = 0; segment < keys; segment += 512) {
    float lanes[16] = {};
    std::vector<float> part(width, 0.0f);
    for (int first = segment; first < keys && first < segment + 512; first += 64) {
      std::vector<float> chain(width, 0.0f);
      for (int j = first; j < keys && j < first + 64; ++j) {
        const OptionKey& key = row.keys[std::size_t(j)];
        const float weight = key.seen ? defined_weight(scores[std::size_t(j)], relative_to) : 0.0f;
        weights.push_back(weight);
        if (!key.seen) continue;
        lanes[j % 16] += weight;
        const float factor = weight * key.value_scale;
        for (std::size_t c = 0; c < width; ++c) chain[c] = std::fma(factor, key.value[c], chain[c]);
      }
      for (std::size_t c = 0; c < width; ++c) part[c] += chain[c];
    }
    for (int half = 8; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    }
    part.push_back(lanes[0]);
    nodes.push_back(part);
  }
  // Neighbours are added, beginning with an even one, until one is left.
  for (; nodes.size() > 1; nodes.resize((nodes.size() + 1) / 2)) {
    for (std::size_t i = 0; i < nodes.size(); i += 2) {
      nodes[i / 2] = nodes[i];
      if (i + 1 == nodes.size()) continue;
      for (std::size_t c = 0; c <= width; ++c) nodes[i / 2][c] += nodes[i + 1][c];
    }
  }
  std::vector<float> sums = nodes.empty() ? std::vector<float>(width + 1, 0.0f) : nodes[0];
  const float sum = sums.back();
  sums.pop_back();
  // A sink is one more weight, relative to the higher of the two maxima.
  float total = sum, power = 1.0f, reference = relative_to;
  if (row.sink && *row.sink != minus_infinity) {
    const float t = *row.sink * defined::log2e;
    reference = std::max(max, std::ceil(t));
    power = max - reference < -125.0f ? 0.0f : std::ldexp(1.0f, int(max - reference));
    total = std::fma(sum, power, defined_weight(t, reference));
  }
  const float inverse = 1.0f / total;
  for (const float s : sums) result.output.push_back(total == 0.0f ? 0.0f : s * power * inverse);
  for (std::size_t j = 0; j < weights.size(); ++j) {
    result.weights.push_back(row.keys[j].seen && total != 0.0f ? weights[j] * power * inverse : 0.0f);
  }
  result.lse = total == 0.0f ? double(minus_infinity) : std::log(double(total)) + double(reference) * std::log(2.0);
  return result;
}

}  // namespace attend_test
