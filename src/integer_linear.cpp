// Linear projections in integers: on embedded processors with the kernels of integer attention, elsewhere in plain C++.
#include "simd/integer_small.h"

#include "layer/integer_linear.h"

template <class Output>
void attend::core::run_integer_linear(const IntegerLinear& linear) {
  IntegerProjection<EmbeddedInteger, Output>(linear).run();
}

template void attend::core::run_integer_linear<int8_t>(const IntegerLinear&);
template void attend::core::run_integer_linear<int16_t>(const IntegerLinear&);
template void attend::core::run_integer_linear<int32_t>(const IntegerLinear&);
