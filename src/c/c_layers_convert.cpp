// Weights of floats in another format, from C.
#include "layers.h"

using namespace attend;
using namespace attend::c_surface;

namespace {

struct ConvertWeights {
  template <core::Format format>
  void run_with() const {
    if constexpr (format != core::Format::float32) {
      core::convert_weights<format>(static_cast<const float*>(weights.data), int(weights.outputs), int(weights.inputs), memory,
                                    scales);
    }
  }
  const attend_weights& weights;
  void* memory;
  float* scales;
};

}  // namespace

extern "C" attend_status attend_convert_weights(const attend_weights* weights, int format, void* memory, size_t memory_size,
                                                float* scales, attend_weights* converted) {
  Check check;
  const Range from = check_structs(check, weights, 1, ATTEND_ARG_WEIGHTS);
  const Range to = check_structs(check, converted, 1, ATTEND_ARG_CONVERTED);
  check.format(format, ATTEND_FLOAT16, ATTEND_INT8, ATTEND_ARG_FORMAT);
  if (!check.failed()) check_weights(check, Memory(), *weights);
  if (check.failed()) return check.status();
  const bool scaled = format == ATTEND_INT8;
  check.require(weights->format == ATTEND_FLOAT32, ATTEND_UNKNOWN, ATTEND_ARG_WEIGHTS_FORMAT);
  check.require(weights->layout == ATTEND_ROWS, ATTEND_UNKNOWN, ATTEND_ARG_WEIGHTS_LAYOUT);
  check.require(scaled || scales == nullptr, ATTEND_NO_EFFECT, ATTEND_ARG_SCALES);
  check.require(!scaled || scales != nullptr, ATTEND_MISSING, ATTEND_ARG_SCALES);
  // Extents are at most 2^29, so this cannot overflow.
  const uint64_t bytes = uint64_t(weights->outputs) * uint64_t(weights->inputs) * core::format_bytes(core_format(format));
  check.require(memory_size >= bytes, ATTEND_TOO_SMALL, ATTEND_ARG_MEMORY_SIZE);
  if (check.failed()) return check.status();
  Memory written;
  written.write(check, check_vectors(check, memory, weights->outputs, weights->inputs, ATTEND_ARG_MEMORY, format_bits(format)),
                ATTEND_ARG_MEMORY);
  written.write(check, check_if_given(check, scales, weights->outputs, ATTEND_ARG_SCALES), ATTEND_ARG_SCALES);
  written.write(check, to, ATTEND_ARG_CONVERTED);
  read_same(check, written, from, to);
  check_weights(check, written, *weights);
  if (check.failed()) return check.status();
  with_format(format, ConvertWeights{*weights, memory, scales});
  *converted = *weights;
  converted->data = memory;
  converted->scales = scales;
  converted->format = format;
  return ATTEND_OK;
}
