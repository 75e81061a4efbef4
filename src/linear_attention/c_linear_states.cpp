// States of the C surface of linear attention and of convolutions (attend/c/linear_attention.h).
#include "linear_surface.h"

namespace attend::c_surface {
namespace {

constexpr uint32_t linear_state_magic = 0x53437441;  // "AtCS"

uint32_t check_of_state(const core::LinearHead& head) {
  const int32_t fields[] = {int32_t(head.rule), int32_t(head.decay), head.value_heads, head.head_dim, head.value_dim};
  return check_sum(linear_state_magic, fields, 5);
}

bool is_in_integers(const attend_linear_state* state) { return state->head.rule >= core::integer_rule; }
void clear_state(attend_linear_state* state, size_t bytes) {
  state->tokens = 0;
  ATTEND_MEMSET(data_of(state), 0, bytes - linear_head_bytes);
}

// The array of all numbers of a state.
Range numbers_of(Check& check, const attend_linear_state* state, const void* numbers, attend_argument argument) {
  if (check.failed()) return {};
  const core::LinearHead& of = state->head;
  const ptrdiff_t rows = of.head_dim - (of.rule == core::conv_rule);
  return check.array(numbers, of.value_heads * rows * of.value_dim, float_bits, argument);
}

}  // namespace

core::LinearHead linear_head_of(unsigned rule, unsigned decay, int heads, int rows, int columns) {
  core::LinearHead head = {linear_state_magic, 0, 0, rule, decay, heads, rows, columns, {0, 0}};
  head.check = check_of_state(head);
  return head;
}

size_t bytes_of_state(const core::LinearHead& head) {
  const auto possible = [](int32_t extent) { return extent >= 1 && extent <= ATTEND_MAX_WIDTH; };
  if (!possible(head.value_heads) || !possible(head.head_dim) || !possible(head.value_dim)) return 0;
  const bool is_conv = head.rule == core::conv_rule;
  const uint64_t rows = uint64_t(head.head_dim) - is_conv, matrix = rows * uint64_t(head.value_dim);
  const bool integers = head.rule >= core::integer_rule;
  const uint64_t panels = is_conv ? 0 : uint64_t(core::panel_count(head.value_dim)) * (integers ? 3 : 1);
  const uint64_t numbers = uint64_t(head.value_heads) * (matrix + panels);
  const bool fits = core::is_linear_head(1, 1, head.head_dim, head.value_dim) &&
                    (!integers || head.head_dim <= core::most_linear_dims) &&
                    numbers <= (PTRDIFF_MAX - linear_head_bytes) / sizeof(float);
  return fits ? linear_head_bytes + size_t(numbers) * sizeof(float) : 0;
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

void StateCall::check_documents(const attend_documents& given, ptrdiff_t count) {
  const auto [boundaries, documents] = given;
  if (boundaries == nullptr) return require(documents == 0, ATTEND_NO_EFFECT, ATTEND_ARG_DOCUMENTS);
  within(documents, count > 0 ? 1 : 0, ATTEND_MAX_TOKENS, ATTEND_ARG_DOCUMENTS);
  if (!failed()) read(array(boundaries, documents + 1, 32, ATTEND_ARG_DOCUMENTS));
  for (ptrdiff_t i = 0; !failed() && i <= documents; ++i)
    require(i == 0 ? boundaries[0] == 0 : boundaries[i] >= boundaries[i - 1], ATTEND_OUT_OF_RANGE, ATTEND_ARG_DOCUMENTS);
  require(failed() || boundaries[documents] == count, ATTEND_MISMATCH, ATTEND_ARG_DOCUMENTS);
}

attend_status StateCall::make(void* memory, size_t memory_size, attend_linear_state** state) {
  if (failed()) return status();
  const size_t bytes = bytes_of_state(head);
  write(this->memory(memory, memory_size, bytes, ATTEND_ARG_MEMORY), ATTEND_ARG_MEMORY);
  if (failed()) return status();
  attend_linear_state* const made = static_cast<attend_linear_state*>(memory);
  made->head = head;
  clear_state(made, bytes);
  if (state != nullptr) *state = made;
  return ATTEND_OK;
}

float* StateCall::own(const attend_linear_state* state, bool moves) {
  const Range range = check_state(*this, state);
  if (failed()) return nullptr;
  const core::LinearHead& of = state->head;
  const bool same = of.rule == head.rule && of.decay == head.decay && of.value_heads == head.value_heads &&
                    of.head_dim == head.head_dim && of.value_dim == head.value_dim;
  require(same, ATTEND_MISMATCH, ATTEND_ARG_STATE);
  moves ? write(range, ATTEND_ARG_STATE) : read(range);
  return data_of(state);
}

}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

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

attend_status attend_linear_state_numbers(const attend_linear_state* state, void* result) {
  Memory check;
  check.read(check_state(check, state));
  check.write(numbers_of(check, state, result, ATTEND_ARG_RESULT), ATTEND_ARG_RESULT);
  if (check.failed()) return check.status();
  const core::LinearHead& of = state->head;
  if (of.rule == core::conv_rule) {
    ATTEND_MEMCPY(result, data_of(state), size_t(of.head_dim - 1) * size_t(of.value_dim) * sizeof(float));
  } else {
    core::get_numbers(of, data_of(state), static_cast<float*>(result));
  }
  return ATTEND_OK;
}

attend_status attend_linear_state_set_numbers(attend_linear_state* state, const float* x) {
  Memory check;
  check.write(check_state(check, state), ATTEND_ARG_STATE);
  check.read(numbers_of(check, state, x, ATTEND_ARG_X));
  check.require(check.failed() || state->head.rule < core::conv_rule, ATTEND_MISMATCH, ATTEND_ARG_STATE);
  if (check.failed()) return check.status();
  core::set_numbers(state->head, x, data_of(state));
  state->tokens = 0;
  return ATTEND_OK;
}

int attend_linear_state_is_finite(const attend_linear_state* state) {
  Check check;
  check_state(check, state);
  if (check.failed()) return -1;
  const void* const integers = data_of(state);
  return is_in_integers(state) ? core::are_finite(state->head, integers) : core::are_finite(state->head, data_of(state));
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
  uint8_t* const to = static_cast<uint8_t*>(bytes);
  const void* const integers = data_of(state);
  is_in_integers(state) ? core::save(head, integers, to) : core::save(head, data_of(state), to);
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
  const uint8_t* const from = static_cast<const uint8_t*>(bytes);
  void* const integers = data_of(state);
  const core::LinearLoaded loaded =
      is_in_integers(state) ? core::load(head, from, size, integers) : core::load(head, from, size, data_of(state));
  check.require(loaded != core::LinearLoaded::damaged, ATTEND_CORRUPT, ATTEND_ARG_BYTES);
  check.require(loaded != core::LinearLoaded::other_bits, ATTEND_OTHER_BITS, ATTEND_ARG_BYTES);
  check.require(loaded == core::LinearLoaded::ok, ATTEND_MISMATCH, ATTEND_ARG_STATE);
  if (!check.failed()) state->tokens = uint64_t(head.tokens[1]) << 32 | head.tokens[0];
  return check.status();
}

}  // extern "C"
