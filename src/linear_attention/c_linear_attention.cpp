// Linear attention of the C surface (attend/c/linear_attention.h).
#include "../../include/attend/core/rules.h"
#include "../call/portable.h"
#include "linear_surface.h"
#include "list.h"

struct attend_linear_rule {
  attend::LinearRule rule;
  attend::Decay decay;
  void (*run)(const attend::core::LinearAttention& call, int part, int parts);
};

namespace attend::c_surface {

// A linker drops those that no program initialises: each has a section of its own, whatever the flags.
template <LinearRule rule, Decay decay>
struct LinearRuleOf {
  static const attend_linear_rule code;
};
template <LinearRule rule, Decay decay>
const attend_linear_rule LinearRuleOf<rule, decay>::code = {rule, decay, core::run_linear_attention<rule, decay>};

namespace {

attend_status init_linear(attend_linear_attention* linear, size_t size, const attend_linear_rule& rule) {
  const attend_status status = new_struct(linear, size, ATTEND_ARG_LINEAR);
  if (status != ATTEND_OK) return status;
  linear->rule = &rule, linear->value_heads = ATTEND_KV_HEADS, linear->tokens = unset, linear->count = ATTEND_ALL_TOKENS;
  linear->query = linear->key = linear->value = linear->log_decay = linear->beta = no_input, linear->output = no_output;
  linear->scale = ATTEND_DEFAULT_SCALE, linear->parts = 1;
  return ATTEND_OK;
}

struct LinearCall : StateCall {
  [[gnu::always_inline]] explicit LinearCall(const attend_linear_attention* linear) : given(linear) { check_rule(); }

  // The rule and extents.
  void check_rule() {
    read(whole_struct(given, ATTEND_ARG_LINEAR));
    if (failed()) return;
    const ptrdiff_t widths[] = {given->query_heads, given->kv_heads, given->head_dim, given->value_dim};
    const ptrdiff_t value_heads = given->value_heads == ATTEND_KV_HEADS ? given->kv_heads : given->value_heads;
    for (int i = 0; i < 4; ++i) within(widths[i], 1, ATTEND_MAX_WIDTH, attend_argument(ATTEND_ARG_QUERY_HEADS + i));
    within(value_heads, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_VALUE_HEADS);
    require(given->rule != nullptr, ATTEND_MISSING, ATTEND_ARG_RULE);
    if (failed()) return;
    const int queries = call.query_heads = int(widths[0]), values = call.value_heads = int(value_heads);
    call.kv_heads = int(widths[1]), call.head_dim = int(widths[2]), call.value_dim = int(widths[3]);
    const bool divides = values % call.kv_heads == 0 && (queries % values == 0 || values % queries == 0);
    require(divides, ATTEND_MISMATCH, ATTEND_ARG_VALUE_HEADS);
    head = linear_head_of(uint32_t(given->rule->rule), uint32_t(given->rule->decay), values, call.head_dim, call.value_dim);
    const bool fits = (int64_t(queries / values) + 2) * call.head_dim <= INT32_MAX;  // ValueHead's row_
    require(fits && bytes_of_state(head) > 0, ATTEND_TOO_LARGE, ATTEND_ARG_HEAD_DIM);
  }

  // An input, which the rule has or must not have.
  core::Tensor<const float> tensor(bool has, const attend_input& input, int heads, int width, attend_argument argument) {
    require(has || is_default(input), ATTEND_NO_EFFECT, argument);
    if (!has) return {};
    const Extent of_tokens = extent(input, given->tokens, heads, width, argument);
    read(input.data, of_tokens, float_bits, argument);
    return core_tensor<const float>(input.data, of_tokens);
  }

  // What a state takes, and who reads it.
  void check_tokens(bool reads) {
    check_sequence(*given, call);
    if (failed()) return;
    call.key = tensor(true, given->key, call.kv_heads, call.head_dim, ATTEND_ARG_KEY);
    call.value = tensor(true, given->value, call.value_heads, call.value_dim, ATTEND_ARG_VALUE);
    const auto [rule, decay, run] = *given->rule;
    const int gates = decay == Decay::per_key ? call.head_dim : 1;
    call.gates = tensor(core::has_gate(rule), given->log_decay, call.value_heads, gates, ATTEND_ARG_LOG_DECAY);
    call.beta = tensor(core::has_beta(rule), given->beta, call.value_heads, 1, ATTEND_ARG_BETA);
    if (!reads || failed()) return;
    const int heads = call.query_heads > call.value_heads ? call.query_heads : call.value_heads;
    call.query = tensor(true, given->query, call.query_heads, call.head_dim, ATTEND_ARG_QUERY);
    const Extent outputs = extent(given->output, given->tokens, heads, call.value_dim, ATTEND_ARG_OUTPUT);
    write(given->output.data, outputs, float_bits, ATTEND_ARG_OUTPUT);
    call.output = core_tensor<float>(given->output.data, outputs);
    constexpr float usual = ATTEND_DEFAULT_SCALE;
    const bool is_usual = bits_to<uint32_t>(given->scale) == bits_to<uint32_t>(usual);
    require(is_usual || core::is_scale(given->scale), ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALE);
    if (!failed()) call.scale = is_usual ? core::usual_scale(call.head_dim) : given->scale;
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
  core::LinearAttention call = {};
};

}  // namespace
}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

#define ATTEND_INIT(name, rule, decay)                                                    \
  attend_status attend_##name##_rule_init(attend_linear_attention* linear, size_t size) { \
    return init_linear(linear, size, LinearRuleOf<LinearRule::rule, Decay::decay>::code); \
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
  check.call.work = static_cast<float*>(workspace);
  linear->rule->run(check.call, int(linear->part), int(linear->parts));
  return ATTEND_OK;
}

}  // extern "C"
