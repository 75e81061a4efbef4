// Packing weights from C.
#include "layers.h"

using namespace attend;
using namespace attend::c_surface;

namespace {

struct PackWeights {
  template <core::Format format>
  void run_with() const {
    core::pack_weights<format>(weights.data, weights.inputs, int(weights.outputs), int(weights.inputs), memory);
  }
  const attend_weights& weights;
  void* memory;
};

}  // namespace

extern "C" {

size_t attend_packed_size(const attend_weights* weights) {
  Check check;
  check_structs(check, weights, 1, ATTEND_ARG_WEIGHTS);
  if (!check.failed()) check_weights(check, Memory(), *weights);
  if (check.failed()) return 0;
  // Extents are at most 2^29, so this cannot overflow.
  const uint64_t panels = uint64_t(core::panel_count(int(weights->outputs)));
  const uint64_t bytes = panels * panel_keys * uint64_t(weights->inputs) * core::format_bytes(core_format(weights->format));
  return bytes <= PTRDIFF_MAX ? size_t(bytes) : 0;
}

attend_status attend_pack_weights(const attend_weights* weights, void* memory, size_t memory_size, attend_weights* packed) {
  Check check;
  const Range from = check_structs(check, weights, 1, ATTEND_ARG_WEIGHTS);
  const Range to = check_structs(check, packed, 1, ATTEND_ARG_PACKED);
  check.require(memory != nullptr, ATTEND_MISSING, ATTEND_ARG_MEMORY);
  check.require(aligned(memory, config::alignment), ATTEND_UNALIGNED, ATTEND_ARG_MEMORY);
  if (!check.failed()) check_weights(check, Memory(), *weights);
  if (check.failed()) return check.status();
  check.require(weights->layout == ATTEND_ROWS, ATTEND_UNKNOWN, ATTEND_ARG_WEIGHTS_LAYOUT);
  const size_t bytes = attend_packed_size(weights);
  check.require(bytes > 0, ATTEND_TOO_LARGE, ATTEND_ARG_WEIGHTS);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  check.require(memory_size >= bytes && bytes <= UINTPTR_MAX - begin, ATTEND_TOO_SMALL, ATTEND_ARG_MEMORY_SIZE);
  if (check.failed()) return check.status();
  Memory written;
  written.write(check, {begin, begin + bytes}, ATTEND_ARG_MEMORY);
  written.write(check, to, ATTEND_ARG_PACKED);
  read_same(check, written, from, to);
  check_weights(check, written, *weights);
  if (check.failed()) return check.status();
  with_format(weights->format, PackWeights{*weights, memory});
  *packed = *weights;
  packed->data = memory;
  packed->layout = ATTEND_PANELS;
  return ATTEND_OK;
}

}  // extern "C"
