// Normalisation and residual addition: which backend computes them.
#include "layers.h"

namespace attend {
namespace core {
namespace {

template <class Backend>
struct RmsNorm {
  static constexpr auto function = &Layer<Backend>::rms_norm;
};

template <class Backend>
struct LayerNorm {
  static constexpr auto function = &Layer<Backend>::layer_norm;
};

template <class Backend>
struct Add {
  static constexpr auto function = &Layer<Backend>::add;
};

}  // namespace

void rms_norm(const Normalisation& normalisation) { ActiveBackend::call<RmsNorm>(normalisation); }

void layer_norm(const Normalisation& normalisation) { ActiveBackend::call<LayerNorm>(normalisation); }

void add(const float* x, float factor, int count, float* y) { ActiveBackend::call<Add>(x, factor, count, y); }

}  // namespace core
}  // namespace attend
