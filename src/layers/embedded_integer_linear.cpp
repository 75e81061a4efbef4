// Projections and sums in integers for embedded processors, and the reference for others: see backend/embedded_integers.cpp.
#include "list.h"

#define ATTEND_ISA embedded_integers::layers
#include "../backend/begin.h"

#include "../isa/embedded_integers.h"

#include "../backend/body.h"
#include "body.h"
#if !ATTEND_EMBEDDED
#include "integers.h"
#else
namespace attend::core {

namespace isa = embedded_integers::layers;

#define ATTEND_INTEGER_LINEAR(Output)                                    \
  template <>                                                            \
  void run_integer_linear<sizeof(Output)>(const IntegerLinear& linear) { \
    isa::IntegerProjection<isa::IntegerIsa, Output>(linear).run();       \
  }
ATTEND_INTEGER_LINEAR(int8_t)
ATTEND_INTEGER_LINEAR(int16_t)
ATTEND_INTEGER_LINEAR(int32_t)
#undef ATTEND_INTEGER_LINEAR

template <class A, class B, class Output>
void run_integer_sum(const IntegerSum& sum) {
  embedded_integers::layers::add_integers<A, B, Output>(sum);
}

#define ATTEND_INTEGER_SUM(A, B, Output) template void run_integer_sum<A, B, Output>(const IntegerSum&);
ATTEND_EACH_INTEGER_SUM(ATTEND_INTEGER_SUM)
#undef ATTEND_INTEGER_SUM

}  // namespace attend::core
#endif

#include "../backend/end.h"
