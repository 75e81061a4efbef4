// Normalisation of rows.
//
//   root mean square:  y = x * r * weight                    r = 1 / sqrt(mean(x^2) + epsilon)
//   layer:             y = (x - mean) * r * weight + bias    r = 1 / sqrt(mean((x - mean)^2) + epsilon)
//
// Each sum is 16 partial sums, one for each column modulo 16, each ascending, added at its end in pairs (i, i+8), (i, i+4),
// (i, i+2), (i, i+1). A mean is the sum times 1 / width.

// The sum of a row's terms: step(sum, x) adds the terms of a vector to its sums. What `padding` gives must be 0.
template <class Isa, class Step>
ATTEND_ALWAYS_INLINE float sum_of_row(const float* row, int width, float padding, Step step) {
  float lane_sums[panel_keys];
  if constexpr (Isa::lanes == 1) {
    for (float& sum : lane_sums) sum = 0.0f;
    for (int i = 0; i < width; ++i) lane_sums[i % panel_keys] = step(lane_sums[i % panel_keys], row[i]);
  } else {
    constexpr int vecs = panel_keys / Isa::lanes;
    typename Isa::Vec sums[vecs];
    const auto add_panel = [&](const float* panel) ATTEND_INLINE_LAMBDA {
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) sums[v] = step(sums[v], Isa::load(panel + v * Isa::lanes));
    };
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) sums[v] = Isa::zero();
    int i = 0;
    for (; width - i >= panel_keys; i += panel_keys) add_panel(row + i);
    if (i < width) {
      float last[panel_keys];
      for (int lane = 0; lane < panel_keys; ++lane) last[lane] = i + lane < width ? row[i + lane] : padding;
      add_panel(last);
    }
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) Isa::store(lane_sums + v * Isa::lanes, sums[v]);
  }
  return add_lanes<Isa>(lane_sums);
}

template <class Isa>
void rms_norm_row(const core::Normalisation& n, const float* from, float* to, float reciprocal_width) {
  using Vec = typename Isa::Vec;
  const float squares =
      sum_of_row<Isa>(from, n.width, 0.0f, [&](Vec sum, Vec x) ATTEND_INLINE_LAMBDA { return Isa::fma(x, x, sum); });
  const Vec root = Isa::broadcast(reciprocal_root(FloatArithmetic::fma(squares, reciprocal_width, n.epsilon)));
  map_row<Isa>(from, n.width, to, [&](Vec x, int i, int step_size) ATTEND_INLINE_LAMBDA {
    const Vec y = Isa::mul(x, root);
    return n.weight == nullptr ? y : Isa::mul(y, load_some<Isa>(n.weight + i, step_size));
  });
}

template <class Isa>
void layer_norm_row(const core::Normalisation& n, const float* from, float* to, float reciprocal_width) {
  using Vec = typename Isa::Vec;
  const float sum = sum_of_row<Isa>(from, n.width, 0.0f, [&](Vec all, Vec x) ATTEND_INLINE_LAMBDA { return Isa::add(all, x); });
  // Through a multiply-add, because what is subtracted later must not be a product that a compiler could contract.
  const float mean = FloatArithmetic::fma(sum, reciprocal_width, 0.0f);
  const Vec all_mean = Isa::broadcast(mean);
  const float squares = sum_of_row<Isa>(from, n.width, mean, [&](Vec all, Vec x) ATTEND_INLINE_LAMBDA {
    const Vec difference = Isa::sub(x, all_mean);
    return Isa::fma(difference, difference, all);
  });
  const Vec root = Isa::broadcast(reciprocal_root(FloatArithmetic::fma(squares, reciprocal_width, n.epsilon)));
  map_row<Isa>(from, n.width, to, [&](Vec x, int i, int step_size) ATTEND_INLINE_LAMBDA {
    const Vec difference = Isa::sub(x, all_mean);
    if (n.weight == nullptr && n.bias != nullptr) return Isa::fma(difference, root, load_some<Isa>(n.bias + i, step_size));
    const Vec y = Isa::mul(difference, root);
    if (n.weight == nullptr) return y;
    const Vec weight = load_some<Isa>(n.weight + i, step_size);
    return n.bias == nullptr ? Isa::mul(y, weight) : Isa::fma(y, weight, load_some<Isa>(n.bias + i, step_size));
  });
}

template <class Isa, bool layer>
void normalise_rows(const core::Normalisation& n) {
  const float reciprocal_width = FloatArithmetic::reciprocal(whole_to_float(n.width));
  const float* from = n.from;
  float* to = n.to;
  for (int row = 0; row < n.rows; ++row, from += n.from_stride, to += n.to_stride) {
    if constexpr (layer) {
      layer_norm_row<Isa>(n, from, to, reciprocal_width);
    } else {
      rms_norm_row<Isa>(n, from, to, reciprocal_width);
    }
  }
}
