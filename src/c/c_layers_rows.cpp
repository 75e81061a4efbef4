// Normalisation and residual addition of the C surface.
#include "../call/portable.h"
#include "layers.h"

namespace attend {
namespace c_surface {
namespace {

template <class Run>
attend_status normalise(const attend_norm* norm, const float* x, ptrdiff_t rows, float* y, bool takes_bias, Run run) {
  Check check;
  const Range range = check_structs(check, norm, 1, ATTEND_ARG_NORM);
  check.within(rows, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_ROWS);
  if (check.failed()) return check.status();
  check.within(norm->width, 1, ATTEND_MAX_TOKENS, ATTEND_ARG_WIDTH);
  check_epsilon(check, norm->epsilon);
  check.require(takes_bias || norm->bias == nullptr, ATTEND_NO_EFFECT, ATTEND_ARG_NORM_BIAS);
  const Range to = check_vectors(check, y, rows, norm->width, ATTEND_ARG_Y);
  Memory memory;
  memory.write(check, to, ATTEND_ARG_Y);
  memory.read_last(check, range);
  read_same(check, memory, check_vectors(check, x, rows, norm->width, ATTEND_ARG_X), to);
  memory.read_last(check, check_if_given(check, norm->weight, norm->width, ATTEND_ARG_NORM_WEIGHT));
  memory.read_last(check, check_if_given(check, norm->bias, norm->width, ATTEND_ARG_NORM_BIAS));
  if (check.failed()) return check.status();
  run(core::Normalisation{x, norm->width, y, norm->width, norm->weight, norm->bias, int(rows), int(norm->width),
                          norm->epsilon});
  return ATTEND_OK;
}

}  // namespace
}  // namespace c_surface
}  // namespace attend

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_rms_norm(const attend_norm* norm, const float* x, ptrdiff_t rows, float* y) {
  return normalise(norm, x, rows, y, false, [](const core::Normalisation& rows_of_call) { core::rms_norm(rows_of_call); });
}

attend_status attend_layer_norm(const attend_norm* norm, const float* x, ptrdiff_t rows, float* y) {
  return normalise(norm, x, rows, y, true, [](const core::Normalisation& rows_of_call) { core::layer_norm(rows_of_call); });
}

attend_status attend_add(const float* x, float scale, ptrdiff_t count, float* y) {
  Check check;
  check.require(magnitude(scale) < 0x7f800000u, ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALE);
  check_numbers(check, x, nullptr, count, y);
  if (!check.failed()) core::add(x, scale, int(count), y);
  return check.status();
}

}  // extern "C"
