// Linear attention in integers of the C surface (attend/c/linear_attention.h): its rules.
#include "../call/portable.h"
#include "linear_surface.h"
#include "list.h"

namespace attend::c_surface {

static_assert(ATTEND_INTEGER_MAX_LINEAR_DIM == core::most_linear_dims, "the C header has the core's limit");
static_assert(sizeof(attend_linear_constants) == sizeof(core::LinearScale), "constants are read where they lie");

template <LinearRule rule, Decay decay>
void run_integers(const LinearTensors& tensors, int part, int parts) {
  core::IntegerLinearAttention call = core_call<core::IntegerLinearAttention>(tensors);
  call.scales = reinterpret_cast<const core::LinearScale*>(tensors.constants), call.scale_stride = tensors.constants_stride;
  core::run_linear_attention<rule, decay>(call, part, parts);
}
template <LinearRule rule, Decay decay>
using IntegerRuleOf = LinearRuleOf<rule, decay, true, run_integers<rule, decay>>;

}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

#define ATTEND_INIT(name, rule, decay)                                                            \
  attend_status attend_integer_##name##_rule_init(attend_linear_attention* linear, size_t size) { \
    return init_linear(linear, size, IntegerRuleOf<LinearRule::rule, Decay::decay>::code);        \
  }
ATTEND_EACH_LINEAR_RULE(ATTEND_INIT)
#undef ATTEND_INIT

}  // extern "C"
