// The library as custom operators, for programs that name an operator rather than a provider.
#include "custom_ops.h"

#include <string>

#include "../common/backend.h"
#include "callbacks.h"
#include "operators.h"

namespace attend_adapter::onnx {

OrtStatus* load_runtime(const OrtApiBase* base, uint32_t version, const char* what) {
  static const bool chosen = use_backend_of_environment();
  (void)chosen;
  const void* const* const table = base->GetApi(version);
  if (table != nullptr) {
    api = table;
    return nullptr;
  }
  api = base->GetApi(1);  // the first functions are those of every version, and a status can be made
  if (api == nullptr) return nullptr;
  static char sentence[256];
  std::snprintf(sentence, sizeof sentence, "Attend: %s needs ONNX Runtime 1.%u or later, this is %s", what, unsigned(version),
                base->GetVersionString());
  return CreateStatus(not_implemented, sentence);
}

namespace {

struct CustomOperator : OrtCustomOp {
  CustomOperator(const Definition& of, int first, int last)
      : OrtCustomOp{}, definition(of), first_version(first), last_version(last) {
    version = custom_version;
    GetName = [](const OrtCustomOp* self) { return self_of(self).definition.type; };
    GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };
    GetInputType = [](const OrtCustomOp* self, std::size_t i) {
      return int(self_of(self).definition.custom.inputs.begin()[i]);
    };
    GetInputTypeCount = [](const OrtCustomOp* self) { return self_of(self).definition.custom.inputs.size(); };
    GetOutputType = [](const OrtCustomOp* self, std::size_t i) {
      return int(self_of(self).definition.custom.outputs.begin()[i]);
    };
    GetOutputTypeCount = [](const OrtCustomOp* self) { return self_of(self).definition.custom.outputs.size(); };
    GetInputCharacteristic = [](const OrtCustomOp* self, std::size_t i) {
      return i < std::size_t(self_of(self).definition.custom.required_inputs) ? 0 : 1;
    };
    GetOutputCharacteristic = [](const OrtCustomOp* self, std::size_t i) {
      return i < std::size_t(self_of(self).definition.custom.required_outputs) ? 0 : 1;
    };
    GetInputMemoryType = [](const OrtCustomOp*, std::size_t) { return 0; };
    for (auto& count : variadic) count = [](const OrtCustomOp*) { return 1; };
    GetStartVersion = [](const OrtCustomOp* self) { return self_of(self).first_version; };
    GetEndVersion = [](const OrtCustomOp* self) { return self_of(self).last_version; };
    CreateKernelV2 = [](const OrtCustomOp* self, const void* const*, const OrtKernelInfo* info, void** kernel) {
      return guarded(self_of(self).definition.type, [&] { *kernel = new Kernel(self_of(self).definition, info); });
    };
    KernelComputeV2 = [](void* kernel, OrtKernelContext* context) {
      Kernel& of_node = *static_cast<Kernel*>(kernel);
      return guarded(of_node.definition.type, [&] {
        Call call(context, of_node.threads);
        of_node.op->compute(call);
      });
    };
    KernelDestroy = [](void* kernel) { delete static_cast<Kernel*>(kernel); };
  }

  struct Kernel {
    Kernel(const Definition& of, const OrtKernelInfo* info) : definition(of) {
      const Attributes attributes(info);
      op = of.make(attributes);
      attributes.refuse_others();
      // The runtime keeps constant inputs of custom operators; packed ones are a copy.
      for (std::size_t input = 0; input < attributes.inputs(); ++input) {
        const Tensor constant = attributes.constant(int(input));
        if (constant) op->pack(int(input), constant);
      }
    }
    const Definition& definition;
    std::unique_ptr<Operator> op;
    Threads threads;
  };
  static const CustomOperator& self_of(const OrtCustomOp* self) { return *static_cast<const CustomOperator*>(self); }

  const Definition& definition;
  int first_version, last_version;
};

// Domains live as long as the library, as sessions may use them.
struct Domains {
  struct Domain {
    const char* name;
    OrtCustomOpDomain* domain;
  };
  std::vector<Domain> domains;
  std::vector<std::unique_ptr<CustomOperator>> operators;

  OrtCustomOpDomain* domain(const char* name) {
    for (const Domain& known : domains) {
      if (std::string(known.name) == name) return known.domain;
    }
    domains.push_back({name, nullptr});
    check(CreateCustomOpDomain(name, &domains.back().domain));
    return domains.back().domain;
  }
  void add(const char* name, const Definition& of, int first, int last) {
    operators.push_back(std::make_unique<CustomOperator>(of, first, last));
    check(CustomOpDomain_Add(domain(name), operators.back().get()));
  }
  void make() {
    for_each_operator([&](const Definition& of) {
      if (of.custom.outputs.size() == 0) return;
      add("attend", of, 1, 1);
      if (!of.custom.overrides) return;
      for (const Versions& versions : of.versions) add(versions.domain, of, versions.first, versions.last);
    });
  }
};

}  // namespace
}  // namespace attend_adapter::onnx

// Called by RegisterCustomOpsLibrary and by programs that have linked the adapter.
extern "C" __attribute__((visibility("default"))) OrtStatus* RegisterCustomOps(OrtSessionOptions* options,
                                                                               const OrtApiBase* base) {
  using namespace attend_adapter::onnx;
  OrtStatus* const refused = load_runtime(base, custom_version, "a library of custom operators");
  if (refused != nullptr) return refused;
  return guarded("RegisterCustomOps", [&] {
    static Domains* const all = [] {
      auto made = std::make_unique<Domains>();
      made->make();
      return made.release();
    }();
    for (const Domains::Domain& each : all->domains) check(AddCustomOpDomain(options, each.domain));
  });
}
