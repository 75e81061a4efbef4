#include "compiled.h"

#include <cstring>

namespace attend_adapter::onnx {

namespace {

int place_among(const std::vector<const OrtValueInfo*>& infos, const Value& value) {
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (name_of(infos[i]) == value.name) return int(i);
  }
  return Wiring::none;
}

std::size_t bytes_of(Type type) {
  return type == int64 || type == float64      ? 8
         : type == float32 || type == int32    ? 4
         : type == float16 || type == bfloat16 ? 2
                                               : 1;
}

}  // namespace

Compiled::Compiled(const OrtGraph* of_nodes, const OrtNode* of_node, Threads& threads)
    : OrtNodeComputeInfo{}, threads_(threads) {
  version = provider_version;
  CreateState = [](OrtNodeComputeInfo*, OrtNodeComputeContext*, void** state) -> OrtStatus* {
    *state = nullptr;
    return nullptr;
  };
  Compute = [](OrtNodeComputeInfo* self, void*, OrtKernelContext* context) {
    return guarded("several nodes as one", [&] {
      Compiled& compiled = *static_cast<Compiled*>(self);
      for (const Part& part : compiled.parts_) {
        Call call(context, compiled.threads_, &part.wiring);
        part.op->compute(call);
      }
    });
  };
  ReleaseState = [](OrtNodeComputeInfo*, void*) {};

  const Graph graph(of_nodes);
  std::vector<Fused> found = find_fused(graph);
  expect(found.size() == 1 && found[0].nodes.size() == graph.nodes().size(),
         "the nodes of a fused node are not those that were asked for");
  const Node node(of_node);
  for (Step& step : found[0].steps) wire(std::move(step), node);
}

void Compiled::wire(Step step, const Node& node) {
  Part part;
  part.op = std::move(step.op);
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    const Value* const value = step.inputs[i];
    if (value == nullptr) {
      part.wiring.inputs.push_back(Wiring::none);
    } else if (value->constant) {
      if (part.op->pack(int(i), value->tensor)) {
        part.wiring.inputs.push_back(Wiring::none);
        continue;
      }
      // The runtime may free constants, so that those which are not packed are copied.
      const std::size_t bytes = std::size_t(value->tensor.shape.count()) * bytes_of(value->tensor.type);
      Memory copy;
      void* const data = copy.bytes(bytes + 1);
      expect(data != nullptr, "there is not enough memory");
      std::memcpy(data, value->tensor.data, bytes);
      Tensor tensor = value->tensor;
      tensor.data = data;
      part.wiring.inputs.push_back(Wiring::place_of(part.wiring.constants.size()));
      part.wiring.constants.emplace_back(std::move(tensor), std::move(copy));
    } else {
      const int place = place_among(node.inputs(), *value);
      expect(place != Wiring::none, "a fused node has no input " + value->name);
      part.wiring.inputs.push_back(place);
    }
  }
  for (const Value* const value : step.outputs)
    part.wiring.outputs.push_back(value == nullptr ? Wiring::none : place_among(node.outputs(), *value));
  parts_.push_back(std::move(part));
}

}  // namespace attend_adapter::onnx
