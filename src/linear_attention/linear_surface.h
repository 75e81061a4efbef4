// The internal interface of the C surface of linear attention (attend/c/linear_attention.h): its states, and what calls of
// attend_linear_attention and of attend_causal_conv have in common.
#pragma once

#include "../../include/attend/c/linear_attention.h"
#include "../../include/attend/linear_attention/core_linear_integer.h"
#include "../c/surface.h"

// In memory: this, then the numbers of the core. Part 0 of a call writes tokens while other parts look at the head, which stays
// as it was made: its magic number, rule, decay and extents, and their check sum.
struct attend_linear_state {
  attend::core::LinearHead head;
  uint64_t tokens;
  uint32_t room[4];
};

namespace attend::c_surface {

// A call as it was checked, in floats or in integers.
struct LinearTensors : core::LinearExtents {
  core::Tensor<const void> query, key, value, gates, beta;
  core::Tensor<void> output;
  void* state;
  const void* from;
  void* work;
  float scale;
  const attend_linear_constants* constants;  // of integers, for all heads or for each
  int constants_stride;
};

}  // namespace attend::c_surface

struct attend_linear_rule {
  attend::LinearRule rule;
  attend::Decay decay;
  bool integers;
  void (*run)(const attend::c_surface::LinearTensors& call, int part, int parts);
};

namespace attend::c_surface {

// Linkers drop rules that no program initialises: each is a template's constant, with a section of its own for any flags.
template <LinearRule rule, Decay decay, bool integers, void (*run)(const LinearTensors& call, int part, int parts)>
struct LinearRuleOf {
  static const attend_linear_rule code;
};
template <LinearRule rule, Decay decay, bool integers, void (*run)(const LinearTensors& call, int part, int parts)>
const attend_linear_rule LinearRuleOf<rule, decay, integers, run>::code = {rule, decay, integers, run};

// What init functions of rules do.
attend_status init_linear(attend_linear_attention* linear, size_t size, const attend_linear_rule& rule);

template <class Data, class Given>
void set_tensor(core::Tensor<Data>& tensor, const core::Tensor<Given>& given) {
  tensor = {static_cast<Data*>(given.data), given.token_stride, given.head_stride};
}
// A call of the core, but for what floats and integers have apart.
template <class Call>
Call core_call(const LinearTensors& from) {
  Call call = {};
  static_cast<core::LinearExtents&>(call) = from;
  set_tensor(call.query, from.query), set_tensor(call.key, from.key), set_tensor(call.value, from.value);
  set_tensor(call.gates, from.gates), set_tensor(call.beta, from.beta), set_tensor(call.output, from.output);
  call.state = static_cast<decltype(call.state)>(from.state), call.from = static_cast<decltype(call.from)>(from.from);
  call.work = static_cast<decltype(call.work)>(from.work);
  return call;
}

constexpr size_t linear_head_bytes = sizeof(attend_linear_state);
static_assert(linear_head_bytes == 64 && alignof(attend_linear_state) <= config::alignment, "numbers behind it are aligned");

// The head of a state in memory; and the bytes of the state, 0 where there cannot be such a one.
core::LinearHead linear_head_of(unsigned rule, unsigned decay, int heads, int rows, int columns);
size_t bytes_of_state(const core::LinearHead& head);

inline float* data_of(const attend_linear_state* state) {
  return reinterpret_cast<float*>(const_cast<attend_linear_state*>(state) + 1);
}
Range check_state(Check& check, const attend_linear_state* state);

// A call that is being checked, and the head that its states have.
struct StateCall : Memory {
  // Which tokens there are, and the parts of the call, of either struct.
  template <class Given, class Call>
  void check_sequence(const Given& given, Call& call) {
    const ptrdiff_t count = given.count == ATTEND_ALL_TOKENS ? given.tokens : given.count;
    within(given.tokens, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_TOKENS);
    within(count, 0, given.tokens, ATTEND_ARG_COUNT);
    within(given.first, 0, count, ATTEND_ARG_FIRST);
    check_parts(*this, {given.part, given.parts}, 0, 0);
    if (failed()) return;
    call.first = int(given.first), call.tokens = int(count);
    call.boundaries = given.documents.boundaries, call.documents = int(given.documents.count);
    check_documents(given.documents, count);
  }
  template <class Array>
  Extent extent(const Array& array, ptrdiff_t tokens, int heads, int width, attend_argument argument) {
    require(array.batch_stride == 0 || array.batch_stride == ATTEND_DENSE, ATTEND_NO_EFFECT, argument);
    return extent_of({1, tokens, heads, width}, {0, array.token_stride, array.head_stride}, Axes::token_head);
  }
  void check_documents(const attend_documents& given, ptrdiff_t count);

  // Makes an empty state of memory.
  attend_status make(void* memory, size_t memory_size, attend_linear_state** state);
  // The numbers of a state that goes with the call.
  float* own(const attend_linear_state* state, bool moves);

  core::LinearHead head = {};
};

}  // namespace attend::c_surface
