// The entry points of projections in integers. Before this a source includes its kernels, IntegerIsa.
#include "../isa/list.h"
#include "integer_linear.h"

namespace attend {
namespace core {

template <class Output>
void run_integer_linear(const IntegerLinear& linear) {
  ATTEND_ISA::IntegerProjection<ATTEND_ISA::IntegerIsa, Output>(linear).run();
}

template void run_integer_linear<int8_t>(const IntegerLinear&);
template void run_integer_linear<int16_t>(const IntegerLinear&);
template void run_integer_linear<int32_t>(const IntegerLinear&);

}  // namespace core
}  // namespace attend
