// Gates of linear attention from what a projection gives, of the C surface (attend/c/linear_attention.h).
#include "../call/portable.h"
#include "linear_surface.h"

namespace attend::c_surface {
namespace {

// With what the core takes, where nothing is refused. log_decay may be z.
Memory check_gate(const attend_gate* gate, const float* z, ptrdiff_t tokens, float* log_decay, core::GateInputs& inputs) {
  Memory check;
  const Range range = check.structs(gate, 1, ATTEND_ARG_GATE);
  check.within(tokens, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_TOKENS);
  if (check.failed()) return check;
  const ptrdiff_t width = gate->width, rates = gate->rate_count;
  check.within(width, 1, ATTEND_MAX_TOKENS, ATTEND_ARG_WIDTH);
  check.within(rates, 1, ATTEND_MAX_TOKENS, ATTEND_ARG_RATE_COUNT);
  check.require(check.failed() || width % rates == 0, ATTEND_MISMATCH, ATTEND_ARG_RATE_COUNT);
  check.require(check.failed() || tokens * int64_t(width) <= INT32_MAX, ATTEND_TOO_LARGE, ATTEND_ARG_TOKENS);
  if (check.failed()) return check;
  const Range to = check.array(log_decay, tokens * width, float_bits, ATTEND_ARG_LOG_DECAY);
  const Range from = check.array(z, tokens * width, float_bits, ATTEND_ARG_Z);
  check.write(to, ATTEND_ARG_LOG_DECAY);
  check.read_last(range);
  if (from.begin != to.begin) check.read_last(from);
  check.read_last(check.array(gate->rates, rates, float_bits, ATTEND_ARG_RATES));
  if (gate->bias != nullptr) check.read_last(check.array(gate->bias, width, float_bits, ATTEND_ARG_BIAS));
  inputs = {z, gate->bias, gate->rates, log_decay, int(tokens), int(width), int(rates), 0.0f};
  return check;
}

}  // namespace
}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_decay_gate(const attend_gate* gate, const float* z, ptrdiff_t tokens, float* log_decay) {
  core::GateInputs inputs;
  const Memory check = check_gate(gate, z, tokens, log_decay, inputs);
  if (!check.failed()) core::decay_gates(inputs);
  return check.status();
}

attend_status attend_bounded_gate(const attend_gate* gate, float lower_bound, const float* z, ptrdiff_t tokens,
                                  float* log_decay) {
  core::GateInputs inputs;
  Memory check = check_gate(gate, z, tokens, log_decay, inputs);
  const uint32_t bits = bits_to<uint32_t>(lower_bound);  // comparing floats calls a function on some boards
  check.require(bits > 0x80000000u && bits < 0xff800000u, ATTEND_OUT_OF_RANGE, ATTEND_ARG_LOWER_BOUND);
  inputs.lower_bound = lower_bound;
  if (!check.failed()) core::bounded_gates(inputs);
  return check.status();
}

}  // extern "C"
