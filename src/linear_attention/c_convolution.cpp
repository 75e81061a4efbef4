// Causal convolutions of the C surface (attend/c/linear_attention.h).
#include "../call/portable.h"
#include "linear_surface.h"

namespace attend::c_surface {
namespace {

static_assert(ATTEND_MAX_CONV_WIDTH == core::most_conv_width && ATTEND_CONV_IDENTITY == int(ConvActivation::identity) &&
                  ATTEND_CONV_SILU == int(ConvActivation::silu),
              "the numbers of the C header are the core's");

struct ConvCall : StateCall {
  [[gnu::always_inline]] explicit ConvCall(const attend_causal_conv* conv) : given(conv) { check_extents(); }

  void check_extents() {
    read(whole_struct(given, ATTEND_ARG_CONV));
    if (failed()) return;
    within(given->channels, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_CHANNELS);
    within(given->width, 2, ATTEND_MAX_CONV_WIDTH, ATTEND_ARG_WIDTH);
    if (failed()) return;
    call.channels = int(given->channels), call.width = int(given->width);
    head = linear_head_of(core::conv_rule, 0, 1, call.width, call.channels);
  }

  // Rows of channels, which lie side by side.
  template <class Array>
  Extent rows(const Array& array, attend_argument argument) {
    require(array.head_stride == 0 || array.head_stride == ATTEND_DENSE, ATTEND_NO_EFFECT, argument);
    return extent(array, given->tokens, 1, call.channels, argument);
  }
  // What a state takes, and what becomes of it.
  void check_tokens(bool computes) {
    if (!failed()) check_sequence(*given, call);
    if (failed()) return;
    const Extent inputs = rows(given->input, ATTEND_ARG_INPUT);
    read(given->input.data, inputs, float_bits, ATTEND_ARG_INPUT);
    call.input = static_cast<const float*>(given->input.data), call.input_stride = inputs.strides.token;
    if (!computes || failed()) return;
    const Extent outputs = rows(given->output, ATTEND_ARG_OUTPUT);
    write(given->output.data, outputs, float_bits, ATTEND_ARG_OUTPUT);
    call.output = static_cast<float*>(given->output.data), call.output_stride = outputs.strides.token;
    read(array(given->weights, given->channels * given->width, float_bits, ATTEND_ARG_WEIGHTS));
    if (given->bias != nullptr) read(array(given->bias, given->channels, float_bits, ATTEND_ARG_BIAS));
    call.weights = given->weights, call.bias = given->bias;
    require(given->activation == ATTEND_CONV_IDENTITY || given->activation == ATTEND_CONV_SILU, ATTEND_UNKNOWN,
            ATTEND_ARG_ACTIVATION);
  }
  attend_status run() {
    if (failed()) return status();
    const bool silu = call.output != nullptr && given->activation == ATTEND_CONV_SILU;
    (silu ? core::run_convolution<ConvActivation::silu>
          : core::run_convolution<ConvActivation::identity>)(call, int(given->part), int(given->parts));
    return ATTEND_OK;
  }
  // With a state that moves on.
  attend_status move(attend_linear_state* state, bool computes) {
    check_tokens(computes);
    if (!failed()) call.state = own(state, true);
    const attend_status made = run();
    if (made == ATTEND_OK && given->part == 0) state->tokens += uint64_t(call.tokens - call.first);
    return made;
  }

  const attend_causal_conv* const given;
  core::Convolution call = {};
};

}  // namespace
}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_causal_conv_init(attend_causal_conv* conv, size_t size) {
  const attend_status status = new_struct(conv, size, ATTEND_ARG_CONV);
  if (status != ATTEND_OK) return status;
  conv->tokens = unset, conv->count = ATTEND_ALL_TOKENS, conv->parts = 1;
  conv->input = no_input, conv->output = no_output;
  return ATTEND_OK;
}

size_t attend_conv_state_size(const attend_causal_conv* conv) {
  const ConvCall check(conv);
  return check.failed() ? 0 : bytes_of_state(check.head);
}

attend_status attend_conv_state_init(const attend_causal_conv* conv, void* memory, size_t memory_size,
                                     attend_linear_state** state) {
  return ConvCall(conv).make(memory, memory_size, state);
}

attend_status attend_causal_conv_run(const attend_causal_conv* conv, attend_linear_state* state) {
  return ConvCall(conv).move(state, true);
}

attend_status attend_causal_conv_append(const attend_causal_conv* conv, attend_linear_state* state) {
  return ConvCall(conv).move(state, false);
}

attend_status attend_causal_conv_run_from(const attend_causal_conv* conv, const attend_linear_state* state) {
  ConvCall check(conv);
  check.check_tokens(true);
  if (!check.failed() && state != nullptr) check.call.from = check.own(state, false);
  return check.run();
}

}  // extern "C"
