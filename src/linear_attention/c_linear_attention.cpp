// Linear attention of the C surface (attend/c/linear_attention.h).
#include "../../include/attend/c/linear_attention.h"

#include "../../include/attend/core/rules.h"
#include "../c/surface.h"
#include "../call/portable.h"
#include "list.h"

struct attend_linear_rule {
  attend::LinearRule rule;
  attend::Decay decay;
  void (*run)(const attend::core::LinearAttention& call, int part, int parts);
};

// In memory: this, then the floats of the core. Part 0 of a call writes tokens while other parts look at the head, which stays
// as it was made: its magic number, rule, decay and extents, and their check sum.
struct attend_linear_state {
  attend::core::LinearHead head;
  uint64_t tokens;
  uint32_t room[4];
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

constexpr size_t linear_head_bytes = sizeof(attend_linear_state);
static_assert(linear_head_bytes == 64 && alignof(attend_linear_state) <= config::alignment, "floats behind it are aligned");
constexpr uint32_t linear_state_magic = 0x53437441;  // "AtCS"

attend_status init_linear(attend_linear_attention* linear, size_t size, const attend_linear_rule& rule) {
  const attend_status status = new_struct(linear, size, ATTEND_ARG_LINEAR);
  if (status != ATTEND_OK) return status;
  linear->rule = &rule, linear->value_heads = ATTEND_KV_HEADS, linear->tokens = unset, linear->count = ATTEND_ALL_TOKENS;
  linear->query = linear->key = linear->value = linear->log_decay = linear->beta = no_input, linear->output = no_output;
  linear->scale = ATTEND_DEFAULT_SCALE, linear->parts = 1;
  return ATTEND_OK;
}

uint32_t check_of_state(const core::LinearHead& head) {
  const int32_t fields[] = {int32_t(head.rule), int32_t(head.decay), head.value_heads, head.head_dim, head.value_dim};
  return check_sum(linear_state_magic, fields, 5);
}
// 0 where there cannot be so many, or where the core cannot count the numbers of a head.
size_t bytes_of_state(const core::LinearHead& head) {
  const auto possible = [](int32_t extent) { return extent >= 1 && extent <= ATTEND_MAX_WIDTH; };
  if (!possible(head.value_heads) || !possible(head.head_dim) || !possible(head.value_dim)) return 0;
  const uint64_t matrix = uint64_t(head.head_dim) * uint64_t(head.value_dim);
  const uint64_t floats = uint64_t(head.value_heads) * (matrix + uint64_t(core::panel_count(head.value_dim)));
  const bool fits = matrix <= INT32_MAX && floats <= (PTRDIFF_MAX - linear_head_bytes) / sizeof(float);
  return fits ? linear_head_bytes + size_t(floats) * sizeof(float) : 0;
}

float* data_of(const attend_linear_state* state) {
  return reinterpret_cast<float*>(const_cast<attend_linear_state*>(state) + 1);
}
size_t floats_of(const Range& state) { return (state.end - state.begin - linear_head_bytes) / sizeof(float); }
void clear_state(attend_linear_state* state, size_t bytes) {
  state->tokens = 0;
  ATTEND_MEMSET(data_of(state), 0, bytes - linear_head_bytes);
}

Range check_state(Check& check, const attend_linear_state* state) {
  check.address(state, config::alignment, ATTEND_ARG_STATE);
  if (check.failed()) return {};
  const bool made = state->head.magic == linear_state_magic && state->head.check == check_of_state(state->head);
  const size_t bytes = made ? bytes_of_state(state->head) : 0;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(state);
  check.require(bytes > 0 && bytes <= UINTPTR_MAX - begin, ATTEND_CORRUPT, ATTEND_ARG_STATE);
  return check.failed() ? Range{} : Range{begin, begin + bytes};
}

// The array of all numbers of a state.
Range numbers_of(Check& check, const attend_linear_state* state, const float* numbers, attend_argument argument) {
  if (check.failed()) return {};
  const size_t count = core::linear_head_floats(state->head.head_dim, state->head.value_dim) * size_t(state->head.value_heads);
  return check.array(numbers, ptrdiff_t(count), float_bits, argument);
}

// A call that is being checked, and the head that its states have.
struct LinearCall : Memory {
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
    head.magic = linear_state_magic, head.rule = uint32_t(given->rule->rule), head.decay = uint32_t(given->rule->decay);
    head.value_heads = values, head.head_dim = call.head_dim, head.value_dim = call.value_dim;
    head.check = check_of_state(head);
    const bool fits = (int64_t(queries / values) + 2) * call.head_dim <= INT32_MAX;  // ValueHead's row_
    require(fits && bytes_of_state(head) > 0, ATTEND_TOO_LARGE, ATTEND_ARG_HEAD_DIM);
  }

  template <class Array>
  Extent extent(const Array& array, int heads, int width, attend_argument argument) {
    require(array.batch_stride == 0 || array.batch_stride == ATTEND_DENSE, ATTEND_NO_EFFECT, argument);
    return extent_of({1, given->tokens, heads, width}, {0, array.token_stride, array.head_stride}, Axes::token_head);
  }
  // An input, which the rule has or must not have.
  core::Tensor<const float> tensor(bool has, const attend_input& input, int heads, int width, attend_argument argument) {
    require(has || is_default(input), ATTEND_NO_EFFECT, argument);
    if (!has) return {};
    const Extent of_tokens = extent(input, heads, width, argument);
    read(input.data, of_tokens, float_bits, argument);
    return core_tensor<const float>(input.data, of_tokens);
  }

  // What a state takes, and who reads it.
  void check_tokens(bool reads) {
    if (failed()) return;
    const ptrdiff_t count = given->count == ATTEND_ALL_TOKENS ? given->tokens : given->count;
    within(given->tokens, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_TOKENS);
    within(count, 0, given->tokens, ATTEND_ARG_COUNT);
    within(given->first, 0, count, ATTEND_ARG_FIRST);
    check_parts(*this, {given->part, given->parts}, 0, 0);
    if (failed()) return;
    call.first = int(given->first), call.tokens = int(count);
    call.key = tensor(true, given->key, call.kv_heads, call.head_dim, ATTEND_ARG_KEY);
    call.value = tensor(true, given->value, call.value_heads, call.value_dim, ATTEND_ARG_VALUE);
    const auto [rule, decay, run] = *given->rule;
    const int gates = decay == Decay::per_key ? call.head_dim : 1;
    call.gates = tensor(core::has_gate(rule), given->log_decay, call.value_heads, gates, ATTEND_ARG_LOG_DECAY);
    call.beta = tensor(core::has_beta(rule), given->beta, call.value_heads, 1, ATTEND_ARG_BETA);
    if (reads && !failed()) check_readers();
    const auto [boundaries, documents] = given->documents;
    if (boundaries == nullptr) return require(documents == 0, ATTEND_NO_EFFECT, ATTEND_ARG_DOCUMENTS);
    within(documents, count > 0 ? 1 : 0, ATTEND_MAX_TOKENS, ATTEND_ARG_DOCUMENTS);
    if (!failed()) read(array(boundaries, documents + 1, 32, ATTEND_ARG_DOCUMENTS));
    for (ptrdiff_t i = 0; !failed() && i <= documents; ++i)
      require(i == 0 ? boundaries[0] == 0 : boundaries[i] >= boundaries[i - 1], ATTEND_OUT_OF_RANGE, ATTEND_ARG_DOCUMENTS);
    require(failed() || boundaries[documents] == count, ATTEND_MISMATCH, ATTEND_ARG_DOCUMENTS);
    call.boundaries = boundaries, call.documents = int(documents);
  }
  void check_readers() {
    const int heads = call.query_heads > call.value_heads ? call.query_heads : call.value_heads;
    call.query = tensor(true, given->query, call.query_heads, call.head_dim, ATTEND_ARG_QUERY);
    const Extent outputs = extent(given->output, heads, call.value_dim, ATTEND_ARG_OUTPUT);
    write(given->output.data, outputs, float_bits, ATTEND_ARG_OUTPUT);
    call.output = core_tensor<float>(given->output.data, outputs);
    constexpr float usual = ATTEND_DEFAULT_SCALE;
    const bool is_usual = bits_to<uint32_t>(given->scale) == bits_to<uint32_t>(usual);
    require(is_usual || core::is_scale(given->scale), ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALE);
    if (!failed()) call.scale = is_usual ? core::usual_scale(call.head_dim) : given->scale;
  }
  // A state that goes with it.
  float* check_own(const attend_linear_state* state, bool moves) {
    const Range range = check_state(*this, state);
    if (failed()) return nullptr;
    const core::LinearHead& of = state->head;
    const bool same = of.rule == head.rule && of.decay == head.decay && of.value_heads == head.value_heads &&
                      of.head_dim == head.head_dim && of.value_dim == head.value_dim;
    require(same, ATTEND_MISMATCH, ATTEND_ARG_STATE);
    moves ? write(range, ATTEND_ARG_STATE) : read(range);
    return data_of(state);
  }
  // With a state that moves on.
  attend_status move(attend_linear_state* state, bool reads) {
    check_tokens(reads);
    if (!failed()) call.state = check_own(state, true);
    if (failed()) return status();
    given->rule->run(call, int(given->part), int(given->parts));
    if (given->part == 0) state->tokens += uint64_t(call.tokens - call.first);
    return ATTEND_OK;
  }

  const attend_linear_attention* const given;
  core::LinearAttention call = {};
  core::LinearHead head = {};
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
  LinearCall check(linear);
  if (check.failed()) return check.status();
  const size_t bytes = bytes_of_state(check.head);
  check.write(check.memory(memory, memory_size, bytes, ATTEND_ARG_MEMORY), ATTEND_ARG_MEMORY);
  if (check.failed()) return check.status();
  attend_linear_state* const made = static_cast<attend_linear_state*>(memory);
  made->head = check.head;
  clear_state(made, bytes);
  if (state != nullptr) *state = made;
  return ATTEND_OK;
}

attend_status attend_linear_state_clear(attend_linear_state* state) {
  Check check;
  const Range range = check_state(check, state);
  if (!check.failed()) clear_state(state, range.end - range.begin);
  return check.status();
}

attend_status attend_linear_state_tokens(const attend_linear_state* state, uint64_t* result) {
  Memory check;
  check.read(check_state(check, state));
  check.write(check.structs(result, 1, ATTEND_ARG_RESULT), ATTEND_ARG_RESULT);
  if (!check.failed()) *result = state->tokens;
  return check.status();
}

attend_status attend_linear_state_numbers(const attend_linear_state* state, float* result) {
  Memory check;
  check.read(check_state(check, state));
  check.write(numbers_of(check, state, result, ATTEND_ARG_RESULT), ATTEND_ARG_RESULT);
  if (!check.failed()) core::get_numbers(state->head, data_of(state), result);
  return check.status();
}

attend_status attend_linear_state_set_numbers(attend_linear_state* state, const float* x) {
  Memory check;
  check.write(check_state(check, state), ATTEND_ARG_STATE);
  check.read(numbers_of(check, state, x, ATTEND_ARG_X));
  if (check.failed()) return check.status();
  core::set_numbers(state->head, x, data_of(state));
  state->tokens = 0;
  return ATTEND_OK;
}

int attend_linear_state_is_finite(const attend_linear_state* state) {
  Check check;
  const Range range = check_state(check, state);
  return check.failed() ? -1 : core::are_finite(data_of(state), floats_of(range));
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
  if (!check.failed() && state != nullptr) check.call.from = check.check_own(state, false);
  const size_t needed = core::linear_head_floats(check.call.head_dim, check.call.value_dim) * sizeof(float);
  check_workspace(check, workspace, workspace_size, needed);
  if (check.failed()) return check.status();
  check.call.work = static_cast<float*>(workspace);
  linear->rule->run(check.call, int(linear->part), int(linear->parts));
  return ATTEND_OK;
}

attend_status attend_linear_save(const attend_linear_state* state, void* bytes, size_t size) {
  Memory check;
  const Range range = check_state(check, state);
  check.read(range);
  const size_t needed = range.end - range.begin - linear_head_bytes + sizeof(core::LinearHead);
  check.write(check.array(bytes, ptrdiff_t(needed), 8, ATTEND_ARG_BYTES), ATTEND_ARG_BYTES);
  check.require(size >= needed, ATTEND_TOO_SMALL, ATTEND_ARG_SIZE);
  if (check.failed()) return check.status();
  core::LinearHead head = state->head;
  head.tokens[0] = uint32_t(state->tokens), head.tokens[1] = uint32_t(state->tokens >> 32);
  core::save(head, data_of(state), static_cast<uint8_t*>(bytes));
  return ATTEND_OK;
}

attend_status attend_linear_load(attend_linear_state* state, const void* bytes, size_t size) {
  Memory check;
  check.write(check_state(check, state), ATTEND_ARG_STATE);
  check.require(size <= PTRDIFF_MAX, ATTEND_TOO_LARGE, ATTEND_ARG_SIZE);
  check.require(bytes != nullptr, ATTEND_MISSING, ATTEND_ARG_BYTES);
  check.read_last(check.array(bytes, ptrdiff_t(size), 8, ATTEND_ARG_BYTES));
  if (check.failed()) return check.status();
  core::LinearHead head = state->head;
  const core::LinearLoaded loaded = core::load(head, static_cast<const uint8_t*>(bytes), size, data_of(state));
  check.require(loaded != core::LinearLoaded::damaged, ATTEND_CORRUPT, ATTEND_ARG_BYTES);
  check.require(loaded != core::LinearLoaded::other_bits, ATTEND_OTHER_BITS, ATTEND_ARG_BYTES);
  check.require(loaded == core::LinearLoaded::ok, ATTEND_MISMATCH, ATTEND_ARG_STATE);
  if (!check.failed()) state->tokens = uint64_t(head.tokens[1]) << 32 | head.tokens[0];
  return check.status();
}

}  // extern "C"
