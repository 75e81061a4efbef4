// Activations of the C surface.
#include "layers.h"

namespace attend {
namespace c_surface {
namespace {

static_assert(int(Activation::silu) == ATTEND_SILU && int(Activation::gelu) == ATTEND_GELU &&
                  int(Activation::gelu_tanh) == ATTEND_GELU_TANH && int(Activation::sigmoid) == ATTEND_SIGMOID &&
                  int(Activation::tanh) == ATTEND_TANH && int(Activation::exp) == ATTEND_EXP &&
                  int(Activation::erf) == ATTEND_ERF && int(Activation::relu) == ATTEND_RELU,
              "the numbers of the C header are the core's");

// That of these which has the number.
template <Activation... activations>
void activate_by(int number, const float* x, const float* by, int count, float* y) {
  ((number == int(activations) ? core::activate<activations>(x, by, count, y) : void()), ...);
}

}  // namespace
}  // namespace c_surface
}  // namespace attend

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_activate(int activation, const float* x, const float* by, ptrdiff_t count, float* y) {
  Check check;
  check.require(activation >= ATTEND_RELU && activation <= ATTEND_ERF, ATTEND_UNKNOWN, ATTEND_ARG_ACTIVATION);
  check_numbers(check, x, by, count, y);
  if (check.failed()) return check.status();
  activate_by<Activation::relu, Activation::silu, Activation::gelu, Activation::gelu_tanh, Activation::sigmoid,
              Activation::tanh, Activation::exp, Activation::erf>(activation, x, by, int(count), y);
  return ATTEND_OK;
}

}  // extern "C"
