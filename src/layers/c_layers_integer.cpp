// Projections of the C surface in integers.
#include "layer_surface.h"

namespace attend::c_surface {
namespace {

static_assert(ATTEND_INTEGER_MAX_INPUTS == core::integer_linear_inputs, "the C header has the core's limit");
static_assert(sizeof(attend_integer_multiplier) == sizeof(core::IntegerMultiplier) &&
                  offsetof(attend_integer_multiplier, shift) == offsetof(core::IntegerMultiplier, shift),
              "multipliers are read where they lie");

bool is_wide(const attend_integer_linear& linear) { return linear.output_format == ATTEND_INT16; }

// Multipliers and bias, once outputs are known.
void check_arrays(Memory& check, const attend_integer_linear& linear) {
  const ptrdiff_t count = linear.multiplier_count, outputs = linear.weights.outputs;
  check.require(count == 1 || count == outputs, ATTEND_MISMATCH, ATTEND_ARG_MULTIPLIERS);
  if (check.failed()) return;  // twice any other count may be no number
  check.read(check.array(linear.multipliers, 2 * count, 32, ATTEND_ARG_MULTIPLIERS));
  if (linear.bias != nullptr) check.read(check.array(linear.bias, outputs, 32, ATTEND_ARG_LINEAR_BIAS));
  for (ptrdiff_t o = 0; !check.failed() && o < count; ++o) {
    const attend_integer_multiplier by = linear.multipliers[o];
    check.require(by.factor >= 1 << 30 && by.shift >= 1 && by.shift <= 62, ATTEND_OUT_OF_RANGE, ATTEND_ARG_MULTIPLIERS);
  }
  const int32_t most = core::most_integer_bias(linear.weights.inputs);
  for (ptrdiff_t o = 0; !check.failed() && linear.bias != nullptr && o < outputs; ++o) {
    check.within(linear.bias[o], -most - 1, most, ATTEND_ARG_LINEAR_BIAS);
  }
}

void check_linear(Memory& check, const attend_integer_linear& linear) {
  check_weights(check, linear.weights);
  check.require(is_integer(linear.weights), ATTEND_CONFLICT, ATTEND_ARG_WEIGHTS_LAYOUT);
  const bool wide = is_wide(linear);
  check.require(wide || linear.output_format == ATTEND_INT8, ATTEND_UNKNOWN, ATTEND_ARG_OUTPUT_FORMAT);
  check.within(linear.input_zero_point, -128, 127, ATTEND_ARG_INPUT_ZERO_POINT);
  check.within(linear.output_zero_point, wide ? -32768 : -128, wide ? 32767 : 127, ATTEND_ARG_OUTPUT_ZERO_POINT);
  if (!check.failed()) check_arrays(check, linear);
}

template <class Output>
void run(const core::IntegerLinear& linear, bool packed) {
  packed ? core::run_packed_integer_linear<sizeof(Output)>(linear) : core::run_integer_linear<sizeof(Output)>(linear);
}

}  // namespace
}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" attend_status attend_integer_project(const attend_integer_linear* linear, const int8_t* x, ptrdiff_t tokens,
                                                void* y) {
  Memory check;
  check.read(check.structs(linear, 1, ATTEND_ARG_LINEAR));
  check.within(tokens, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_TOKENS);
  if (!check.failed()) check_linear(check, *linear);
  if (check.failed()) return check.status();
  const attend_weights& weights = linear->weights;
  check.read(check_vectors(check, x, tokens, weights.inputs, ATTEND_ARG_X, 8));
  check.write(check_vectors(check, y, tokens, weights.outputs, ATTEND_ARG_Y, is_wide(*linear) ? 16 : 8), ATTEND_ARG_Y);
  check_weights(check, weights);
  if (check.failed() || tokens == 0) return check.status();
  const core::IntegerLinear call = {x,
                                    y,
                                    static_cast<const int8_t*>(weights.data),
                                    linear->bias,
                                    reinterpret_cast<const core::IntegerMultiplier*>(linear->multipliers),
                                    linear->multiplier_count == 1 ? 0 : 1,
                                    weights.inputs,
                                    weights.outputs,
                                    weights.inputs,
                                    int(weights.inputs),
                                    int(weights.outputs),
                                    int(tokens),
                                    int(linear->input_zero_point),
                                    int(linear->output_zero_point)};
  const bool packed = weights.layout == ATTEND_INTEGER_PANELS;
  is_wide(*linear) ? run<int16_t>(call, packed) : run<int8_t>(call, packed);
  return ATTEND_OK;
}
