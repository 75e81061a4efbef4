// The entry points of a backend for functions around attention. Before this a source names the `Backend` and its `Isa`.
#pragma once

#include "../layer/activations.h"
#include "../layer/normalisation.h"
#include "../layer/rotary.h"
#include "../layers.h"

namespace attend {
namespace core {

template <>
void Layer<Backend>::rms_norm(const Normalisation& normalisation) {
  normalise_rows<Isa, false>(normalisation);
}
template <>
void Layer<Backend>::layer_norm(const Normalisation& normalisation) {
  normalise_rows<Isa, true>(normalisation);
}

template <>
void Layer<Backend>::add(const float* x, float factor, int count, float* y) {
  multiply_add_row<Isa>(x, count, Isa::broadcast(factor), y, y);
}

template <>
void Layer<Backend>::rotary_angles(const uint64_t* turns, int pairs, int position, float* cosines, float* sines) {
  fill_angles(turns, pairs, position, cosines, sines);
}
template <>
void Layer<Backend>::rotate(const Rotation& rotation) {
  rotate_token<Isa>(rotation);
}

template <>
template <>
void Layer<Backend>::activate<Activation::relu>(const float* from, const float* by, int count, float* to) {
  activate_row<Isa, Activation::relu>(from, by, count, to);
}
template <>
template <>
void Layer<Backend>::activate<Activation::silu>(const float* from, const float* by, int count, float* to) {
  activate_row<Isa, Activation::silu>(from, by, count, to);
}
template <>
template <>
void Layer<Backend>::activate<Activation::gelu>(const float* from, const float* by, int count, float* to) {
  activate_row<Isa, Activation::gelu>(from, by, count, to);
}
template <>
template <>
void Layer<Backend>::activate<Activation::gelu_tanh>(const float* from, const float* by, int count, float* to) {
  activate_row<Isa, Activation::gelu_tanh>(from, by, count, to);
}
template <>
template <>
void Layer<Backend>::activate<Activation::sigmoid>(const float* from, const float* by, int count, float* to) {
  activate_row<Isa, Activation::sigmoid>(from, by, count, to);
}
template <>
template <>
void Layer<Backend>::activate<Activation::tanh>(const float* from, const float* by, int count, float* to) {
  activate_row<Isa, Activation::tanh>(from, by, count, to);
}
template <>
template <>
void Layer<Backend>::activate<Activation::exp>(const float* from, const float* by, int count, float* to) {
  activate_row<Isa, Activation::exp>(from, by, count, to);
}
template <>
template <>
void Layer<Backend>::activate<Activation::erf>(const float* from, const float* by, int count, float* to) {
  activate_row<Isa, Activation::erf>(from, by, count, to);
}

}  // namespace core
}  // namespace attend
