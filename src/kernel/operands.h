// The operands of the micro-kernels, as plain structs.
#ifndef ATTEND_KERNEL_OPERANDS_H
#define ATTEND_KERNEL_OPERANDS_H

#include <stddef.h>

#include "../../include/attend/core/options.h"

namespace attend::ATTEND_ISA {
namespace {

// Keys as the tiles read them: panels, [panel][head_dim][width] numbers, and the scales of the keys, if they have any.
struct Panels {
  const void* data;
  core::Format format;
  const float* scales;  // [keys, whole panels], or null; scores are multiplied by these as they are stored. For other formats
                        // than float32 only
  int head_dim;
  int width;  // panel_keys; few_panel_keys for up to four keys of an array, packed by pack_few
};

// Values of consecutive keys, `stride` numbers apart.
struct Values {
  const void* data;
  core::Format format;
  ptrdiff_t stride;
  int first_chain;  // keys until the first chain ends: 1 to chain_keys
};

// The weighted sums of rows, [value_dim] each, side by side. Before they have begun they hold nothing.
struct Sums {
  float* data;
  int value_dim;
  bool begun;
};

// The state of a row's online softmax.
struct SoftmaxState {
  float max;     // a score that the row has seen, rounded to a whole number; lowest_max when it has seen none
  float lowest;  // scores below have weight 0: see scale_by_low_bits
  float bias;    // likewise
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
