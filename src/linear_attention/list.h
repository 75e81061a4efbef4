// What each instruction set of backend/list.h defines for linear attention: attend::avx2::linear_attention, say, which the
// source linear_avx2.cpp fills, has a `Backend` too. The sets stand in the same order, so that one index chooses in both lists.
#pragma once

#include "../../include/attend/linear_attention/core_linear_attention.h"
#include "../backend/list.h"

// Calls a macro with the name of each entry point, its rule and decay. A program holds only those that it calls.
#define ATTEND_EACH_LINEAR_RULE(call)                                                                                         \
  call(linear, linear, per_head) call(gated, gated, per_head) call(gated_by_key, gated, per_key) call(delta, delta, per_head) \
      call(gated_delta, gated_delta, per_head) call(gated_delta_by_key, gated_delta, per_key)

#define ATTEND_LINEAR_RULE(name, rule, decay) \
  ATTEND_NOINLINE static void name(const core::LinearAttention& call, int part, int parts);
#define ATTEND_LINEAR_ATTENTION(isa, ...)                                                          \
  namespace isa::linear_attention {                                                                \
  struct Backend {                                                                                 \
    ATTEND_EACH_LINEAR_RULE(ATTEND_LINEAR_RULE)                                                    \
    ATTEND_NOINLINE static void convolve(const core::Convolution& call, int part, int parts);      \
    ATTEND_NOINLINE static void convolve_silu(const core::Convolution& call, int part, int parts); \
    ATTEND_NOINLINE static void decay_gates(const core::GateInputs& gates);                        \
    ATTEND_NOINLINE static void bounded_gates(const core::GateInputs& gates);                      \
  };                                                                                               \
  }

namespace attend {

// Lower logarithms are of gates that are 0; and the sum of a head, which a saved state has, is not lower: see gates.h.
constexpr float least_log_gate = -16.635532f;  // 24 ln 2

ATTEND_EACH_SET(ATTEND_LINEAR_ATTENTION, ATTEND_UNLISTED, ATTEND_LINEAR_ATTENTION)

namespace core {

// Calls with the tokens first … end - 1 of each document of a call that has any, and whether it begins there, from an empty
// state. A document behind the last token begins, too.
template <class Call, class Run>
ATTEND_ALWAYS_INLINE void for_each_document(const Call& c, Run run) {
  int first = c.first, document = 1;
  do {
    bool begins = false;
    for (; document < c.documents && c.boundaries[document] <= first; ++document) begins = true;
    const int end = document < c.documents ? c.boundaries[document] : c.tokens;
    run(begins, first, end);
    first = end;
  } while (document < c.documents);
}

#define ATTEND_LISTED_LINEAR(isa, ...) , isa::linear_attention::Backend
using LinearBackends = decltype(list_of<void ATTEND_EACH_SET(ATTEND_LISTED_LINEAR, ATTEND_UNLISTED, ATTEND_LISTED_LINEAR)>());
using ActiveLinear = Active<LinearBackends, active_index>;

}  // namespace core
}  // namespace attend
