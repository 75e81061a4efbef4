// Normalisation and residual addition: which backend computes them.
#include "layers.h"

namespace attend {
namespace core {

void rms_norm(const Normalisation& normalisation) {
  Active<Backends>::call([](auto backend) { return &Layer<decltype(backend)>::rms_norm; }, normalisation);
}

void layer_norm(const Normalisation& normalisation) {
  Active<Backends>::call([](auto backend) { return &Layer<decltype(backend)>::layer_norm; }, normalisation);
}

void add(const float* x, float factor, int count, float* y) {
  Active<Backends>::call([](auto backend) { return &Layer<decltype(backend)>::add; }, x, factor, count, y);
}

}  // namespace core
}  // namespace attend
