// Rotary positions of the C surface.
#include "layers.h"

namespace attend {
namespace c_surface {
namespace {

void check_pairs(Check& check, ptrdiff_t rotary_dim, int pairs) {
  check.within(rotary_dim, 2, ATTEND_MAX_WIDTH, ATTEND_ARG_ROTARY_DIM);
  check.require(rotary_dim % 2 == 0, ATTEND_OUT_OF_RANGE, ATTEND_ARG_ROTARY_DIM);
  check.require(pairs == ATTEND_NEIGHBOURS || pairs == ATTEND_HALVES, ATTEND_UNKNOWN, ATTEND_ARG_PAIRS);
}

// Checks rotary_dim / 2 turns, which on some targets need less alignment than their size.
Range check_turns(Check& check, const uint64_t* turns, ptrdiff_t rotary_dim) {
  check.require(aligned(turns, alignof(uint64_t)), ATTEND_UNALIGNED, ATTEND_ARG_TURNS);
  return check.array(turns, rotary_dim, 4 * int(sizeof *turns), ATTEND_ARG_TURNS);
}

}  // namespace

void check_rotary(Check& check, const Memory& memory, const attend_rotary* rotary, ptrdiff_t head_dim) {
  memory.read_last(check, check_structs(check, rotary, 1, ATTEND_ARG_ROTARY));
  if (check.failed()) return;
  check_pairs(check, rotary->rotary_dim, rotary->pairs);
  check.require(rotary->rotary_dim <= head_dim, ATTEND_MISMATCH, ATTEND_ARG_ROTARY_DIM);
  memory.read_last(check, check_turns(check, rotary->turns, rotary->rotary_dim));
  check.require(check.failed() || rotary->turns[0] != 0, ATTEND_CORRUPT, ATTEND_ARG_TURNS);
}

core::Rotation rotation_of(const attend_rotary& rotary, float* first, int heads, ptrdiff_t head_stride) {
  const int pairs = int(rotary.rotary_dim / 2);
  return {first, head_stride, heads, pairs, rotary.pairs == ATTEND_NEIGHBOURS ? 1 : pairs, nullptr, nullptr};
}

}  // namespace c_surface
}  // namespace attend

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_rotary_init(attend_rotary* rotary, uint64_t* turns, ptrdiff_t rotary_dim, int pairs, float base,
                                 float scaling_factor) {
  Check check;
  check_pairs(check, rotary_dim, pairs);
  check.require(core::is_rotary_base(base, 1.0f), ATTEND_OUT_OF_RANGE, ATTEND_ARG_BASE);
  check.require(core::is_rotary_base(2.0f, scaling_factor), ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALING_FACTOR);
  Memory memory;
  memory.write(check, check_structs(check, rotary, 1, ATTEND_ARG_ROTARY), ATTEND_ARG_ROTARY);
  memory.write(check, check_turns(check, turns, rotary_dim), ATTEND_ARG_TURNS);
  if (check.failed()) return check.status();
  core::rotary_turns(base, scaling_factor, int(rotary_dim / 2), turns);
  *rotary = {turns, rotary_dim, pairs};
  return ATTEND_OK;
}

attend_status attend_rotate(const attend_rotary* rotary, const attend_output* x, ptrdiff_t tokens, ptrdiff_t heads,
                            ptrdiff_t head_dim, ptrdiff_t position) {
  Check check;
  check.within(tokens, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_TOKENS);
  check.within(heads, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_HEADS);
  check.within(head_dim, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_HEAD_DIM);
  const Range range = check_structs(check, x, 1, ATTEND_ARG_X);
  if (check.failed()) return check.status();
  check.within(position, 0, INT32_MAX - tokens, ATTEND_ARG_POSITION);
  check.require(x->batch_stride == 0 || x->batch_stride == ATTEND_DENSE, ATTEND_NO_EFFECT, ATTEND_ARG_X);
  const Extent extent = extent_of({1, tokens, heads, head_dim}, {0, x->token_stride, x->head_stride}, Axes::token_head);
  Memory memory;
  memory.write(check, check.place_apart(x->data, extent, float_bits, ATTEND_ARG_X).range, ATTEND_ARG_X);
  memory.read_last(check, range);
  check_rotary(check, memory, rotary, head_dim);
  if (check.failed()) return check.status();
  const core::Rotation rotation = rotation_of(*rotary, static_cast<float*>(x->data), int(heads), extent.strides.head);
  core::rotate_at(rotation, rotary->turns, int(position), int(tokens), extent.strides.token);
  return ATTEND_OK;
}

}  // extern "C"
