// Rotary positions: pairs of numbers turn by angles that grow with the position (Su et al., RoFormer, 2021).
//
//   a' = a * cos - b * sin        b' = b * cos + a * sin
//
// each as one product, rounded, and one fused multiply-add.

namespace attend::ATTEND_ISA {
namespace {

// Turns pairs whose first and second numbers lie in two runs, as many as lanes.
template <class Isa>
ATTEND_ALWAYS_INLINE void rotate_vectors(float* a, float* b, const float* cosines, const float* sines, int step_size) {
  using Vec = typename Isa::Vec;
  const Vec x = load_some<Isa>(a, step_size), y = load_some<Isa>(b, step_size);
  const Vec cosine = load_some<Isa>(cosines, step_size), sine = load_some<Isa>(sines, step_size);
  store_some<Isa>(a, Isa::fma(y, Isa::sub(Isa::zero(), sine), Isa::mul(x, cosine)), step_size);
  store_some<Isa>(b, Isa::fma(y, cosine, Isa::mul(x, sine)), step_size);
}

// Turns some pairs of all heads of a token.
template <class Isa>
void rotate_token(const core::Rotation& r) {
  float* x = r.first;
  for (int head = 0; head < r.heads; ++head, x += r.head_stride) {
    if (r.partner == 1) {  // pairs are neighbours, and go one after the other
      for (int i = 0; i < r.pairs; ++i) rotate_vectors<Scalar>(x + 2 * i, x + 2 * i + 1, r.cosines + i, r.sines + i, 1);
    } else {
      for_each_vector<Isa>(r.pairs, [&](int i, int step_size) ATTEND_INLINE_LAMBDA {
        rotate_vectors<Isa>(x + i, x + i + r.partner, r.cosines + i, r.sines + i, step_size);
      });
    }
  }
}

}  // namespace
}  // namespace attend::ATTEND_ISA
