// Constants of integer attention from C: what is computed with floats, once. Calls need nothing of it.
#include "checks.h"

#include "../../include/attend/c/integer.h"
#include "../call/portable.h"

namespace attend::c_surface {
namespace {

constexpr double log2_e_of_doubles = 1.4426950408889634;

void check_scale(Check& check, double scale, attend_argument argument) {
  const bool is_one = scale >= 1.1754943508222875e-38 && scale <= 8.507059173023462e+37;  // 2^-126 … 2^126: a float can hold it
  check.require(is_one, ATTEND_OUT_OF_RANGE, argument);
}

attend_status prepare(const attend_integer_scales* scales, ptrdiff_t head_dim, attend_integer_constants* constants) {
  Memory check;
  check.read(check.whole_struct(scales, ATTEND_ARG_SCALES));
  const Range to = check.structs(constants, 1, ATTEND_ARG_CONSTANTS);
  check.within(head_dim, 1, ATTEND_INTEGER_MAX_HEAD_DIM, ATTEND_ARG_HEAD_DIM);
  if (check.failed()) return check.status();
  check.write(to, ATTEND_ARG_CONSTANTS);
  check_scale(check, scales->query_scale, ATTEND_ARG_QUERY_SCALE);
  check_scale(check, scales->key_scale, ATTEND_ARG_KEY_SCALE);
  check_scale(check, scales->value_scale, ATTEND_ARG_VALUE_SCALE);
  check_scale(check, scales->output_scale, ATTEND_ARG_OUTPUT_SCALE);
  check.within(scales->query_zero_point, -128, 127, ATTEND_ARG_QUERY_ZERO_POINT);
  check.within(scales->key_zero_point, -128, 127, ATTEND_ARG_KEY_ZERO_POINT);
  check.within(scales->value_zero_point, -128, 127, ATTEND_ARG_VALUE_ZERO_POINT);
  check.within(scales->output_zero_point, -32768, 32767, ATTEND_ARG_OUTPUT_ZERO_POINT);
  const bool usual = bits_to<uint64_t>(scales->scale) == bits_to<uint64_t>(double(ATTEND_DEFAULT_SCALE));
  const double scale = usual ? double(usual_scale(int(head_dim))) : scales->scale;
  check.require(scale >= 0 && scale <= 8.507059173023462e+37, ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALE);  // 2^126
  if (check.failed()) return check.status();
  const double step = log2_e_of_doubles * scale * scales->query_scale * scales->key_scale;  // multiplied as Quantisation does
  const double steps = scales->value_scale / scales->output_scale;
  check.require(core::is_score_step(step), ATTEND_MISMATCH, ATTEND_ARG_QUERY_SCALE);
  check.require(core::is_output_step(steps), ATTEND_MISMATCH, ATTEND_ARG_OUTPUT_SCALE);
  if (check.failed()) return check.status();
  const core::ScoreScale score = core::score_scale(step);
  const core::OutputScale output = core::output_scale(steps, int(scales->value_zero_point), int(scales->output_zero_point));
  *constants = {score.factor,
                score.right,
                score.left,
                score.end,
                output.factor,
                output.shift,
                scales->query_zero_point,
                scales->key_zero_point,
                scales->value_zero_point,
                scales->output_zero_point,
                float(scales->output_scale)};
  return ATTEND_OK;
}

}  // namespace
}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_integer_scales_init(attend_integer_scales* scales, size_t size) {
  const attend_status status = new_struct(scales, size, ATTEND_ARG_SCALES);
  if (status == ATTEND_OK) scales->scale = double(ATTEND_DEFAULT_SCALE);
  return status;
}

attend_status attend_integer_prepare(const attend_integer_scales* scales, ptrdiff_t head_dim,
                                     attend_integer_constants* constants) {
  attend_status status = ATTEND_OK;
  core::in_float_environment([&]() ATTEND_NOINLINE { status = prepare(scales, head_dim, constants); });
  return status;
}

}  // extern "C"
