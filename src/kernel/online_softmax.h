// From scores to weights for the rows of a tile, side by side, with running maxima and running denominators.
//
//   for each vector of keys:   the highest score of each row
//   for each row that rose:    its new maximum, which its sums follow
//   for each vector of keys:   scores -> weights, and their share of the denominators
//
// The rows take each step together: one alone would wait for the cycles of every multiply-add of the polynomial. Weights go
// row by row where a set has a loop of its own for a row's (weigh_rows), as NEON has.

// Scores may lie this much above a row's maximum before it is raised, so that sums are scaled seldom. Weights are at most 4
// then, and change in nothing but their exponents. States raise theirs for every higher score: what a state holds depends on
// its keys alone.
constexpr float above_max = 2.0f;

// Far from 0, maximum and scores are brought near it when weights are computed.
inline bool is_far(float max) { return magnitude(max) >= magnitude(near_max) && max > lowest_max; }

// For a maximum that, brought near 0 if it is far, is the whole number in the low bits of `shifted`.
inline RowMaximum row_maximum(float max, float shifted) {
  const unsigned exponent = unsigned(bits_to<int>(shifted)) << 23;
  return {max, Scalar::sub(shifted, 125.0f), bits_to<float>(int((127u << 23) - exponent))};
}
inline RowMaximum no_maximum() { return row_maximum(lowest_max, whole_shift); }

// For any maximum.
inline RowMaximum row_maximum_of(float max) {
  const float near = !is_far(max) ? max : max < even_reference(max) ? -1.0f : 0.0f;
  return row_maximum(max, Scalar::add(whole_shift, max > lowest_max ? near : 0.0f));
}

// Sets a row's maximum. Sums that have begun follow.
template <class Isa>
ATTEND_NOINLINE void move_max(float max, RowMaximum& maximum, float* lane_sums, Sums sums) {
  if (sums.begun && maximum.max > lowest_max) {  // otherwise the sums are zero, or nothing
    const typename Isa::Vec factor = rescale_factor<Isa>(maximum.max, max);
    multiply_row<Isa>(lane_sums, panel_keys, factor, lane_sums);
    multiply_row<Isa>(sums.data, sums.value_dim, factor, sums.data);
  }
  maximum = row_maximum_of(max);
}

// Raises a row's maximum to its highest score, rounded up, or to the nearest where nothing was added up yet.
template <class Isa>
ATTEND_ALWAYS_INLINE void raise_max(float highest_score, RowMaximum& maximum, float* lane_sums, Sums sums) {
  if (!sums.begun && !sums.raises_always &&
      magnitude(highest_score) < magnitude(0.5f * near_max)) {  // soon done: each row of a plain call begins so
    const float shifted = Scalar::add(highest_score, whole_shift);
    maximum = row_maximum(Scalar::sub(shifted, whole_shift), shifted);
  } else {
    move_max<Isa>(round_up(highest_score), maximum, lane_sums, sums);
  }
}

template <class Isa>
void bring_near(float* scores, int key_count, float max) {
  const typename Isa::Vec reference = Isa::broadcast(even_reference(max));
  for (int k = 0; k < key_count; k += Isa::lanes) Isa::store(scores + k, Isa::sub(Isa::load(scores + k), reference));
}

// Weights of a few rows and `vecs` vectors of each at a time, as many as fill the registers. Rows lie `stride` floats apart.
template <class Isa, int rows, int vecs, int stride = config::score_keys>
int weights_side_by_side(float* scores, int from, int to, const RowMaximum* maxima, bool begun, float* lane_sums) {
  using Vec = typename Isa::Vec;
  constexpr int count = rows * vecs;
  if constexpr (vecs * Isa::lanes == panel_keys) {
    if (Isa::template weigh_rows<stride>(rows, scores + from, to - from, maxima, begun || from > 0, lane_sums)) return to;
  }
  const Vec shift = Isa::broadcast(whole_shift);
  const float* coefficients = exp2_coefficients;
  for (; to - from >= vecs * Isa::lanes; from += vecs * Isa::lanes) {
    coefficients = opaque(coefficients);
    float* at[count];
    Vec shifted[count], weights[count];
    ATTEND_UNROLL
    for (int i = 0; i < count; ++i) at[i] = scores + from + i / vecs * stride + i % vecs * Isa::lanes;
    ATTEND_UNROLL
    for (int i = 0; i < count; ++i) shifted[i] = Isa::add(Isa::load(at[i]), shift);
    ATTEND_UNROLL
    for (int i = 0; i < count; ++i) weights[i] = Isa::sub(Isa::load(at[i]), Isa::sub(shifted[i], shift));
    exp2_fraction<Isa, count>(weights, coefficients);
    ATTEND_UNROLL
    for (int i = 0; i < count; ++i) {
      const RowMaximum& row = maxima[i / vecs];
      weights[i] = Isa::scale_by_low_bits(weights[i], shifted[i], Isa::broadcast(row.bias), Isa::broadcast(row.lowest_shifted));
      Isa::store(at[i], weights[i]);
    }
    ATTEND_UNROLL
    for (int i = 0; i < count; ++i) {
      const int key = from + i % vecs * Isa::lanes;
      float* const sum = lane_sums + i / vecs * panel_keys + key % panel_keys;
      Isa::store(sum, begun || key >= panel_keys ? Isa::add(Isa::load(sum), weights[i]) : weights[i]);
    }
  }
  return from;
}

// The weights of rows side by side, unless the set has its own loop (weigh_rows).
template <class Isa, int rows>
void weights_of_rows(float* scores, int key_count, const RowMaximum* maxima, bool begun, float* lane_sums) {
  constexpr int vecs = rows == 1 ? 4 : rows == 2 ? 2 : 1;
  if (Isa::template weigh_rows<config::score_keys>(rows, scores, key_count, maxima, begun, lane_sums)) return;
  [[maybe_unused]] const int done = weights_side_by_side<Isa, rows, vecs>(scores, 0, key_count, maxima, begun, lane_sums);
  if constexpr (vecs > 1) weights_side_by_side<Isa, rows, 1>(scores, done, key_count, maxima, begun, lane_sums);
}

// The highest scores of a single row, four vectors side by side where there are so many.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec highest_of_row(const float* scores, int key_count, typename Isa::Vec highest) {
  using Vec = typename Isa::Vec;
  int k = 0;
  if (key_count >= 4 * Isa::lanes) {
    Vec others[3] = {highest, highest, highest};
    for (; key_count - k >= 4 * Isa::lanes; k += 4 * Isa::lanes) {
      highest = Isa::higher(highest, Isa::load(scores + k));
      ATTEND_UNROLL
      for (int i = 0; i < 3; ++i) others[i] = Isa::higher(others[i], Isa::load(scores + k + (i + 1) * Isa::lanes));
    }
    highest = Isa::higher(Isa::higher(highest, others[0]), Isa::higher(others[1], others[2]));
  }
  for (; k < key_count; k += Isa::lanes) highest = Isa::higher(highest, Isa::load(scores + k));
  return highest;
}

template <class Isa, int rows>
ATTEND_ALWAYS_INLINE void BySteps::highest_of_rows(const float* scores, ptrdiff_t stride, int count,
                                                   typename Isa::Vec (&highest)[rows]) {
  for (int k = 0; k < count; k += Isa::lanes) {
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) highest[r] = Isa::higher(highest[r], Isa::load(scores + r * stride + k));
  }
}

// Gives masked keys, from `visible` to whole panels, a score that weighs nothing. A vector that has both kinds is stored whole:
// after two stores to its parts, its next load would wait for both to reach the cache.
template <class Isa>
ATTEND_ALWAYS_INLINE void mask_keys(float* scores, int visible, int padded) {
  const typename Isa::Vec masked_score = Isa::broadcast(-ATTEND_INFINITY);
  int k = visible & -Isa::lanes;
  if (k < visible) {
    Isa::store(scores + k, Isa::first_of(Isa::load(scores + k), masked_score, visible - k));
    k += Isa::lanes;
  }
  for (; k < padded; k += Isa::lanes) Isa::store(scores + k, masked_score);
}

// Replaces the scores of rows by their weights relative to their running maxima, raising these where a score is much higher,
// and adds the weights to the denominators' partial sums.
//   scores     [rows][score_keys]
//   visible    [rows], never falling: how many of the keys a row sees. What lies past them, up to whole panels of the last
//              row's, is given weight 0, whatever it holds
//   maxima     [rows]
//   lane_sums  [rows][16] partial sums of the denominator, one for each lane of a panel; like the sums, they may not have begun
template <class Isa, int rows>
ATTEND_NOINLINE void softmax_side_by_side(float* scores, const int* visible, RowMaximum* maxima, float* lane_sums, Sums sums) {
  using Vec = typename Isa::Vec;
  const int padded = whole_panels(at_least(visible[rows - 1], 1));  // a row may see none of the tile's keys
  if (visible[0] != padded) {
    for (int r = 0; r < rows; ++r) mask_keys<Isa>(scores + r * config::score_keys, visible[r], padded);
  }

  Vec highest[rows];  // never NaN: a NaN score shows in its weight, and must not cover higher scores here
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) highest[r] = Isa::broadcast(maxima[r].max);
  if constexpr (rows == 1) {
    highest[0] = highest_of_row<Isa>(scores, padded, highest[0]);
  } else {
    Isa::template highest_of_rows<Isa>(scores, config::score_keys, padded, highest);
  }
  // The difference is exact where it matters; a sum would be rounded where floats are 4 apart.
  const auto above = [&](int r) ATTEND_INLINE_LAMBDA { return Isa::sub(highest[r], Isa::broadcast(maxima[r].max)); };
  Vec most_above = Isa::zero();  // a number, whatever rows have: higher() passes over a NaN in its second operand only
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) most_above = Isa::higher(most_above, above(r));
  const float most = sums.raises_always ? 0.0f : above_max;
  if (Isa::any_above(most_above, Isa::broadcast(most))) {
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      if (Isa::any_above(above(r), Isa::broadcast(most))) {
        raise_max<Isa>(Isa::highest_lane(highest[r]), maxima[r], lane_sums + r * panel_keys, sums_from(sums, r));
      }
    }
  }
  uint32_t largest = 0;
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) largest = magnitude(maxima[r].max) > largest ? magnitude(maxima[r].max) : largest;
  for (int r = 0; largest >= magnitude(near_max) && r < rows; ++r) {
    if (!is_far(maxima[r].max)) continue;
    bring_near<Isa>(scores + r * config::score_keys, padded, maxima[r].max);
  }
  weights_of_rows<Isa, rows>(scores, padded, maxima, sums.begun, lane_sums);
}
