// From the sums of all keys to what the caller wants: sinks join the denominator, outputs are divided, its logarithm is taken.

// ln(1 + t) = t + t^2 * r(t) for 1 + t in [sqrt(1/2), sqrt(2)]: the polynomial with the smallest relative error; with these
// float coefficients, 4.7e-9 off.
ATTEND_HOT_DATA constexpr float ln_coefficients[] = {-0.07623091f, 0.12905537f,  -0.13242985f, 0.14181629f, -0.16609055f,
                                                     0.20001985f,  -0.25001585f, 0.33333325f,  -0.49999988f};

// ln(sum * 2^power) for a whole power, or log2 of it; minus infinity for 0.
inline float log_of(float sum, float power, bool base2) {
  if (magnitude(sum) == 0) return bits_to<float>(minus_infinity);
  if (!is_finite(sum)) return sum;
  constexpr uint32_t root_half = 0x3f3504f3u;  // bits of sqrt(1/2)
  const int exponent = int(bits_to<uint32_t>(sum) - root_half) >> 23;
  const float t = Scalar::sub(bits_to<float>(bits_to<uint32_t>(sum) - (uint32_t(exponent) << 23)), 1.0f);
  float r = ln_coefficients[0];
  for (int i = 1; i < 9; ++i) r = Scalar::fma(r, t, ln_coefficients[i]);
  const float ln = Scalar::fma(Scalar::mul(t, t), r, t);
  const float twos = Scalar::add(power, whole_to_float(exponent));
  if (base2) return Scalar::fma(ln, log2_e, twos);
  return Scalar::fma(twos, 0.6931472f, Scalar::fma(twos, -1.9046542e-09f, ln));
}

// A row's denominator with its sink in it: the weights are relative to 2^max. `factor` multiplies sums and weights that are
// relative to the maximum before, and makes them the output's.
struct Denominator {
  float sum;
  float max;
  float factor;
};

inline Denominator denominator_of(const core::Options& options, int head, float sum, float max) {
  Denominator all = {sum, max, 1.0f};
  const float* const sinks = options.sink_logits;
  const float power = sinks != nullptr ? Scalar::mul(sinks[head], log2_e) : bits_to<float>(minus_infinity);
  if (bits_to<uint32_t>(power) != minus_infinity) {
    const float higher = round_up(power);
    if (Scalar::less(max, higher)) all.max = higher;  // a NaN shows in the sum
    const float shift = Scalar::less(power, 0.0f) ? -8388608.0f : 8388608.0f;
    const bool has_fraction = magnitude(power) < magnitude(8388608.0f);
    const float whole = has_fraction ? Scalar::sub(Scalar::add(power, shift), shift) : power;
    float weight[1] = {has_fraction ? Scalar::sub(power, whole) : Scalar::mul(0.0f, power)};
    exp2_fraction<Scalar, 1>(weight);
    all.factor = rescale_factor<Scalar>(max, all.max);
    all.sum = Scalar::fma(sum, all.factor, Scalar::scale_by_power(weight[0], Scalar::sub(whole, all.max)));
  }
  all.factor = magnitude(all.sum) == 0 ? 0.0f : Scalar::mul(all.factor, Scalar::reciprocal(all.sum));
  return all;
}

// The weights of a panel of scores in base 2, relative to a maximum that they have seen, times a factor: as
// row_softmax.h and exp2.h define them.
template <class Isa>
void weights_of(const float* scores, float max, float factor, float* weights) {
  using Vec = typename Isa::Vec;
  const Vec shift = Isa::broadcast(whole_shift), least = Isa::broadcast(whole_shift - 126.0f);
  const bool far = magnitude(max) >= magnitude(near_max);
  const float reference = far ? even_reference(max) : 0.0f;
  const Vec by = Isa::broadcast(reference), near = Isa::broadcast(far ? Scalar::sub(max, reference) : max);
  constexpr int vecs = panel_keys / Isa::lanes, vecs_at_once = Isa::lanes == 1 ? 1 : vecs < 4 ? vecs : 4;  // side by side
  for (int k = 0; k < panel_keys; k += vecs_at_once * Isa::lanes) {
    Vec weight[vecs_at_once], power[vecs_at_once];
    ATTEND_UNROLL
    for (int i = 0; i < vecs_at_once; ++i) {
      const Vec score = Isa::sub(Isa::load(scores + k + i * Isa::lanes), by), shifted = Isa::add(score, shift);
      weight[i] = Isa::sub(score, Isa::sub(shifted, shift));
      power[i] = Isa::max(Isa::sub(shifted, near), least);
    }
    exp2_fraction<Isa, vecs_at_once>(weight);
    ATTEND_UNROLL
    for (int i = 0; i < vecs_at_once; ++i) {
      const Vec scaled = Isa::mul(Isa::mul(weight[i], Isa::two_to(power[i])), Isa::broadcast(factor));
      const Vec kept = Isa::where_equal(power[i], least, Isa::zero(), scaled);
      // Which weights are as good as nothing depends on the maximum, and that on how the call was cut: below this none is left.
      const Vec bound = Isa::broadcast(9.403955e-38f);  // 2^-123
      Isa::store(weights + k + i * Isa::lanes, Isa::where_equal(Isa::max(kept, bound), bound, Isa::zero(), kept));
    }
  }
}

// Scores in base 2, which were kept where the weights shall be, become these. With a NaN, all that are seen are NaN: which of
// them would be as good as nothing depends on how the call was cut.
//   panel  [panel_keys] work memory
template <class Isa>
ATTEND_NOINLINE void finish_weights(float* weights, int count, float max, const Denominator& all, float* panel) {
  if (magnitude(all.sum) > 0x7f800000u) {
    for (int k = 0; k < count; ++k) weights[k] = bits_to<uint32_t>(weights[k]) == minus_infinity ? 0.0f : all.sum;
    return;
  }
  if (magnitude(all.sum) == 0 || !Scalar::less(lowest_max, max)) return fill_row<Isa>(0.0f, count, weights);
  int key = 0;
  for (; count - key >= panel_keys; key += panel_keys) weights_of<Isa>(weights + key, max, all.factor, weights + key);
  if (key == count) return;
  fill_row<Isa>(-ATTEND_INFINITY, panel_keys, panel);
  copy_row<Isa>(weights + key, count - key, panel);
  weights_of<Isa>(panel, max, all.factor, panel);
  copy_row<Isa>(panel, count - key, weights + key);
}

inline void epilogue_lse(const core::Options& options, int token, int head, const Denominator& all) {
  if (options.lse.data != nullptr) *element(options.lse, token, head) = log_of(all.sum, all.max, options.lse_base2);
}

// Writes a row's output and log-sum-exp. The sums are lost.
template <class Isa>
void epilogue_row(const core::Problem& problem, const core::Options& options, int token, int head, float* sums,
                  const Denominator& all) {
  epilogue_lse(options, token, head, all);
  const ptrdiff_t at = core::distance(problem.output, token, head);
  const bool wide = options.output_format == core::Format::float32;
  float* const to = wide ? element<float>(problem.output, token, head) : sums;
  if (magnitude(all.sum) == 0) {
    fill_row<Isa>(0.0f, problem.value_dim, to);
  } else {
    multiply_row<Isa>(sums, problem.value_dim, Isa::broadcast(all.factor), to);
  }
  if (!wide) narrow_row(options.output_format, sums, problem.value_dim, moved(problem.output.data, at, options.output_format));
}
