// Projections on the threads of a runtime, by weights that are packed once.
#pragma once

#include <attend/layers/core_linear.h>

#include <cstring>

#include "memory.h"
#include "parallel.h"

namespace attend_adapter {

// Packs weights [inputs][outputs], whose rows are `stride` numbers apart, into attend::core::packed_weight_numbers as panels.
inline void pack_transposed(const float* weights, std::ptrdiff_t stride, int outputs, int inputs, float* panels) {
  using attend::panel_keys;
  for (int first = 0; first < outputs; first += panel_keys) {
    const int count = outputs - first < panel_keys ? outputs - first : panel_keys;
    for (int i = 0; i < inputs; ++i, panels += panel_keys) {
      std::memcpy(panels, weights + i * stride + first, std::size_t(count) * sizeof(float));
      std::memset(panels + count, 0, std::size_t(panel_keys - count) * sizeof(float));
    }
  }
}

// Weights of float32 as panels: [outputs][inputs] in rows, or transposed, [inputs][outputs], as ONNX and others multiply from
// the right.
class PackedWeights {
 public:
  // False where there is no memory. Extents are at least 1.
  bool pack(const float* weights, int outputs, int inputs, bool transposed) {
    using namespace attend::core;
    float* const panels = memory_.numbers<float>(packed_weight_numbers(outputs, inputs));
    if (panels == nullptr) return false;
    outputs_ = outputs;
    inputs_ = inputs;
    panels_ = panels;
    if (!transposed) {
      pack_weights<Format::float32>(weights, inputs, outputs, inputs, panels);
      return true;
    }
    pack_transposed(weights, outputs, outputs, inputs, panels);
    return true;
  }

  int outputs() const { return outputs_; }
  int inputs() const { return inputs_; }
  const float* panels() const { return panels_; }

 private:
  Memory memory_;
  const float* panels_ = nullptr;
  int outputs_ = 0;
  int inputs_ = 0;
};

// The projection that `linear` says, but for its work memory. False where there is no memory.
template <attend::core::Format format>
bool run_projection(const attend::core::Linear& linear, const Parallel& parallel, Memory& memory) {
  const std::size_t floats = (attend::core::linear_work_floats + 15) / 16 * 16;
  const int parts = parallel.threads < 1 ? 1 : parallel.threads;
  float* const work = memory.numbers<float>(floats * std::size_t(parts));
  if (work == nullptr) return false;
  parallel.each(parts, [&](int part) {
    attend::core::Linear of_part = linear;
    of_part.work = work + floats * std::size_t(part);
    attend::core::run_linear_part<format>(of_part, part, parts);
  });
  return true;
}

// output[tokens][outputs] = input[tokens][inputs] times the weights, plus bias, which may be null. False where there is no
// memory.
inline bool project(const float* input, int tokens, const PackedWeights& weights, const float* bias, float* output,
                    const Parallel& parallel, Memory& memory) {
  attend::core::Linear linear{};
  linear.input = input;
  linear.output = output;
  linear.weights = weights.panels();
  linear.bias = bias;
  linear.input_stride = weights.inputs();
  linear.output_stride = weights.outputs();
  linear.inputs = weights.inputs();
  linear.outputs = weights.outputs();
  linear.tokens = tokens;
  linear.panels = true;
  return run_projection<attend::core::Format::float32>(linear, parallel, memory);
}

}  // namespace attend_adapter
