// What each instruction set of backend/list.h defines for layers: attend::avx2::layers, say, which the source
// layers/layers_avx2.cpp fills, has a `Backend` too. The sets stand in the same order, so that one index chooses in both lists.
#pragma once

#include "../../include/attend/layers/core_layer.h"
#include "../../include/attend/layers/core_linear.h"
#include "../backend/list.h"

// Calls a macro with the name of each activation.
#define ATTEND_EACH_ACTIVATION(call) \
  call(relu) call(silu) call(gelu) call(gelu_tanh) call(sigmoid) call(tanh) call(exp) call(erf)

// Projections, by the format of the weights, and activations by their names. Integers: on hosts; outputs of 1, 2 or 4 bytes,
// and sums of the types integer_sum_types of a, b and the output.
#define ATTEND_PROJECT(format) ATTEND_NOINLINE static void project_##format(const core::Linear& linear);
#define ATTEND_ACTIVATE(name) ATTEND_NOINLINE static void name(const float* from, const float* by, int count, float* to);
#define ATTEND_LAYERS(isa, ...)                                                                                  \
  namespace isa::layers {                                                                                        \
  struct Backend {                                                                                               \
    ATTEND_EACH_FORMAT(ATTEND_PROJECT)                                                                           \
    ATTEND_EACH_ACTIVATION(ATTEND_ACTIVATE)                                                                      \
    ATTEND_NOINLINE static void rms_norm(const core::Normalisation& normalisation);                              \
    ATTEND_NOINLINE static void layer_norm(const core::Normalisation& normalisation);                            \
    ATTEND_NOINLINE static void add(const float* x, float factor, int count, float* y);                          \
    ATTEND_NOINLINE static void rotary_angles(const uint64_t*, int pairs, int position, float* cos, float* sin); \
    ATTEND_NOINLINE static void rotate(const core::Rotation& rotation);                                          \
    static void run_integer_linear(const core::IntegerLinear& linear, int output_bytes, bool packed);            \
    static void run_integer_sum(const core::IntegerSum& sum, int types);                                         \
  };                                                                                                             \
  }

namespace attend {

ATTEND_EACH_SET(ATTEND_LAYERS, ATTEND_LAYERS, ATTEND_LAYERS)
#if ATTEND_NEON
ATTEND_LAYERS(embedded_integers, 0, 0, 0, 0)  // in no list: tests compare with it
#endif

namespace core {

#define ATTEND_LISTED_LAYERS(isa, ...) , isa::layers::Backend
using Layers = decltype(list_of<void ATTEND_EACH_SET(ATTEND_LISTED_LAYERS, ATTEND_UNLISTED, ATTEND_LISTED_LAYERS)>());
using IntegerLayers = decltype(list_of<void ATTEND_EACH_SET(ATTEND_UNLISTED, ATTEND_LISTED_LAYERS, ATTEND_LISTED_LAYERS)>());
using ActiveLayers = Active<Layers, active_index>;
using ActiveIntegerLayers = Active<IntegerLayers, active_integer_index, true>;

}  // namespace core
}  // namespace attend
