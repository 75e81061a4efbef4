// From scores to weights, with a running maximum and a running denominator.
#pragma once

#include "../include/attend/config.h"
#include "exp2.h"
#include "pack.h"

namespace attend {
namespace {

// The maximum of a row that has seen no score above the lowest float. Scores that low, like minus infinity, have weight 0.
constexpr float lowest_max = -0x1.fffffep127f;

// to = from * factor; the two may be the same row. The first is for where it counts.
template <class Isa>
ATTEND_INSIDE void scale_row(const float* from, int count, typename Isa::Vec factor, float* to) {
  int c = 0;
  for (; count - c >= Isa::lanes; c += Isa::lanes) Isa::store(to + c, Isa::mul(Isa::load(from + c), factor));
  if (c < count) Isa::store_first(to + c, Isa::mul(Isa::load_first(from + c, count - c), factor), count - c);
}
template <class Isa>
void multiply_row(const float* from, int count, typename Isa::Vec factor, float* to) {
  scale_row<Isa>(from, count, factor, to);
}

// total = total * factor + part
template <class Isa>
void add_row(float* total, int count, typename Isa::Vec factor, const float* part) {
  int c = 0;
  for (; count - c >= Isa::lanes; c += Isa::lanes) {
    Isa::store(total + c, Isa::fma(Isa::load(total + c), factor, Isa::load(part + c)));
  }
  if (const int left = count - c; left > 0) {
    Isa::store_first(total + c, Isa::fma(Isa::load_first(total + c, left), factor, Isa::load_first(part + c, left)), left);
  }
}

// output = sums / denominator, and zero for a row that saw no key, or only scores of minus infinity.
template <class Isa>
void divide_row(const float* sums, int count, float denominator, float* output) {
  if (magnitude(denominator) == 0) {
    fill_row<Isa>(0.0f, count, output);
  } else {
    multiply_row<Isa>(sums, count, Isa::broadcast(Scalar::reciprocal(denominator)), output);
  }
}

// Replaces scores by their weights, `count` vectors at a time, and adds these to the partial sums. The vectors take each step
// together: one alone would wait for the cycles of every multiply-add of the polynomial.
template <class Isa, int count>
int weigh_scores(float* scores, int from, int to, float max, typename Isa::Vec (&sums)[panel_keys / Isa::lanes]) {
  constexpr int vecs = panel_keys / Isa::lanes;
  for (; to - from >= count * Isa::lanes; from += count * Isa::lanes) {
    typename Isa::Vec weights[count];
    ATTEND_UNROLL
    for (int v = 0; v < count; ++v) weights[v] = Isa::load(scores + from + v * Isa::lanes);
    weigh<Isa, count>(weights, max);
    // With whole panels at a time, the sums stay in registers; otherwise they are indexed.
    const int first = count % vecs == 0 ? 0 : from / Isa::lanes % vecs;
    ATTEND_UNROLL
    for (int v = 0; v < count; ++v) {
      Isa::store(scores + from + v * Isa::lanes, weights[v]);
      typename Isa::Vec& sum = sums[first + v % vecs];
      sum = Isa::add(sum, weights[v]);
    }
  }
  return from;
}

// Replaces the scores of one row by their weights relative to the running maximum, raising it when a score is higher, and adds
// the weights to the denominator's partial sums.
//   scores      [visible rounded up to whole panels]; what lies past visible is given weight 0, whatever it holds
//   max         the largest score so far, rounded up to a whole number
//   lane_sums   [16] partial sums of the denominator, one for each lane of a panel
//   output      [value_dim] the weighted sum so far; follows the maximum
template <class Isa>
void weigh_row(float* scores, int visible, float& max, float* lane_sums, float* output, int value_dim) {
  using Vec = typename Isa::Vec;
  constexpr int vecs = panel_keys / Isa::lanes;
  const int padded = (visible + panel_keys - 1) / panel_keys * panel_keys;
  int past = visible;
  for (; past % Isa::lanes != 0; ++past) scores[past] = -__builtin_inff();
  for (; past < padded; past += Isa::lanes) Isa::store(scores + past, Isa::broadcast(-__builtin_inff()));

  Vec highest = Isa::broadcast(max);  // never NaN: a NaN score shows in its weight, and must not hide higher scores here
  constexpr int step = Isa::lanes == 1 ? 4 : Isa::lanes;
  for (int k = 0; k < padded; k += step) {
    ATTEND_UNROLL
    for (int i = 0; i < step; i += Isa::lanes) highest = Isa::max(highest, Isa::load(scores + k + i));
  }
  if (const float highest_score = Isa::highest_lane(highest); Scalar::less(max, highest_score)) {
    const float block_max = round_up(highest_score);
    if (Scalar::less(lowest_max, max)) {  // otherwise the sums are zero
      const Vec factor = Isa::scale_by_power(Isa::broadcast(1.0f), Isa::broadcast(Scalar::sub(max, block_max)));
      multiply_row<Isa>(lane_sums, panel_keys, factor, lane_sums);
      multiply_row<Isa>(output, value_dim, factor, output);
    }
    max = block_max;
  }

  float relative_to = Scalar::less(lowest_max, max) ? max : 0.0f;
  if (magnitude(relative_to) >= magnitude(near_max)) {
    const float reference = even_reference(relative_to);
    relative_to = Scalar::less(relative_to, reference) ? -1.0f : 0.0f;
    for (int k = 0; k < padded; k += Isa::lanes) {
      Isa::store(scores + k, Isa::sub(Isa::load(scores + k), Isa::broadcast(reference)));
    }
  }
  if constexpr (Isa::own_weights) {
    Isa::weigh_scores(scores, padded, relative_to, exp2_coefficients, lane_sums);
    return;
  }
  Vec sums[vecs];
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) sums[v] = Isa::load(lane_sums + v * Isa::lanes);
  const int done = weigh_scores<Isa, Isa::weight_vecs>(scores, 0, padded, relative_to, sums);
  if constexpr (Isa::weight_vecs > vecs) weigh_scores<Isa, vecs>(scores, done, padded, relative_to, sums);
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) Isa::store(lane_sums + v * Isa::lanes, sums[v]);
}

// The denominator: its partial sums added in pairs (i, i+8), then (i, i+4), (i, i+2), (i, i+1). They are lost.
template <class Isa, int half = panel_keys / 2>
float add_lanes(float* lane_sums) {
  if constexpr (Isa::lanes == 1) {
    for (int width = half; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) lane_sums[i] = Isa::add(lane_sums[i], lane_sums[i + width]);
    }
  } else if constexpr (half > 0) {
    constexpr int step = half < Isa::lanes ? 1 : Isa::lanes;
    ATTEND_UNROLL
    for (int i = 0; i < half; i += step) {
      if constexpr (step == 1) {
        lane_sums[i] += lane_sums[i + half];
      } else {
        Isa::store(lane_sums + i, Isa::add(Isa::load(lane_sums + i), Isa::load(lane_sums + i + half)));
      }
    }
    return add_lanes<Isa, half / 2>(lane_sums);
  }
  return lane_sums[0];
}

}  // namespace
}  // namespace attend
