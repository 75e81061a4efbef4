// From scores to weights, with a running maximum and a running denominator.

// The maximum of a row that has seen no score above the lowest float. Scores that low, like minus infinity, have weight 0.
constexpr float lowest_max = -3.4028235e+38f;

// output = sums / denominator, and zero for a row that saw no key, or only scores of minus infinity.
template <class Isa>
void divide_row(const float* sums, int count, float denominator, float* output) {
  if (magnitude(denominator) == 0) {
    fill_row<Isa>(0.0f, count, output);
  } else {
    multiply_row<Isa>(sums, count, Isa::broadcast(Scalar::reciprocal(denominator)), output);
  }
}

// The factor of sums relative to the maximum `from` when the higher `to` takes its place: a power of two, in every lane.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec rescale_factor(float from, float to) {
  return Isa::scale_by_power(Isa::broadcast(1.0f), Isa::broadcast(Scalar::sub(from, to)));
}

// Replaces scores, whole panels of them, by their weights as exp2.h defines them, and adds these to the 16 partial sums.
ATTEND_HOT inline void Scalar::weights_of_scores(float* scores, int count, float max, const float* /*coefficients*/,
                                                 float* lane_sums) {
  const int whole_max = Scalar::whole(max);
  const float lowest = bits_to<float>(bits_to<int>(whole_shift) + whole_max - 125);
  for (int k = 0; k < count; ++k) {
    const float shifted = Scalar::add(scores[k], whole_shift);
    float f[1] = {Scalar::sub(scores[k], Scalar::sub(shifted, whole_shift))};
    exp2_fraction<Scalar, 1>(f);
    scores[k] = Scalar::scale_by_low_bits(f[0], shifted, 127 - whole_max, lowest);
    float& sum = lane_sums[k % panel_keys];
    sum = Scalar::add(sum, scores[k]);
  }
}

// Replaces the scores of one row by their weights relative to the running maximum, raising it when a score is higher, and adds
// the weights to the denominator's partial sums.
//   scores      [visible rounded up to whole panels]; what lies past visible is given weight 0, whatever it holds
//   max         the largest score so far, rounded up to a whole number
//   lane_sums   [16] partial sums of the denominator, one for each lane of a panel
//   output      [value_dim] the weighted sum so far; follows the maximum
template <class Isa>
ATTEND_ALWAYS_INLINE void row_softmax(float* scores, int visible, float& max, float* lane_sums, float* output, int value_dim) {
  using Vec = typename Isa::Vec;
  const int padded = whole_panels(visible);
  int past = visible;
  for (; past % Isa::lanes != 0; ++past) scores[past] = -ATTEND_INFINITY;
  for (; past < padded; past += Isa::lanes) Isa::store(scores + past, Isa::broadcast(-ATTEND_INFINITY));

  Vec highest = Isa::broadcast(max);  // never NaN: a NaN score shows in its weight, and must not cover higher scores here
  constexpr int step = Isa::lanes == 1 ? 4 : Isa::lanes;
  for (int k = 0; k < padded; k += step) {
    ATTEND_UNROLL
    for (int i = 0; i < step; i += Isa::lanes) highest = Isa::max(highest, Isa::load(scores + k + i));
  }
  if (const float highest_score = Isa::highest_lane(highest); Scalar::less(max, highest_score)) {
    const float block_max = round_up(highest_score);
    if (Scalar::less(lowest_max, max)) {  // otherwise the sums are zero
      const Vec factor = rescale_factor<Isa>(max, block_max);
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
  Isa::weights_of_scores(scores, padded, relative_to, exp2_coefficients, lane_sums);
}

// The denominator: its partial sums added in pairs (i, i+8), then (i, i+4), (i, i+2), (i, i+1). They are lost.
template <class Isa>
ATTEND_NOINLINE float add_lanes(float* lane_sums) {
  for (int width = panel_keys / 2; width >= Isa::lanes; width /= 2) {
    for (int i = 0; i < width; i += Isa::lanes) {
      Isa::store(lane_sums + i, Isa::add(Isa::load(lane_sums + i), Isa::load(lane_sums + i + width)));
    }
  }
  for (int width = Isa::lanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lane_sums[i] += lane_sums[i + width];
  }
  return lane_sums[0];
}
