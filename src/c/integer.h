// The internal interface of integer attention from C (attend_integer.h). They share no object with calls of floats
// but c_memory.cpp, so that a program without those holds none of their code.
#pragma once

#include "checks.h"

#include "../../include/attend/c/integer.h"
#include "../../include/attend/core/integer.h"

namespace attend {
namespace c_surface {

static_assert(ATTEND_INTEGER_MAX_KEYS == integer_keys, "the C header has how many keys a query may see");

// A call that was checked, but for parts and work memory.
struct IntegerCall {
  core::IntegerProblem first = {};  // batch row 0, with all keys and without key lengths; no constants, no scratch
  core::IntegerOptions options = {};
  Memory memory;
  ptrdiff_t batch;
  ptrdiff_t rows;  // of keys and values: as many as keys, or as the ring has
  // From one batch row to the next, in bytes; of masks in elements.
  ptrdiff_t query_step = 0, key_step = 0, value_step = 0, output_step = 0, key_scale_step = 0, value_scale_step = 0;
  ptrdiff_t mask_step = 0;
  const ptrdiff_t* key_lengths = nullptr;
  size_t scratch_bytes, workspace_bytes;
  bool plain;  // nothing is asked for that core::run does not have without options
  bool queries_last;

  __attribute__((always_inline)) IntegerCall() {}  // otherwise a function of its own at -Os, whose stack nobody states

  ptrdiff_t keys_of_row(ptrdiff_t row) const { return key_lengths != nullptr ? key_lengths[row] : first.keys; }
};

// Over a ring: it must still hold what queries see by position. Extents and windows were checked.
void check_ring(Check& check, const attend_integer_problem& problem, IntegerCall& call);

void check_integer(Check& check, const attend_integer_problem* problem, IntegerCall& call);

inline core::ScoreScale score_scale_of(const attend_integer_constants& constants) {
  return {constants.score_factor, constants.score_right, constants.score_left, constants.score_end};
}
inline core::OutputScale output_scale_of(const attend_integer_constants& constants) {
  return {constants.output_factor, constants.output_shift, constants.value_zero_point, constants.output_zero_point};
}

}  // namespace c_surface
}  // namespace attend
