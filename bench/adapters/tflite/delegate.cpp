// The delegate of TensorFlow Lite: each chain that it finds becomes one node. All other nodes run where they ran.
#include <cstring>
#include <memory>
#include <new>

#include "../common/backend.h"
#include "attend_tflite.h"
#include "builtins.h"
#include "chain.h"
#include "nodes.h"

namespace attend_tflite {
namespace {

constexpr const char* delegate_name = "attention of a graph";

struct Delegate {
  TfLiteDelegate base{};
  bool int8 = true;
  const Chain* replacing = nullptr;  // what the node that is being made is to compute
};

// A node in the place of a chain.
struct ChainNode {
  Chain chain;
  attend_adapter::Memory work, mask;
};

void* init(TfLiteContext*, const char* buffer, std::size_t) {
  const auto* const parameters = reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  const auto* const delegate = static_cast<const Delegate*>(parameters->delegate->data_);
  ChainNode* const node = new (std::nothrow) ChainNode;
  if (node == nullptr || delegate->replacing == nullptr) return node;
  try {
    node->chain = *delegate->replacing;
  } catch (...) {
    delete node;
    return nullptr;
  }
  Attention& attention = node->chain.attention;
  if (attention.problem.constants != nullptr) attention.problem.constants = &attention.constants;
  return node;
}

TfLiteStatus prepare(TfLiteContext* context, TfLiteNode* node) {
  return answer(context, delegate_name, node->user_data == nullptr ? no_memory : Refusal());
}

TfLiteStatus invoke(TfLiteContext* context, TfLiteNode* node) {
  ChainNode& it = *static_cast<ChainNode*>(node->user_data);
  const auto data = [&](int index) { return index < 0 ? nullptr : tensor(context, index)->data.raw; };
  const Chain& chain = it.chain;
  return answer(context, delegate_name,
                run(context, it.chain.attention, it.work, it.mask,
                    {data(chain.query), data(chain.key), data(chain.value), data(chain.mask), data(chain.output), nullptr}));
}

void free_node(TfLiteContext*, void* node) { delete static_cast<ChainNode*>(node); }

// Node numbers as the runtime takes them.
class NodeList {
 public:
  explicit NodeList(const std::vector<int>& nodes) : numbers_(1, int(nodes.size())) {
    numbers_.insert(numbers_.end(), nodes.begin(), nodes.end());
  }
  const TfLiteIntArray* get() const { return reinterpret_cast<const TfLiteIntArray*>(numbers_.data()); }

 private:
  std::vector<int> numbers_;
};

// The chain around a softmax whose nodes the runtime takes as one, and nothing of which anybody else needs.
bool find(TfLiteContext* context, const Graph& graph, int softmax, Limits limits, Chain* chain) {
  for (;;) {
    if (!match(graph, softmax, limits, chain)) return false;
    const NodeList nodes(chain->nodes);
    TfLiteDelegateParams* parts = nullptr;
    int count = 0;
    if (context->PreviewDelegatePartitioning(context, nodes.get(), &parts, &count) != kTfLiteOk) return false;
    if (count != 1) {
      // What is computed from transposed inputs needs something that comes after these.
      if (limits.no_views) return false;
      limits.no_views = true;
      continue;
    }
    bool alone = true;
    for (int i = 0; i < parts[0].output_tensors->size; ++i) {
      const int tensor = parts[0].output_tensors->data[i];
      if (tensor == chain->output) continue;
      alone = false;
      if (!limits.kept.insert(tensor).second) return false;
    }
    if (alone) return true;
  }
}

TfLiteStatus take_chains(TfLiteContext* context, TfLiteDelegate* base) {
  Delegate& delegate = *static_cast<Delegate*>(base->data_);
  Graph graph;
  if (!graph.read(context)) return kTfLiteOk;
  std::vector<Chain> chains;
  for (const int index : graph.plan()) {
    if (graph.node(index).registration->builtin_code != builtin::softmax) continue;
    Chain chain;
    Limits limits;
    limits.int8 = delegate.int8;
    if (find(context, graph, index, limits, &chain)) chains.push_back(chain);
  }
  TfLiteRegistration registration{};
  registration.init = init;
  registration.free = free_node;
  registration.prepare = prepare;
  registration.invoke = invoke;
  registration.custom_name = "attend";
  registration.version = 1;
  for (const Chain& chain : chains) {
    delegate.replacing = &chain;
    const TfLiteStatus status =
        context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, NodeList(chain.nodes).get(), base);
    delegate.replacing = nullptr;
    if (status != kTfLiteOk) return status;
  }
  return kTfLiteOk;
}

TfLiteStatus prepare_delegate(TfLiteContext* context, TfLiteDelegate* base) {
  try {
    return take_chains(context, base);
  } catch (...) {
    return answer(context, delegate_name, no_memory);
  }
}

TfLiteDelegate* create(bool int8) {
  attend_adapter::use_backend_of_environment();
  Delegate* const delegate = new (std::nothrow) Delegate;
  if (delegate == nullptr) return nullptr;
  delegate->int8 = int8;
  delegate->base.data_ = delegate;
  delegate->base.Prepare = prepare_delegate;
  delegate->base.flags = kTfLiteDelegateFlagsNone;
  return &delegate->base;
}

}  // namespace
}  // namespace attend_tflite

TfLiteDelegate* attend_tflite_delegate_create(void) { return attend_tflite::create(true); }

void attend_tflite_delegate_delete(TfLiteDelegate* delegate) {
  if (delegate != nullptr) delete static_cast<attend_tflite::Delegate*>(delegate->data_);
}

// What programs call that load delegates from libraries. Options: int8, 0 to leave int8 graphs alone.
extern "C" {
ATTEND_TFLITE_API TfLiteDelegate* tflite_plugin_create_delegate(char** keys, char** values, std::size_t count,
                                                                void (*report_error)(const char*)) {
  bool int8 = true;
  for (std::size_t i = 0; i < count; ++i) {
    const bool known = keys[i] != nullptr && values[i] != nullptr && std::strcmp(keys[i], "int8") == 0;
    if (known && (std::strcmp(values[i], "0") == 0 || std::strcmp(values[i], "1") == 0)) {
      int8 = values[i][0] == '1';
    } else {
      if (report_error != nullptr) report_error("attend: the delegate has one option, int8, which is 0 or 1");
      return nullptr;
    }
  }
  return attend_tflite::create(int8);
}

ATTEND_TFLITE_API void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) { attend_tflite_delegate_delete(delegate); }
}
