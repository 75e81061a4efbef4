// Activations: which backend computes them.
#include "layers.h"

namespace attend {
namespace core {

namespace {

template <Activation activation>
struct Activate {
  template <class Backend>
  struct Operation {
    static constexpr auto function = &Layer<Backend>::template activate<activation>;
  };
};

}  // namespace

template <Activation activation>
void activate(const float* from, const float* by, int count, float* to) {
  ActiveBackend::call<Activate<activation>::template Operation>(from, by, count, to);
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
