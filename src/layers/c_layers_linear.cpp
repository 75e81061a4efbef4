// Projections of the C surface, and their weights in other layouts and formats.
#include "layer_surface.h"

namespace attend::c_surface {
namespace {

constexpr size_t work_bytes = core::linear_work_floats * sizeof(float);
static_assert(work_bytes <= (config::embedded ? 1024 : ATTEND_PROJECTION_WORKSPACE_SIZE),
              "the sizes in the C header are enough");
constexpr ptrdiff_t most_projections = 256;

bool is_packed(const attend_weights& weights) {
  return weights.layout == ATTEND_PANELS || weights.layout == ATTEND_INTEGER_PANELS;
}

// What an output's weights are made of: how many bytes; and the size, in bits, that their address must be a multiple of. Rows
// of ATTEND_INT4 are bytes, and its panels words of 32 bits.
uint64_t row_bytes(int format, ptrdiff_t inputs) {
  return format == ATTEND_INT4 ? uint64_t(inputs) / ATTEND_INT4_INPUTS * ATTEND_INT4_BYTES
                               : uint64_t(inputs) * core::format_bytes(core_format(format));
}
int element_bits(int format, bool packed) { return format == ATTEND_INT4 ? (packed ? 32 : 8) : format_bits(format); }

// Rows of weights of a format.
Range check_rows(Check& check, const void* data, const attend_weights& weights, int format, attend_argument argument) {
  const int bits = element_bits(format, false);
  return check_vectors(check, data, weights.outputs, ptrdiff_t(row_bytes(format, weights.inputs) / uint64_t(bits / 8)),
                       argument, bits);
}

// Bytes of weights as panels. Extents are at most 2^29, so this cannot overflow.
uint64_t panel_bytes(const attend_weights& weights) {
  const uint64_t inputs = uint64_t(weights.inputs);
  if (is_integer(weights)) {
    if (config::embedded) return uint64_t(weights.outputs) * inputs;
    const uint64_t chunks = (uint64_t(weights.outputs) - 1) / integer_chunk + 1;
    return chunks * integer_chunk * (sizeof(int32_t) + ((inputs + 3) & ~uint64_t(3)));
  }
  const uint64_t panels = uint64_t(core::panel_count(int(weights.outputs)));
  return panels * panel_keys * row_bytes(weights.format, weights.inputs);
}
// 0 where no size_t has them.
size_t packed_size(const attend_weights& weights) {
  const uint64_t bytes = panel_bytes(weights);
  return bytes <= PTRDIFF_MAX ? size_t(bytes) : 0;
}

Range check_numbers(Check& check, const attend_weights& weights) {
  if (!is_packed(weights)) return check_rows(check, weights.data, weights, weights.format, ATTEND_ARG_WEIGHTS);
  const int bits = element_bits(weights.format, true);
  const uint64_t numbers = panel_bytes(weights) / uint64_t(bits / 8);
  check.require(numbers <= PTRDIFF_MAX, ATTEND_TOO_LARGE, ATTEND_ARG_WEIGHTS);
  return check.failed() ? Range{} : check.array(weights.data, ptrdiff_t(numbers), bits, ATTEND_ARG_WEIGHTS);
}

// Inputs of ATTEND_INT4 are whole groups.
void check_groups(Check& check, const attend_weights& weights, int format) {
  check.require(is_whole(weights.inputs, format), ATTEND_OUT_OF_RANGE, ATTEND_ARG_INPUTS);
}

struct IntegerRows {
  const attend_weights& of;
  const int8_t* operator[](int output) const { return static_cast<const int8_t*>(of.data) + output * of.inputs; }
};

// Outputs overlap neither each other nor what is read.
void check_apart(Check& check, const attend_projection* projections, ptrdiff_t count, const Range& x, ptrdiff_t tokens,
                 const Range& work) {
  for (const attend_projection* to = projections; !check.failed() && to < projections + count; ++to) {
    Memory apart;
    const auto outputs = [&](const attend_projection& of) {
      return check_vectors(apart, of.y, tokens, of.weights.outputs, ATTEND_ARG_Y);
    };
    apart.write(outputs(*to), ATTEND_ARG_Y);
    apart.write(work, ATTEND_ARG_WORKSPACE);
    apart.read_last(apart.structs(projections, count, ATTEND_ARG_PROJECTIONS));
    apart.read_last(x);
    for (const attend_projection* other = projections; !apart.failed() && other < projections + count; ++other) {
      check_float_weights(apart, other->weights);
      if (other != to) apart.read_last(outputs(*other));
    }
    check = apart;
  }
}

// Calls call.run_with<format>() with the format of some weights.
template <class Call>
void with_format(int format, const Call& call) {
  switch (format) {
    case ATTEND_FLOAT16:
      return call.template run_with<core::Format::float16>();
    case ATTEND_BFLOAT16:
      return call.template run_with<core::Format::bfloat16>();
    case ATTEND_INT8:
      return call.template run_with<core::Format::int8>();
    case ATTEND_INT4:
      return call.template run_with<core::Format::int4>();
    default:
      return call.template run_with<core::Format::float32>();
  }
}

struct RunLinear {
  template <core::Format format>
  void run_with() const {
    cut.parts == 1 ? core::run_linear<format>(linear) : core::run_linear_part<format>(linear, int(cut.part), int(cut.parts));
  }
  const core::Linear& linear;
  const Parts& cut;
};

struct PackWeights {
  template <core::Format format>
  void run_with() const {
    core::pack_weights<format>(weights.data, weights.inputs, int(weights.outputs), int(weights.inputs), memory);
  }
  const attend_weights& weights;
  void* memory;
};

struct ConvertWeights {
  template <core::Format format>
  void run_with() const {
    if constexpr (format != core::Format::float32) {
      fits = core::convert_weights<format>(static_cast<const float*>(weights.data), int(weights.outputs), int(weights.inputs),
                                           memory, scales);
    }
  }
  const attend_weights& weights;
  void* memory;
  float* scales;
  bool& fits;
};

}  // namespace

void check_weights(Memory& check, const attend_weights& weights) {
  check.within(weights.outputs, 1, ATTEND_MAX_TOKENS, ATTEND_ARG_OUTPUTS);
  check.within(weights.inputs, 1, ATTEND_MAX_TOKENS, ATTEND_ARG_INPUTS);
  check.require(is_stored_format(weights.format), ATTEND_UNKNOWN, ATTEND_ARG_WEIGHTS_FORMAT);
  check.format(weights.layout, ATTEND_ROWS, ATTEND_INTEGER_PANELS, ATTEND_ARG_WEIGHTS_LAYOUT);
  if (check.failed()) return;
  const bool integers = is_integer(weights), scaled = weights.format == ATTEND_INT8 && !integers;
  check_groups(check, weights, weights.format);
  check.require(!integers || weights.format == ATTEND_INT8, ATTEND_CONFLICT, ATTEND_ARG_WEIGHTS_FORMAT);
  check.require(!integers || weights.inputs <= ATTEND_INTEGER_MAX_INPUTS, ATTEND_OUT_OF_RANGE, ATTEND_ARG_INPUTS);
  check.require(!integers || weights.bias == nullptr, ATTEND_CONFLICT, ATTEND_ARG_WEIGHTS_BIAS);
  check.require(scaled || weights.scales == nullptr, ATTEND_NO_EFFECT, ATTEND_ARG_WEIGHTS_SCALES);
  check.require(!scaled || weights.scales != nullptr, ATTEND_MISSING, ATTEND_ARG_WEIGHTS_SCALES);
  check.read_last(check_numbers(check, weights));
  check.read_last(check_if_given(check, weights.scales, weights.outputs, ATTEND_ARG_WEIGHTS_SCALES));
  check.read_last(check_if_given(check, weights.bias, weights.outputs, ATTEND_ARG_WEIGHTS_BIAS));
}

void project(const attend_weights& weights, const float* from, int tokens, float* to, float* work, const Parts& cut) {
  const core::Linear linear = {from,
                               to,
                               weights.data,
                               weights.scales,
                               weights.bias,
                               weights.inputs,
                               weights.outputs,
                               weights.inputs,
                               int(weights.inputs),
                               int(weights.outputs),
                               tokens,
                               weights.layout == ATTEND_PANELS,
                               work};
  with_format(weights.format, RunLinear{linear, cut});
}

}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_project(const float* x, ptrdiff_t tokens, const attend_projection* projections, ptrdiff_t count,
                             void* workspace, size_t workspace_size) {
  Memory check;
  check.within(tokens, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_TOKENS);
  check.within(count, 1, most_projections, ATTEND_ARG_COUNT);
  check.structs(projections, count, ATTEND_ARG_PROJECTIONS);
  const bool works = workspace != nullptr || workspace_size > 0;
  const Range work = works ? check.memory(workspace, workspace_size, work_bytes, ATTEND_ARG_WORKSPACE) : Range{};
  if (check.failed()) return check.status();
  const ptrdiff_t inputs = projections[0].weights.inputs;
  for (ptrdiff_t i = 0; i < count; ++i) {
    check_float_weights(check, projections[i].weights);
    check.require(projections[i].weights.inputs == inputs, ATTEND_MISMATCH, ATTEND_ARG_INPUTS);
  }
  const Range from = check_vectors(check, x, tokens, inputs, ATTEND_ARG_X);
  check_apart(check, projections, count, from, tokens, work);
  if (check.failed() || tokens == 0) return check.status();
  for (ptrdiff_t i = 0; i < count; ++i) {
    project(projections[i].weights, x, int(tokens), projections[i].y, static_cast<float*>(workspace));
  }
  return ATTEND_OK;
}

size_t attend_packed_size(const attend_weights* weights) {
  Memory check;
  check.structs(weights, 1, ATTEND_ARG_WEIGHTS);
  if (!check.failed()) check_weights(check, *weights);
  return check.failed() ? 0 : packed_size(*weights);
}

attend_status attend_pack_weights(const attend_weights* weights, void* memory, size_t memory_size, attend_weights* result) {
  Memory check;
  const Range from = check.structs(weights, 1, ATTEND_ARG_WEIGHTS);
  const Range to = check.structs(result, 1, ATTEND_ARG_RESULT);
  check.address(memory, config::alignment, ATTEND_ARG_MEMORY);
  if (!check.failed()) check_weights(check, *weights);
  if (check.failed()) return check.status();
  check.require(!is_packed(*weights), ATTEND_UNKNOWN, ATTEND_ARG_WEIGHTS_LAYOUT);
  const size_t bytes = packed_size(*weights);
  check.require(bytes > 0, ATTEND_TOO_LARGE, ATTEND_ARG_WEIGHTS);
  check.write(check.memory(memory, memory_size, bytes, ATTEND_ARG_MEMORY), ATTEND_ARG_MEMORY);
  check.write(to, ATTEND_ARG_RESULT);
  read_same(check, from, to);
  check_weights(check, *weights);
  if (check.failed()) return check.status();
  const bool integers = is_integer(*weights);
  if (integers) {
    core::pack_integer_weights(IntegerRows{*weights}, int(weights->outputs), int(weights->inputs),
                               static_cast<int8_t*>(memory));
  } else {
    with_format(weights->format, PackWeights{*weights, memory});
  }
  *result = *weights;
  result->data = memory;
  result->layout = integers ? ATTEND_INTEGER_PANELS : ATTEND_PANELS;
  return ATTEND_OK;
}

attend_status attend_convert_weights(const attend_weights* weights, int format, void* memory, size_t memory_size, float* scales,
                                     attend_weights* result) {
  Memory check;
  const Range from = check.structs(weights, 1, ATTEND_ARG_WEIGHTS);
  const Range to = check.structs(result, 1, ATTEND_ARG_RESULT);
  check.require(format != ATTEND_FLOAT32 && is_stored_format(format), ATTEND_UNKNOWN, ATTEND_ARG_FORMAT);
  if (!check.failed()) check_weights(check, *weights);
  if (check.failed()) return check.status();
  const bool scaled = format == ATTEND_INT8;
  check.require(weights->format == ATTEND_FLOAT32, ATTEND_UNKNOWN, ATTEND_ARG_WEIGHTS_FORMAT);
  check.require(weights->layout == ATTEND_ROWS, ATTEND_UNKNOWN, ATTEND_ARG_WEIGHTS_LAYOUT);
  check.require(scaled || scales == nullptr, ATTEND_NO_EFFECT, ATTEND_ARG_SCALES);
  check.require(!scaled || scales != nullptr, ATTEND_MISSING, ATTEND_ARG_SCALES);
  check_groups(check, *weights, format);
  // Extents are at most 2^29, so this cannot overflow.
  const uint64_t bytes = uint64_t(weights->outputs) * row_bytes(format, weights->inputs);
  check.require(memory_size >= bytes, ATTEND_TOO_SMALL, ATTEND_ARG_MEMORY);
  if (check.failed()) return check.status();
  check.write(check_rows(check, memory, *weights, format, ATTEND_ARG_MEMORY), ATTEND_ARG_MEMORY);
  check.write(check_if_given(check, scales, weights->outputs, ATTEND_ARG_SCALES), ATTEND_ARG_SCALES);
  check.write(to, ATTEND_ARG_RESULT);
  read_same(check, from, to);
  check_weights(check, *weights);
  if (check.failed()) return check.status();
  bool fits = true;
  with_format(format, ConvertWeights{*weights, memory, scales, fits});
  check.require(fits, ATTEND_OUT_OF_RANGE, ATTEND_ARG_WEIGHTS);
  if (check.failed()) return check.status();
  *result = *weights;
  result->data = memory;
  result->scales = scales;
  result->format = format;
  return ATTEND_OK;
}

}  // extern "C"
