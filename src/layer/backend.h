// The entry points of normalisation, activations and rotary positions of an instruction set. Before this its source includes
// its operations and names them `RowIsa`.
#include "../isa/list.h"
#include "activations.h"
#include "normalisation.h"
#include "rotary.h"

namespace attend::ATTEND_ISA {

void Backend::rms_norm(const core::Normalisation& normalisation) { normalise_rows<RowIsa, false>(normalisation); }

void Backend::layer_norm(const core::Normalisation& normalisation) { normalise_rows<RowIsa, true>(normalisation); }

void Backend::add(const float* x, float factor, int count, float* y) {
  multiply_add_row<RowIsa>(x, count, RowIsa::broadcast(factor), y, y);
}

void Backend::rotary_angles(const uint64_t* turns, int pairs, int position, float* cosines, float* sines) {
  fill_angles(turns, pairs, position, cosines, sines);
}

void Backend::rotate(const core::Rotation& rotation) { rotate_token<RowIsa>(rotation); }

void Backend::relu(const float* from, const float* by, int count, float* to) {
  activate_row<RowIsa, Activation::relu>(from, by, count, to);
}

void Backend::silu(const float* from, const float* by, int count, float* to) {
  activate_row<RowIsa, Activation::silu>(from, by, count, to);
}

void Backend::gelu(const float* from, const float* by, int count, float* to) {
  activate_row<RowIsa, Activation::gelu>(from, by, count, to);
}

void Backend::gelu_tanh(const float* from, const float* by, int count, float* to) {
  activate_row<RowIsa, Activation::gelu_tanh>(from, by, count, to);
}

void Backend::sigmoid(const float* from, const float* by, int count, float* to) {
  activate_row<RowIsa, Activation::sigmoid>(from, by, count, to);
}

void Backend::tanh(const float* from, const float* by, int count, float* to) {
  activate_row<RowIsa, Activation::tanh>(from, by, count, to);
}

void Backend::exp(const float* from, const float* by, int count, float* to) {
  activate_row<RowIsa, Activation::exp>(from, by, count, to);
}

void Backend::erf(const float* from, const float* by, int count, float* to) {
  activate_row<RowIsa, Activation::erf>(from, by, count, to);
}

}  // namespace attend::ATTEND_ISA
