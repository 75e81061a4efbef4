// The entry points of each backend for normalisation, activations and rotary positions.
#pragma once

#include "../include/attend/core_layer.h"
#include "backends.h"

namespace attend {
namespace core {

// The entry points of a backend for functions around attention; backend_<isa>_layer.cpp defines them. Each is a function of
// its own, so that linkers leave out what a program does not call.
template <class Backend>
struct Layer {
  static void rms_norm(const Normalisation& normalisation);
  static void layer_norm(const Normalisation& normalisation);
  template <Activation activation>
  static void activate(const float* from, const float* by, int count, float* to);
  static void add(const float* x, float factor, int count, float* y);
  static void rotary_angles(const uint64_t* turns, int pairs, int position, float* cosines, float* sines);
  static void rotate(const Rotation& rotation);
};

}  // namespace core
}  // namespace attend
