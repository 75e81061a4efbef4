// Bytes become a call of linear attention, in floats or in integers, or of a convolution, and changes of it: whatever comes of
// it, the call answers, and touches nothing, or its outputs and its state and nothing else. Then the bytes of its state are
// changed: those with a check sum of theirs too are refused, or are a state that calls take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../support/random.h"
#include "attend/c/linear_attention.h"
#include "attend/core/saved.h"
#include "c_reach.h"

namespace fuzz {

using attend_test::Random;

struct LinearCounts {
  long refused = 0, run = 0, loaded = 0, damaged = 0;
};

// In the arena: inputs, outputs, what else there is to point to, a state and work memory.
constexpr std::size_t linear_inputs_at = 0, linear_input_bytes = 2048, linear_output_at = 10240, linear_rest_at = 14336,
                      linear_state_at = 16384, linear_work_at = 24576;

template <class Number>
Number* place_in_arena(std::size_t at) {
  return reinterpret_cast<Number*>(arena + at);
}

// What calls of both structs have in common; strides are written out in what is returned.
struct LinearUse {
  attend_input tensors[7];  // the last one is the output
  std::ptrdiff_t heads[7], widths[7];
  int bits[7];
};

// Overwrites words of a struct behind its size, but for one.
template <class Struct>
void change_words(Struct& given, std::size_t but, Random& random) {
  unsigned char* const bytes = reinterpret_cast<unsigned char*>(&given);
  for (int changes = random.between(0, 2); changes > 0; --changes) {
    const std::size_t word = std::size_t(random.between(1, int(sizeof given / 8) - 1));
    const int kind = random.between(0, 7);
    std::int64_t number = random.between(-3, 20);
    if (kind == 5) number = std::int64_t(std::uint64_t(random.bits()) << 32 | random.bits());
    if (kind >= 6) number = std::int64_t(reinterpret_cast<std::uintptr_t>(arena) + std::size_t(random.between(0, 1 << 14)));
    if (word * 8 != but) std::memcpy(bytes + word * 8, &number, 8);
  }
}

// Lists and constants that the call would read are in the arena, or there are none.
inline void keep_documents(attend_documents& documents) {
  const std::ptrdiff_t count = documents.count;
  const bool there = count >= 0 && count < 1024 && in_arena(documents.boundaries, {1, 1, 1}, {0, 0, 0}, count + 1, 32);
  if (!there) documents.boundaries = nullptr;
}

// Whether every tensor lies in the arena, with dense strides written out; marks what may be written.
inline bool are_in_arena(const LinearUse& use, std::ptrdiff_t tokens, std::vector<std::size_t>& written) {
  for (int i = 0; i < 7; ++i) {
    const attend_input& t = use.tensors[i];
    if (use.widths[i] == 0) continue;
    if (tokens < 0 || tokens > 100 || use.heads[i] < 1 || use.heads[i] > 100 || use.widths[i] < 0 || use.widths[i] > 1000)
      return false;
    const std::ptrdiff_t head = t.head_stride == ATTEND_DENSE ? use.widths[i] : t.head_stride;
    // A set stride of heads and a dense one of tokens is as far as either says.
    const std::ptrdiff_t row = use.heads[i] * use.widths[i], far = head < 0 || head > 1 << 20 ? row : use.heads[i] * head;
    const std::ptrdiff_t token = t.token_stride == ATTEND_DENSE ? (row > far ? row : far) : t.token_stride;
    const bool exists = tokens > 0 || t.token_stride == 0;  // weights are read without tokens too
    if (exists && !in_arena(t.data, {1, tokens, use.heads[i]}, {0, token, head}, use.widths[i], use.bits[i])) return false;
    if (i < 6) continue;
    const std::ptrdiff_t size = use.bits[i] / 8, first = static_cast<const unsigned char*>(t.data) - arena;
    for (std::ptrdiff_t n = 0; n < tokens * use.heads[i]; ++n) {
      const std::ptrdiff_t at = first + (n / use.heads[i] * token + n % use.heads[i] * head) * size;
      for (std::ptrdiff_t b = 0; b < use.widths[i] * size; ++b) written.push_back(std::size_t(at + b));
    }
  }
  return true;
}

// The saved bytes of a state, after changes.
inline void fuzz_linear_bytes(attend_linear_state* state, std::size_t state_bytes, Random& random, LinearCounts& counts) {
  std::vector<unsigned char> bytes(state_bytes - 24), again(state_bytes - 24);
  REQUIRE(attend_linear_save(state, bytes.data(), bytes.size()) == ATTEND_OK);
  const std::vector<unsigned char> before(arena, arena + arena_bytes), whole = bytes;
  const bool sums_up = random.between(0, 1) == 1;
  for (int changes = random.between(1, 3); changes > 0; --changes) {
    bytes[std::size_t(random.between(0, int(bytes.size()) - 1))] ^= static_cast<unsigned char>(random.between(1, 255));
  }
  const bool same = bytes == whole;
  if (sums_up) {
    std::uint32_t sum = 0x4c537441, words[2];
    for (std::size_t i = 0; i < bytes.size() / 4; ++i) {
      const unsigned char* const w = &bytes[4 * i];
      words[0] = w[0] | w[1] << 8 | w[2] << 16 | std::uint32_t(w[3]) << 24;
      if (i != 2) sum = attend::core::hash_with(sum, words[0]);
    }
    for (int i = 0; i < 4; ++i) bytes[std::size_t(8 + i)] = static_cast<unsigned char>(sum >> 8 * i);
  }
  const attend_status status = attend_linear_load(state, bytes.data(), bytes.size());
  REQUIRE(sums_up || same || status != ATTEND_OK);
  if (status != ATTEND_OK) {
    REQUIRE(std::memcmp(arena, before.data(), arena_bytes) == 0);
    ++counts.damaged;
    return;
  }
  REQUIRE(attend_linear_save(state, again.data(), again.size()) == ATTEND_OK);
  REQUIRE(attend_linear_load(state, again.data(), again.size()) == ATTEND_OK);
  ++counts.loaded;
}

// A call without a fault, its struct, and how its memory is found. Run: 0 run, 1 append, 2 run_from.
struct LinearAttentionCall {
  attend_linear_attention given;
  bool integers, gated, by_key, delta;

  explicit LinearAttentionCall(Random& random) {
    const int rule = random.between(0, 11), of = rule % 6;
    attend_status (*const inits[])(attend_linear_attention*, std::size_t) = {attend_linear_rule_init,
                                                                             attend_gated_rule_init,
                                                                             attend_gated_by_key_rule_init,
                                                                             attend_delta_rule_init,
                                                                             attend_gated_delta_rule_init,
                                                                             attend_gated_delta_by_key_rule_init,
                                                                             attend_integer_linear_rule_init,
                                                                             attend_integer_gated_rule_init,
                                                                             attend_integer_gated_by_key_rule_init,
                                                                             attend_integer_delta_rule_init,
                                                                             attend_integer_gated_delta_rule_init,
                                                                             attend_integer_gated_delta_by_key_rule_init};
    REQUIRE(inits[rule](&given, sizeof given) == ATTEND_OK);
    integers = rule >= 6, gated = of == 1 || of == 2 || of >= 4, by_key = of == 2 || of == 5, delta = of >= 3;
    given.kv_heads = random.between(1, 2), given.value_heads = given.kv_heads * random.between(1, 3 - int(given.kv_heads));
    given.query_heads = given.value_heads * random.between(1, 2);
    given.head_dim = random.between(1, 9), given.value_dim = random.between(1, 18), given.tokens = random.between(0, 9);
    given.query.data = arena + linear_inputs_at, given.key.data = arena + linear_input_bytes;
    given.value.data = arena + 2 * linear_input_bytes, given.output.data = arena + linear_output_at;
    if (gated) (integers ? given.decay : given.log_decay).data = arena + 3 * linear_input_bytes;
    if (delta) given.beta.data = arena + 4 * linear_input_bytes;
    attend_linear_constants* const constants = place_in_arena<attend_linear_constants>(linear_rest_at);
    for (int i = 0; i < 2; ++i) {
      constants[i] = {std::int32_t(1u << 30 | random.bits() >> 2), random.between(-1, 31),
                      std::int32_t(1u << 30 | random.bits() >> 2), random.between(5, 39)};
    }
    if (integers) (random.between(0, 1) == 1 ? given.constants : given.head_constants) = constants;
  }
  std::size_t rule_at() const { return offsetof(attend_linear_attention, rule); }
  std::size_t state_size() const { return attend_linear_state_size(&given); }
  attend_status new_state(void* memory, std::size_t size, attend_linear_state** state) const {
    return attend_linear_state_init(&given, memory, size, state);
  }
  void keep() {
    keep_documents(given.documents);
    const std::ptrdiff_t heads = given.value_heads < 0 || given.value_heads > 1000 ? 1000 : given.value_heads;
    if (!in_arena(given.constants, {1, 1, 1}, {0, 0, 0}, 4, 32)) given.constants = nullptr;
    if (!in_arena(given.head_constants, {1, 1, 1}, {0, 0, 0}, 4 * heads, 32)) given.head_constants = nullptr;
  }
  LinearUse use(bool reads) const {
    const int bits = integers ? 8 : 32, gate_bits = integers ? 16 : 32;
    const std::ptrdiff_t values = given.value_heads == ATTEND_KV_HEADS ? given.kv_heads : given.value_heads,
                         gates = !gated   ? 0
                                 : by_key ? given.head_dim
                                          : 1,
                         most = given.query_heads > values ? given.query_heads : values;
    const attend_input output = {given.output.data, given.output.batch_stride, given.output.token_stride,
                                 given.output.head_stride};
    return {
        {reads ? given.query : given.key, given.key, given.value, integers ? given.decay : given.log_decay, given.beta,
         given.key, output},
        {reads ? given.query_heads : given.kv_heads, given.kv_heads, values, values, values, given.kv_heads, most},
        {given.head_dim, given.head_dim, given.value_dim, gates, delta ? 1 : 0, given.head_dim, reads ? given.value_dim : 0},
        {bits, bits, bits, gate_bits, gate_bits, bits, bits}};
  }
  attend_status run(int kind, attend_linear_state* state, std::size_t work) const {
    if (kind == 0) return attend_linear_run(&given, state);
    if (kind == 1) return attend_linear_append(&given, state);
    return attend_linear_run_from(&given, state, work == 0 ? nullptr : arena + linear_work_at, work);
  }
};

struct ConvolutionCall {
  attend_causal_conv given;

  explicit ConvolutionCall(Random& random) {
    REQUIRE(attend_causal_conv_init(&given, sizeof given) == ATTEND_OK);
    given.channels = random.between(1, 40), given.width = random.between(2, 9), given.tokens = random.between(0, 9);
    given.input.data = arena + linear_inputs_at, given.output.data = arena + linear_output_at;
    given.weights = place_in_arena<float>(2 * linear_input_bytes), given.activation = random.between(0, 1);
    if (random.between(0, 1) == 1) given.bias = place_in_arena<float>(linear_rest_at);
  }
  std::size_t rule_at() const { return 0; }
  std::size_t state_size() const { return attend_conv_state_size(&given); }
  attend_status new_state(void* memory, std::size_t size, attend_linear_state** state) const {
    return attend_conv_state_init(&given, memory, size, state);
  }
  void keep() { keep_documents(given.documents); }
  LinearUse use(bool reads) const {
    const attend_input output = {given.output.data, 0, given.output.token_stride, 0},
                       input = {given.input.data, 0, given.input.token_stride, 0};
    const std::ptrdiff_t filter = given.channels < 1 || given.channels > 1000 || given.width < 1 || given.width > 100
                                      ? 1 << 20
                                      : given.channels * given.width;
    const attend_input weights = {given.weights, 0, 0, 0}, bias = {given.bias, 0, 0, 0};
    return {{input, weights, bias, input, input, input, output},
            {1, 1, 1, 1, 1, 1, 1},
            {given.channels, reads ? filter : 0, given.bias != nullptr && reads ? given.channels : 0, 0, 0, 0,
             reads ? given.channels : 0},
            {32, 32, 32, 32, 32, 32, 32}};
  }
  attend_status run(int kind, attend_linear_state* state, std::size_t work) const {
    if (kind == 0) return attend_causal_conv_run(&given, state);
    if (kind == 1) return attend_causal_conv_append(&given, state);
    if (work == 0) return attend_causal_conv_run(&given, nullptr);  // without memory a call is to be refused
    return attend_causal_conv_run_from(&given, state);
  }
};

template <class Call>
void fuzz_linear_call(Random& random, LinearCounts& counts) {
  Random numbers(random.bits());
  for (std::size_t i = 0; i < linear_state_at; i += 4) {
    const float number = numbers.uniform();
    std::memcpy(arena + i, &number, sizeof number);
  }
  Call call(random);
  const Call right = call;
  const std::size_t state_bytes = call.state_size();
  attend_linear_state* state = nullptr;
  REQUIRE(state_bytes >= 64 && state_bytes <= linear_work_at - linear_state_at);
  REQUIRE(call.new_state(arena + linear_state_at, state_bytes, &state) == ATTEND_OK);
  REQUIRE(right.run(1, state, 0) == ATTEND_OK);
  for (int times = random.between(0, 2); times > 0; --times) {
    fuzz_linear_bytes(state, state_bytes, random, counts);
    REQUIRE(right.run(0, state, 0) == ATTEND_OK);  // whatever was loaded
  }
  change_words(call.given, call.rule_at(), random);
  call.keep();
  if (random.between(0, 7) == 0) arena[linear_state_at + std::size_t(random.between(0, 63))] ^= 16;
  const int kind = random.between(0, 2);
  std::vector<std::size_t> written;
  const bool there = are_in_arena(call.use(kind != 1), call.given.tokens, written);
  std::memcpy(untouched, arena, arena_bytes);
  const attend_status status = there ? call.run(kind, state, 4096) : call.run(kind, nullptr, 0);
  if (status != ATTEND_OK || !there) {
    REQUIRE(error_of(status) > 0 && argument_of(status) > 0);
    REQUIRE(std::memcmp(arena, untouched, arena_bytes) == 0);
    ++counts.refused;
    return;
  }
  const auto put_back = [](std::size_t at, std::size_t count) { std::memcpy(arena + at, untouched + at, count); };
  if (kind != 2) put_back(linear_state_at, state_bytes);
  if (kind == 2) put_back(linear_work_at, 4096);
  for (const std::size_t at : written) put_back(at, 1);
  REQUIRE(std::memcmp(arena, untouched, arena_bytes) == 0);
  ++counts.run;
}

inline void fuzz_linear(Random& random, LinearCounts& counts) {
  random.between(0, 3) == 0 ? fuzz_linear_call<ConvolutionCall>(random, counts)
                            : fuzz_linear_call<LinearAttentionCall>(random, counts);
}

}  // namespace fuzz
