// The entry points of normalisation, activations and rotary positions.
namespace attend::ATTEND_ISA {

void Backend::rms_norm(const core::Normalisation& normalisation) { normalise_rows<RowIsa, false>(normalisation); }

void Backend::layer_norm(const core::Normalisation& normalisation) { normalise_rows<RowIsa, true>(normalisation); }

void Backend::add(const float* x, float factor, int count, float* y) {
  multiply_add_row<RowIsa>(x, count, RowIsa::broadcast(factor), y, y);
}

void Backend::rotary_angles(const uint64_t* turns, int pairs, int position, float* cosines, float* sines) {
  for (int i = 0; i < pairs; ++i) {
    const CosineAndSine both = cosine_and_sine(turns[i] * uint64_t(position));
    cosines[i] = both.cosine, sines[i] = both.sine;
  }
}

void Backend::rotate(const core::Rotation& rotation) { rotate_token<RowIsa>(rotation); }

#define ATTEND_ACTIVATION(name)                                                  \
  void Backend::name(const float* from, const float* by, int count, float* to) { \
    activate_row<RowIsa, Activation::name>(from, by, count, to);                 \
  }
ATTEND_EACH_ACTIVATION(ATTEND_ACTIVATION)
#undef ATTEND_ACTIVATION

}  // namespace attend::ATTEND_ISA
