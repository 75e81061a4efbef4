// Linear projections in integers, in plain C++ on every target.
#include "layer/integer_linear.h"

template <class Output>
void attend::core::run_integer_linear(const IntegerLinear& linear) {
  integer_linear<Output>(linear);
}

template void attend::core::run_integer_linear<int8_t>(const IntegerLinear&);
template void attend::core::run_integer_linear<int16_t>(const IntegerLinear&);
template void attend::core::run_integer_linear<int32_t>(const IntegerLinear&);
