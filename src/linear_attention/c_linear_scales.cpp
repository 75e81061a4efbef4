// Constants of linear attention in integers from C: what is computed with floats, once. Calls need nothing of it.
#include "../call/portable.h"
#include "linear_surface.h"

using namespace attend;
using namespace attend::c_surface;

extern "C" attend_status attend_linear_prepare(const attend_integer_scales* scales, ptrdiff_t head_dim,
                                               attend_linear_constants* constants) {
  Memory check;
  check.read(check.whole_struct(scales, ATTEND_ARG_SCALES));
  check.write(check.structs(constants, 1, ATTEND_ARG_CONSTANTS), ATTEND_ARG_CONSTANTS);
  check.within(head_dim, 1, ATTEND_INTEGER_MAX_LINEAR_DIM, ATTEND_ARG_HEAD_DIM);
  if (check.failed()) return check.status();
  const bool usual = bits_to<uint64_t>(scales->scale) == bits_to<uint64_t>(double(ATTEND_DEFAULT_SCALE));
  const double scale = usual ? double(core::usual_scale(int(head_dim))) : scales->scale, key = scales->key_scale;
  const double above_0[] = {scales->query_scale, scales->value_scale, scales->output_scale, scale};
  const attend_argument of_above_0[] = {ATTEND_ARG_QUERY_SCALE, ATTEND_ARG_VALUE_SCALE, ATTEND_ARG_OUTPUT_SCALE,
                                        ATTEND_ARG_SCALE};
  for (int i = 0; i < 4; ++i) check.require(above_0[i] > 0, ATTEND_OUT_OF_RANGE, of_above_0[i]);
  const int32_t zeros[] = {scales->query_zero_point, scales->key_zero_point, scales->value_zero_point,
                           scales->output_zero_point};
  for (int i = 0; i < 4; ++i) check.within(zeros[i], 0, 0, attend_argument(ATTEND_ARG_QUERY_ZERO_POINT + i));
  check.require(core::is_linear_scale(key, 0.01), ATTEND_OUT_OF_RANGE, ATTEND_ARG_KEY_SCALE);
  if (check.failed()) return check.status();
  const double outputs = core::linear_output_factor(scales->query_scale, key, scales->value_scale, scale, scales->output_scale);
  check.require(core::is_linear_scale(key, outputs), ATTEND_OUT_OF_RANGE, ATTEND_ARG_OUTPUT_SCALE);
  if (check.failed()) return check.status();
  const core::LinearScale made = core::linear_scale(key, outputs);
  *constants = {made.retrieved, made.retrieved_shift, made.output, made.output_shift};
  return ATTEND_OK;
}
