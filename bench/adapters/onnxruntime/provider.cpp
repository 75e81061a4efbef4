// The library as an execution provider: ONNX Runtime asks it which nodes of a graph it takes, and makes kernels for these.
#include <attend/core/version.h>

#include <cstring>
#include <new>

#include "../common/backend.h"
#include "callbacks.h"
#include "compiled.h"
#include "custom_ops.h"
#include "node.h"
#include "operators.h"

namespace attend_adapter::onnx {
namespace {

constexpr const char* provider_name = "AttendExecutionProvider";

const char* version_text() {
  static const std::string text = std::to_string(ATTEND_VERSION_MAJOR) + "." + std::to_string(ATTEND_VERSION_MINOR) + "." +
                                  std::to_string(ATTEND_VERSION_PATCH);
  return text.c_str();
}

// A kernel: an operator in the shape that the runtime expects of a provider.
struct Kernel : OrtKernelImpl {
  Kernel(const Definition& of, Threads& session_threads, const OrtKernelInfo* info)
      : OrtKernelImpl{}, definition(of), threads(session_threads), op(of.make(Attributes(info))) {
    version = provider_version;
    Compute = [](OrtKernelImpl* self, OrtKernelContext* context) {
      Kernel& kernel = *static_cast<Kernel*>(self);
      return guarded(kernel.definition.type, [&] {
        Call call(context, kernel.threads);
        kernel.op->compute(call);
      });
    };
    Release = [](OrtKernelImpl* self) { delete static_cast<Kernel*>(self); };
    PrePackWeight = [](OrtKernelImpl* self, const OrtValue* value, int input, OrtAllocator*, OrtSharedPrePackedWeightCache*,
                       bool* is_packed) {
      Kernel& kernel = *static_cast<Kernel*>(self);
      *is_packed = false;
      return guarded(kernel.definition.type, [&] { *is_packed = kernel.op->pack(input, tensor_of(value)); });
    };
  }

  const Definition& definition;
  Threads& threads;
  std::unique_ptr<Operator> op;
};

// The provider in a session.
struct Provider : OrtEp {
  Provider() : OrtEp{} {
    version = provider_version;
    GetName = [](const OrtEp*) { return provider_name; };
    GetCapability = [](OrtEp*, const OrtGraph* graph, OrtEpGraphSupportInfo* support) {
      return guarded("GetCapability", [&] { choose(graph, support); });
    };
    Compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** nodes, std::size_t count, OrtNodeComputeInfo** made,
                 OrtNode**) {
      return guarded("Compile", [&] {
        for (std::size_t i = 0; i < count; ++i) {
          const Graph graph(graphs[i]);
          for (const Node& node : graph.nodes()) {
            const std::string unknown = unknown_to_custom(node);
            expect(unknown.empty(), "attribute " + unknown + " is not known for attend." + node.type());
          }
          made[i] = new Compiled(graphs[i], nodes[i], static_cast<Provider*>(self)->threads);
        }
      });
    };
    ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** made, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) delete static_cast<Compiled*>(made[i]);
    };
    GetKernelRegistry = [](OrtEp* self, const OrtKernelRegistry** kernels) -> OrtStatus* {
      *kernels = static_cast<Provider*>(self)->registry;
      return nullptr;
    };
    IsConcurrentRunSupported = [](OrtEp*, bool* is_supported) -> OrtStatus* {
      *is_supported = true;
      return nullptr;
    };
  }
  ~Provider() {
    if (registry != nullptr) ReleaseKernelRegistry(registry);
  }
  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;

  // What kernels are made with: the session's threads, and which operator.
  struct Maker {
    Provider* provider;
    const Definition* definition;
  };

  void make_registry() {
    check(CreateKernelRegistry(&registry));
    for_each_operator([&](const Definition& of) {
      makers.push_back(std::make_unique<Maker>(Maker{this, &of}));
      for (const Versions& versions : of.versions) add(of, versions, makers.back().get());
    });
  }

  void add(const Definition& of, const Versions& versions, Maker* maker) {
    struct Builder {
      OrtKernelDefBuilder* builder = nullptr;
      OrtKernelDef* kernel = nullptr;
      ~Builder() {
        if (kernel != nullptr) ReleaseKernelDef(kernel);
        if (builder != nullptr) ReleaseKernelDefBuilder(builder);
      }
    } made;
    check(CreateKernelDefBuilder(&made.builder));
    check(KernelDefBuilder_SetOperatorType(made.builder, of.type));
    check(KernelDefBuilder_SetDomain(made.builder, versions.domain));
    check(KernelDefBuilder_SetSinceVersion(made.builder, versions.first, versions.last));
    check(KernelDefBuilder_SetExecutionProvider(made.builder, provider_name));
    for (const Constraint& constraint : versions.constraints) {
      std::vector<const OrtDataType*> types;
      for (const Type type : constraint.types) {
        types.push_back(nullptr);
        check(GetTensorDataType(type, &types.back()));
      }
      check(KernelDefBuilder_AddTypeConstraint(made.builder, constraint.name, types.data(), types.size()));
    }
    check(KernelDefBuilder_Build(made.builder, &made.kernel));
    const auto create = [](void* state, const OrtKernelInfo* info, OrtKernelImpl** kernel) {
      const Maker& by = *static_cast<Maker*>(state);
      return guarded(by.definition->type, [&] { *kernel = new Kernel(*by.definition, by.provider->threads, info); });
    };
    check(KernelRegistry_AddKernel(registry, made.kernel, create, maker));
  }

  // Takes chains of nodes as one, and of the others each whose types a kernel was registered for, and which its operator takes.
  static void choose(const OrtGraph* of_nodes, OrtEpGraphSupportInfo* support) {
    const Graph graph(of_nodes);
    std::vector<bool> fused(graph.nodes().size(), false);
    for (const Fused& each : find_fused(graph)) {
      std::vector<const OrtNode*> nodes;
      for (const int node : each.nodes) {
        nodes.push_back(graph.nodes()[std::size_t(node)].node());
        fused[std::size_t(node)] = true;
      }
      const OrtNodeFusionOptions options{provider_version, true};
      check(EpGraphSupportInfo_AddNodesToFuse(support, nodes.data(), nodes.size(), &options));
    }
    for (std::size_t i = 0; i < fused.size(); ++i) {
      const Node& node = graph.nodes()[i];
      if (fused[i]) continue;
      if (!unknown_to_custom(node).empty()) {  // refused by Compile, whose errors end the session
        const OrtNode* const refused = node.node();
        const OrtNodeFusionOptions options{provider_version, false};
        check(EpGraphSupportInfo_AddNodesToFuse(support, &refused, 1, &options));
        continue;
      }
      const OrtKernelDef* kernel = nullptr;
      check(EpGraphSupportInfo_LookUpKernel(support, node.node(), &kernel));
      if (kernel == nullptr) continue;
      for_each_operator([&](const Definition& of) {
        if (takes(of, node)) check(EpGraphSupportInfo_AddSingleNode(support, node.node()));
      });
    }
  }

  // The attribute of a node in the domain `attend` that its custom operator does not read, and is not told of; empty: none.
  static std::string unknown_to_custom(const Node& node) {
    if (node.domain() != "attend") return {};
    try {
      for_each_operator([&](const Definition& of) {
        if (node.type() == of.type && of.custom.outputs.size() > 0) of.make(Attributes(node));
      });
    } catch (const Error&) {
      return {};  // the custom operator says it
    }
    return node.unread();
  }

  // Whether an operator is this node's, in a version that was read, and reads all of its inputs and attributes and computes
  // what they say.
  static bool takes(const Definition& of, const Node& node) {
    const Versions* const versions = of.versions_of(node.type(), node.domain(), node.version());
    if (versions == nullptr) return false;
    for (std::size_t i = versions->inputs; i < node.inputs().size(); ++i) {
      if (node.inputs()[i] != nullptr) return false;
    }
    for (std::size_t i = versions->outputs; i < node.outputs().size(); ++i) {
      if (node.has_output(i)) return false;
    }
    try {
      of.make(Attributes(node));
    } catch (const Error&) {
      return false;
    }
    return node.unread().empty();
  }

  OrtKernelRegistry* registry = nullptr;
  std::vector<std::unique_ptr<Maker>> makers;
  Threads threads;
};

struct Factory : OrtEpFactory {
  Factory() : OrtEpFactory{} {
    version = provider_version;
    GetName = [](const OrtEpFactory*) { return provider_name; };
    GetVendor = [](const OrtEpFactory*) { return "Attend"; };
    GetVendorId = [](const OrtEpFactory*) { return uint32_t(0); };
    GetVersion = [](const OrtEpFactory*) { return version_text(); };
    GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* devices, std::size_t count,
                             OrtEpDevice** found, std::size_t room, std::size_t* found_count) -> OrtStatus* {
      *found_count = 0;
      for (std::size_t i = 0; i < count && *found_count < room; ++i) {
        if (HardwareDevice_Type(devices[i]) != 0) continue;
        OrtStatus* const status = CreateEpDevice(self, devices[i], nullptr, nullptr, &found[*found_count]);
        if (status != nullptr) return status;
        ++*found_count;
      }
      return nullptr;
    };
    CreateEp = [](OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, std::size_t,
                  const OrtSessionOptions*, const OrtLogger*, OrtEp** provider) {
      return guarded("CreateEp", [&] {
        auto made = std::make_unique<Provider>();
        made->make_registry();
        *provider = made.release();
      });
    };
    ReleaseEp = [](OrtEpFactory*, OrtEp* provider) { delete static_cast<Provider*>(provider); };
    CreateAllocator = [](OrtEpFactory*, const void*, const OrtKeyValuePairs*, OrtAllocator** allocator) -> OrtStatus* {
      *allocator = nullptr;  // the runtime's own
      return nullptr;
    };
    ReleaseAllocator = [](OrtEpFactory*, OrtAllocator*) {};
    CreateDataTransfer = [](OrtEpFactory*, void** transfer) -> OrtStatus* {
      *transfer = nullptr;  // tensors lie in memory of the processor
      return nullptr;
    };
    IsStreamAware = [](const OrtEpFactory*) { return false; };
  }
};

}  // namespace
}  // namespace attend_adapter::onnx

// Called by RegisterExecutionProviderLibrary.
extern "C" __attribute__((visibility("default"))) OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base,
                                                                               const OrtLogger*, OrtEpFactory** factories,
                                                                               std::size_t room, std::size_t* count) {
  using namespace attend_adapter::onnx;
  OrtStatus* const refused = load_runtime(base, provider_version, "an execution provider");
  if (refused != nullptr) return refused;
  provider_api = GetEpApi();
  if (provider_api == nullptr)
    return CreateStatus(not_implemented, "Attend: this build of ONNX Runtime has no execution providers of others");
  if (room < 1) return CreateStatus(invalid_argument, "Attend: there is no room for its execution provider");
  factories[0] = new (std::nothrow) Factory();
  if (factories[0] == nullptr) return CreateStatus(fail, "Attend: not enough memory");
  *count = 1;
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<attend_adapter::onnx::Factory*>(factory);
  return nullptr;
}
