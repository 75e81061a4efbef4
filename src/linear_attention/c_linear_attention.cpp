// Linear attention of the C surface (attend/c/linear_attention.h).
#include "../../include/attend/core/rules.h"
#include "../call/portable.h"
#include "linear_surface.h"
#include "list.h"

namespace attend::c_surface {

inline bool is_usual_scale(float scale) {
  constexpr float usual = ATTEND_DEFAULT_SCALE;
  return bits_to<uint32_t>(scale) == bits_to<uint32_t>(usual);
}

template <LinearRule rule, Decay decay>
void run_floats(const LinearTensors& tensors, int part, int parts) {
  core::LinearAttention call = core_call<core::LinearAttention>(tensors);
  call.scale = is_usual_scale(tensors.scale) ? core::usual_scale(call.head_dim) : tensors.scale;
  core::run_linear_attention<rule, decay>(call, part, parts);
}
template <LinearRule rule, Decay decay>
using FloatRuleOf = LinearRuleOf<rule, decay, false, run_floats<rule, decay>>;

attend_status init_linear(attend_linear_attention* linear, size_t size, const attend_linear_rule& rule) {
  const attend_status status = new_struct(linear, size, ATTEND_ARG_LINEAR);
  if (status != ATTEND_OK) return status;
  linear->rule = &rule, linear->value_heads = ATTEND_KV_HEADS, linear->tokens = unset, linear->count = ATTEND_ALL_TOKENS;
  linear->query = linear->key = linear->value = linear->log_decay = linear->decay = linear->beta = no_input;
  linear->output = no_output, linear->scale = ATTEND_DEFAULT_SCALE, linear->parts = 1;
  return ATTEND_OK;
}

namespace {

// Whether they may have come from attend_linear_prepare: shifts by other numbers would not be defined.
bool is_prepared(const attend_linear_constants& by) {
  const bool factors = by.retrieved_factor >= 1 << 30 && by.output_factor >= 1 << 30;
  return factors && by.retrieved_shift >= -1 && by.retrieved_shift <= 31 && by.output_shift >= 5 && by.output_shift <= 39;
}

struct LinearCall : StateCall {
  [[gnu::always_inline]] explicit LinearCall(const attend_linear_attention* linear) : given(linear) { check_rule(); }

  // The rule and extents.
  void check_rule() {
    read(whole_struct(given, ATTEND_ARG_LINEAR));
    if (failed()) return;
    require(given->rule != nullptr, ATTEND_MISSING, ATTEND_ARG_RULE);
    if (failed()) return;
    integers = given->rule->integers;
    const ptrdiff_t widths[] = {given->query_heads, given->kv_heads, given->head_dim, given->value_dim};
    const ptrdiff_t value_heads = given->value_heads == ATTEND_KV_HEADS ? given->kv_heads : given->value_heads;
    for (int i = 0; i < 4; ++i) {
      const attend_argument argument = attend_argument(ATTEND_ARG_QUERY_HEADS + i);
      const bool is_short = integers && argument == ATTEND_ARG_HEAD_DIM;
      within(widths[i], 1, is_short ? ATTEND_INTEGER_MAX_LINEAR_DIM : ATTEND_MAX_WIDTH, argument);
    }
    within(value_heads, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_VALUE_HEADS);
    if (failed()) return;
    const int queries = call.query_heads = int(widths[0]), values = call.value_heads = int(value_heads);
    call.kv_heads = int(widths[1]), call.head_dim = int(widths[2]), call.value_dim = int(widths[3]);
    const bool divides = values % call.kv_heads == 0 && (queries % values == 0 || values % queries == 0);
    require(divides, ATTEND_MISMATCH, ATTEND_ARG_VALUE_HEADS);
    const uint32_t rule = uint32_t(given->rule->rule) + (integers ? core::integer_rule : 0);
    head = linear_head_of(rule, unsigned(given->rule->decay), values, call.head_dim, call.value_dim);
    const bool fits = core::is_linear_head(queries, values, call.head_dim, call.value_dim);
    require(fits && bytes_of_state(head) > 0, ATTEND_TOO_LARGE, ATTEND_ARG_HEAD_DIM);
  }

  // An input of the call, which the rule has or must not have.
  core::Tensor<const void> tensor(bool has, const attend_input& input, int heads, int width, int bits,
                                  attend_argument argument) {
    require(has || is_default(input), ATTEND_NO_EFFECT, argument);
    if (!has) return {};
    const Extent of_tokens = extent(input, given->tokens, heads, width, argument);
    read(input.data, of_tokens, bits, argument);
    return core_tensor<const void>(input.data, of_tokens);
  }

  // What a state takes, and who reads it.
  void check_tokens(bool reads) {
    if (!failed()) check_sequence(*given, call);
    if (failed()) return;
    const int bits = integers ? 8 : float_bits, gate_bits = integers ? 16 : float_bits, values = call.value_heads;
    call.key = tensor(true, given->key, call.kv_heads, call.head_dim, bits, ATTEND_ARG_KEY);
    call.value = tensor(true, given->value, values, call.value_dim, bits, ATTEND_ARG_VALUE);
    const LinearRule rule = given->rule->rule;
    const int gates = given->rule->decay == Decay::per_key ? call.head_dim : 1;
    const bool has_gate = core::has_gate(rule);
    const auto log = tensor(has_gate && !integers, given->log_decay, values, gates, gate_bits, ATTEND_ARG_LOG_DECAY);
    const auto decay = tensor(has_gate && integers, given->decay, values, gates, gate_bits, ATTEND_ARG_DECAY);
    call.gates = integers ? decay : log;
    call.beta = tensor(core::has_beta(rule), given->beta, values, 1, gate_bits, ATTEND_ARG_BETA);
    check_constants();
    if (!reads || failed()) return;
    const int heads = call.query_heads > values ? call.query_heads : values;
    call.query = tensor(true, given->query, call.query_heads, call.head_dim, bits, ATTEND_ARG_QUERY);
    const Extent outputs = extent(given->output, given->tokens, heads, call.value_dim, ATTEND_ARG_OUTPUT);
    write(given->output.data, outputs, bits, ATTEND_ARG_OUTPUT);
    call.output = core_tensor<void>(given->output.data, outputs);
    const bool is_usual = is_usual_scale(call.scale = given->scale);
    left_out(is_usual || !integers, ATTEND_ARG_SCALE);
    require(is_usual || core::is_scale(given->scale), ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALE);
  }
  void check_constants() {
    const bool per_head = given->head_constants != nullptr, one = given->constants != nullptr;
    require(integers || (!per_head && !one), ATTEND_NO_EFFECT, ATTEND_ARG_CONSTANTS);
    require(!per_head || !one, ATTEND_CONFLICT, ATTEND_ARG_CONSTANTS);
    if (failed() || !integers) return;
    call.constants = per_head ? given->head_constants : given->constants, call.constants_stride = per_head;
    const int count = per_head ? call.value_heads : 1;
    read(array(call.constants, 4 * ptrdiff_t(count), 32, ATTEND_ARG_CONSTANTS));
    for (int i = 0; !failed() && i < count; ++i) require(is_prepared(call.constants[i]), ATTEND_CORRUPT, ATTEND_ARG_CONSTANTS);
  }
  // With a state that moves on.
  attend_status move(attend_linear_state* state, bool reads) {
    check_tokens(reads);
    if (!failed()) call.state = own(state, true);
    if (failed()) return status();
    given->rule->run(call, int(given->part), int(given->parts));
    if (given->part == 0) state->tokens += uint64_t(call.tokens - call.first);
    return ATTEND_OK;
  }

  const attend_linear_attention* const given;
  LinearTensors call = {};
  bool integers = false;
};

}  // namespace
}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

#define ATTEND_INIT(name, rule, decay)                                                    \
  attend_status attend_##name##_rule_init(attend_linear_attention* linear, size_t size) { \
    return init_linear(linear, size, FloatRuleOf<LinearRule::rule, Decay::decay>::code);  \
  }
ATTEND_EACH_LINEAR_RULE(ATTEND_INIT)
#undef ATTEND_INIT

size_t attend_linear_state_size(const attend_linear_attention* linear) {
  const LinearCall check(linear);
  return check.failed() ? 0 : bytes_of_state(check.head);
}

attend_status attend_linear_state_init(const attend_linear_attention* linear, void* memory, size_t memory_size,
                                       attend_linear_state** state) {
  return LinearCall(linear).make(memory, memory_size, state);
}

attend_status attend_linear_run(const attend_linear_attention* linear, attend_linear_state* state) {
  return LinearCall(linear).move(state, true);
}

attend_status attend_linear_append(const attend_linear_attention* linear, attend_linear_state* state) {
  return LinearCall(linear).move(state, false);
}

attend_status attend_linear_run_from(const attend_linear_attention* linear, const attend_linear_state* state, void* workspace,
                                     size_t workspace_size) {
  LinearCall check(linear);
  check.check_tokens(true);
  if (!check.failed() && state != nullptr) check.call.from = check.own(state, false);
  const size_t needed = core::linear_head_floats(check.call.head_dim, check.call.value_dim) * sizeof(float);
  check_workspace(check, workspace, workspace_size, needed);
  if (check.failed()) return check.status();
  check.call.work = workspace;
  linear->rule->run(check.call, int(linear->part), int(linear->parts));
  return ATTEND_OK;
}

}  // extern "C"
