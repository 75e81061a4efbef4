// Activations: which backend computes them.
#include "layers.h"

namespace attend {
namespace core {

template <Activation activation>
void activate(const float* from, const float* by, int count, float* to) {
  Active<Backends>::call([](auto backend) { return &Layer<decltype(backend)>::template activate<activation>; }, from, by, count,
                         to);
}

template void activate<Activation::relu>(const float*, const float*, int, float*);
template void activate<Activation::silu>(const float*, const float*, int, float*);
template void activate<Activation::gelu>(const float*, const float*, int, float*);
template void activate<Activation::gelu_tanh>(const float*, const float*, int, float*);
template void activate<Activation::sigmoid>(const float*, const float*, int, float*);
template void activate<Activation::tanh>(const float*, const float*, int, float*);
template void activate<Activation::exp>(const float*, const float*, int, float*);
template void activate<Activation::erf>(const float*, const float*, int, float*);

}  // namespace core
}  // namespace attend
