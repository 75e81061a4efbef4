// Linear attention: which backend computes it, and states as bytes.
#include "list.h"

#include "../../include/attend/core/version.h"
#include "../../include/attend/linear_attention/core_linear_integer.h"
#include "../call/saved_words.h"

namespace attend::core {
namespace {

template <LinearRule rule, Decay decay>
struct Run;
#define ATTEND_RUN(name, rule, decay)          \
  template <>                                  \
  struct Run<LinearRule::rule, Decay::decay> { \
    ATTEND_ENTRY_POINT(EntryPoint, name)       \
  };
ATTEND_EACH_LINEAR_RULE(ATTEND_RUN)
#undef ATTEND_RUN

constexpr size_t linear_head_words = sizeof(LinearHead) / 4;
static_assert(linear_head_words == 10, "LinearHead has no padding");

ATTEND_ENTRY_POINT(Convolve, convolve)
ATTEND_ENTRY_POINT(ConvolveSilu, convolve_silu)
ATTEND_ENTRY_POINT(DecayGates, decay_gates)
ATTEND_ENTRY_POINT(BoundedGates, bounded_gates)

// Whether a state can have the sums that lie behind the matrices: the same number in all panels of a head, in its range.
bool is_state(const LinearHead& head, const uint8_t* bytes, const float*) {
  const size_t panels = size_t(panel_count(head.value_dim)), count = size_t(head.value_heads) * panels;
  const uint8_t* const sums = bytes + 4 * linear_head_floats(head.head_dim, head.value_dim) * size_t(head.value_heads);
  bool valid = true;
  for (size_t i = 0; i < count; ++i) {
    const float sum = bits_to<float>(word_at(sums + 4 * i));
    valid = valid && sum <= 0.0f && sum >= least_log_gate && word_at(sums + 4 * i) == word_at(sums + 4 * (i - i % panels));
  }
  return valid;
}
bool is_state(const LinearHead& head, const uint8_t* bytes, const int32_t*) {
  const size_t head_numbers = linear_head_floats(head.head_dim, head.value_dim);
  const uint8_t* scaled = bytes + 4 * head_numbers * size_t(head.value_heads);
  bool valid = true;
  for (int h = 0; h < head.value_heads; ++h, bytes += 4 * head_numbers) {
    const uint8_t* numbers = bytes;
    for (int column = 0; column < head.value_dim; column += panel_keys, scaled += 12) {
      const uint32_t bound = word_at(scaled + 4);
      valid = valid && is_linear_scaling(int32_t(word_at(scaled)), bound, word_at(scaled + 8));
      const size_t count = size_t(head.head_dim) * size_t(detail::smaller(panel_keys, head.value_dim - column));
      for (size_t i = 0; i < count; ++i, numbers += 4) {
        const uint32_t number = word_at(numbers), size = number ^ (0u - (number >> 31));
        valid = valid && size <= bound && size < 1u << 30;
      }
    }
  }
  return valid;
}

uint32_t canonical(float number) {
  const uint32_t bits = bits_to<uint32_t>(number), size = bits & 0x7fffffffu;
  return size > 0x7f800000u ? 0x7fc00000u : size == 0 ? 0 : bits;
}
// Word i of a saved state.
uint32_t word_of(const float* state, size_t i) { return canonical(state[i]); }
uint32_t word_of(const int32_t* state, size_t i) { return uint32_t(state[i]); }
uint32_t word_of(const int8_t* state, size_t i) { return word_at(reinterpret_cast<const uint8_t*>(state) + 4 * i); }
template <class Number>
void set_word(Number* state, size_t i, uint32_t word) {
  state[i] = bits_to<Number>(word);
}
void set_word(int8_t* state, size_t i, uint32_t word) { put_word(reinterpret_cast<uint8_t*>(state) + 4 * i, word); }

template <class Number>
void save_state(LinearHead& head, const Number* state, uint8_t* bytes) {
  const size_t count = saved_numbers(head);
  for (size_t i = 0; i < count; ++i) put_word(bytes + 4 * (linear_head_words + i), word_of(state, i));
  head.magic = linear_magic, head.bits_version = ATTEND_BITS_VERSION;
  uint32_t words[linear_head_words];
  for (int pass = 0; pass < 2; ++pass) {
    ATTEND_MEMCPY(words, &head, sizeof head);
    for (size_t i = 0; i < linear_head_words; ++i) put_word(bytes + 4 * i, words[i]);
    head.check = check_of(bytes, linear_head_words + count, linear_magic);
  }
}

template <class Number>
LinearLoaded load_state(LinearHead& head, const uint8_t* bytes, size_t size, Number* state) {
  if (size < sizeof head) return LinearLoaded::damaged;
  uint32_t words[linear_head_words];
  for (size_t i = 0; i < linear_head_words; ++i) words[i] = word_at(bytes + 4 * i);
  LinearHead saved;
  ATTEND_MEMCPY(&saved, words, sizeof saved);
  if (saved.magic != linear_magic) return LinearLoaded::damaged;
  if (saved.bits_version != ATTEND_BITS_VERSION) return LinearLoaded::other_bits;
  const bool same = saved.rule == head.rule && saved.decay == head.decay && saved.value_heads == head.value_heads &&
                    saved.head_dim == head.head_dim && saved.value_dim == head.value_dim;
  if (!same) return LinearLoaded::other_shape;
  const size_t count = saved_numbers(head);
  if (size / 4 < linear_head_words + count || saved.check != check_of(bytes, linear_head_words + count, linear_magic))
    return LinearLoaded::damaged;
  if constexpr (sizeof(Number) > 1) {  // numbers of one byte are of convolutions alone
    if (head.rule % integer_rule != conv_rule && !is_state(head, bytes + sizeof head, state)) return LinearLoaded::damaged;
  }
  for (size_t i = 0; i < count; ++i) set_word(state, i, word_at(bytes + 4 * (linear_head_words + i)));
  head = saved;
  return LinearLoaded::ok;
}

}  // namespace

template <LinearRule rule, Decay decay>
void run_linear_attention(const LinearAttention& call, int part, int parts) {
  ActiveLinear::call<Run<rule, decay>::template EntryPoint>(call, part, parts);
}
#define ATTEND_RUN(name, rule, decay) \
  template void run_linear_attention<LinearRule::rule, Decay::decay>(const LinearAttention&, int, int);
ATTEND_EACH_LINEAR_RULE(ATTEND_RUN)
#undef ATTEND_RUN

template <ConvActivation activation>
void run_convolution(const Convolution& call, int part, int parts) {
  if constexpr (activation == ConvActivation::silu) {
    ActiveLinear::call<ConvolveSilu>(call, part, parts);
  } else {
    ActiveLinear::call<Convolve>(call, part, parts);
  }
}
template void run_convolution<ConvActivation::identity>(const Convolution&, int, int);
template void run_convolution<ConvActivation::silu>(const Convolution&, int, int);

void decay_gates(const GateInputs& gates) { ActiveLinear::call<DecayGates>(gates); }
void bounded_gates(const GateInputs& gates) { ActiveLinear::call<BoundedGates>(gates); }

void save(LinearHead& head, const float* state, uint8_t* bytes) { save_state(head, state, bytes); }
void save(LinearHead& head, const void* state, uint8_t* bytes) { save_state(head, static_cast<const int32_t*>(state), bytes); }
LinearLoaded load(LinearHead& head, const uint8_t* bytes, size_t size, float* state) {
  return load_state(head, bytes, size, state);
}
LinearLoaded load(LinearHead& head, const uint8_t* bytes, size_t size, void* state) {
  return load_state(head, bytes, size, static_cast<int32_t*>(state));
}

void save(LinearHead& head, const int8_t* state, uint8_t* bytes) { save_state(head, state, bytes); }
LinearLoaded load(LinearHead& head, const uint8_t* bytes, size_t size, int8_t* state) {
  return load_state(head, bytes, size, state);
}

bool are_finite(const LinearHead& head, const float* state) { return are_finite(state, saved_numbers(head)); }
bool are_finite(const LinearHead& head, const void* state) {
  const int32_t *const numbers = static_cast<const int32_t*>(state), *const end = numbers + saved_numbers(head);
  const size_t matrices = linear_head_floats(head.head_dim, head.value_dim) * size_t(head.value_heads);
  bool finite = true;
  for (const int32_t* scaled = numbers + matrices; scaled < end; scaled += 3)
    finite = finite && *scaled > least_linear_exponent;
  return finite;
}
bool are_finite(const float* numbers, size_t count) {
  bool finite = true;
  for (size_t i = 0; i < count; ++i) finite = finite && is_finite(numbers[i]);
  return finite;
}

}  // namespace attend::core
