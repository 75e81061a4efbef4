// The entry points of projections and sums in integers of a host's instruction set. Before this its source includes its kernels
// and names them `IntegerIsa`.
#include "../isa/list.h"
#include "integer_linear_host.h"
#include "integer_sum.h"

namespace attend::ATTEND_ISA {

void Backend::run_integer_linear(const core::IntegerLinear& linear, int output_bytes, bool panels) {
  project_integers<IntegerIsa>(linear, output_bytes, panels);
}

void Backend::run_integer_sum(const core::IntegerSum& sum, int types) {
  switch (types) {  // calls that a bound of the stack can be computed of
    case 0:
      return add_integers<int8_t, int8_t, int8_t>(sum);
    case 1:
      return add_integers<int8_t, int8_t, int16_t>(sum);
    case 2:
      return add_integers<int8_t, int16_t, int8_t>(sum);
    case 3:
      return add_integers<int8_t, int16_t, int16_t>(sum);
    case 4:
      return add_integers<int16_t, int8_t, int8_t>(sum);
    case 5:
      return add_integers<int16_t, int8_t, int16_t>(sum);
    case 6:
      return add_integers<int16_t, int16_t, int8_t>(sum);
    default:
      return add_integers<int16_t, int16_t, int16_t>(sum);
  }
}

}  // namespace attend::ATTEND_ISA
