// The adapter as ggml loads it: a library of backends with one device, an accelerator beside the CPU.
//
// The scheduler of a runtime asks an accelerator first, node by node, and gives the CPU what it does not take. Both work in the
// CPU's memory, so nothing is copied between them; weights of products are in memory of their own (weights.h).
//
// There are two devices: the one that a runtime finds, whose memory is that of weights, so that models are loaded into it; and
// the one of the backends that it makes, whose memory, which holds what is computed, is the CPU's. Everything else of them is
// the same.
#include <attend/attend_c.h>

#include <cstdio>
#include <exception>
#include <new>
#include <thread>

#include "../common/backend.h"
#include "../common/threads.h"
#include "operations.h"
#include "weights.h"

namespace attend_ggml {
namespace {

Device& device_of_weights();
Device& device_of_backends();

// ---- Backends ----

struct Computer {
  attend_adapter::Threads threads;
  Work work;
};

const char* backend_name(Backend*) { return "Attend"; }

void release_backend(Backend* backend) {
  delete static_cast<Computer*>(backend->context);
  delete backend;
}

void set_threads(Backend* backend, int count) {
  Computer& computer = *static_cast<Computer*>(backend->context);
  computer.threads.resize(count);
  computer.work.parallel = computer.threads.parallel();
  computer.work.threads.resize(std::size_t(computer.work.parallel.threads));
}

// Whether all that a node reads and writes is in memory.
bool has_data(const Tensor& node) {
  if (node.data == nullptr) return false;
  for (const Tensor* const source : node.sources) {
    if (source != nullptr && source->data == nullptr) return false;
  }
  return true;
}

int compute_node(const Tensor& node, Work& work) {
  if (is_view(node) || is_empty(node)) return status_success;
  if (library()->has_alternatives && (node.flags & flag_compute) == 0) return status_success;
  const Operation* const operation = operation_of(node);
  if (operation == nullptr || !has_data(node)) {
    std::fprintf(stderr, "attend: %s is a %s in a form that this adapter does not take\n", node.name,
                 library()->operation_name(node.operation));
    return status_failed;
  }
  if (operation->compute(node, work)) return status_success;
  std::fprintf(stderr, "attend: %s, a %s, has no memory, or an index or a number outside of its range\n", node.name,
               library()->operation_name(node.operation));
  return status_failed;
}

int compute(Backend* backend, Graph* graph) {
  Work& work = static_cast<Computer*>(backend->context)->work;
  work.visible.forget();
  try {
    for (int i = 0, count = library()->graph_size(graph); i < count; ++i) {
      const int status = compute_node(*library()->graph_node(graph, i), work);
      if (status != status_success) return status;
    }
  } catch (const std::bad_alloc&) {
    return status_no_memory;
  }
  return status_success;
}

// ---- Devices ----

const char* device_name(Device*) { return "Attend"; }
const char* device_description(Device*) { return "transformer attention with the same bits on every processor"; }
void device_memory(Device*, std::size_t* available, std::size_t* total) { *available = *total = 0; }  // none of its own
int device_type(Device*);
void device_properties(Device* device, DeviceProperties* to) {
  to->name = device_name(device);
  to->description = device_description(device);
  to->free_memory = to->memory = 0;
  to->type = device_type(device);
  to->asynchronous = to->host_memory = to->memory_of_host = to->events = false;
}

Backend* init_backend(Device*, const char*) {
  static const std::uint8_t identity[16] = {0x41, 0x74, 0x74, 0x65, 0x6e, 0x64, 0x20, 0x69,
                                            0x6e, 0x20, 0x67, 0x67, 0x6d, 0x6c, 0x20, 0x31};
  Computer* const computer = new (std::nothrow) Computer;
  Backend* const backend = new (std::nothrow) Backend{};
  if (computer == nullptr || backend == nullptr) {
    delete computer;
    delete backend;
    return nullptr;
  }
  backend->identity = &identity;
  backend->name = backend_name;
  backend->release = release_backend;
  backend->compute = compute;
  backend->device = &device_of_backends();
  backend->context = computer;
  const int processors = int(std::thread::hardware_concurrency());
  set_threads(backend, processors < 1 ? 1 : processors > 4 ? 4 : processors);  // as many as ggml's CPU takes by default
  return backend;
}

BufferType* memory_of_weights(Device*) { return packed_weights(&device_of_weights()); }
BufferType* memory_of_cpu(Device*) { return library()->cpu_buffer_type(); }

bool supports_operation(Device*, const Tensor* node) {
  if (node == nullptr) return false;
  if (is_view(*node) || is_empty(*node)) return true;
  const Operation* const operation = operation_of(*node);
  if (operation == nullptr) return false;
  for (const Tensor* const& source : node->sources) {  // products alone read packed weights
    if (source != nullptr && is_packed(*source) &&
        !(operation == &product_operations[0].operation && &source == &node->sources[0]))
      return false;
  }
  return true;
}

bool supports_buffer_type(Device*, BufferType* type) {
  return type == packed_weights(&device_of_weights()) || library()->is_host(type);
}

Registry& registry();

Device make_device(BufferType* (*memory)(Device*)) {
  Device device{};
  device.name = device_name;
  device.description = device_description;
  device.memory = device_memory;
  device.type = device_type;
  device.properties = device_properties;
  device.init = init_backend;
  device.buffer_type = memory;
  device.supports_operation = supports_operation;
  device.supports_buffer_type = supports_buffer_type;
  device.registry = &registry();
  return device;
}

Device& device_of_weights() {
  static Device device = make_device(memory_of_weights);
  return device;
}
Device& device_of_backends() {
  static Device device = make_device(memory_of_cpu);
  return device;
}

// ---- What is loaded ----

const char* registry_name(Registry*) { return "Attend"; }
std::size_t device_count(Registry*) { return 1; }
Device* device_at(Registry*, std::size_t index) { return index == 0 ? &device_of_weights() : nullptr; }

void* function_of(Registry*, const char* name) {
  if (name == nullptr || std::strcmp(name, "ggml_backend_set_n_threads") != 0) return nullptr;
  return reinterpret_cast<void*>(set_threads);
}

Registry& registry() {
  static Registry registry = {interface_version, registry_name, device_count, device_at, function_of, nullptr};
  return registry;
}

// An accelerator, which works beside the CPU, in its memory: its number has changed with kinds of graphics processors that were
// added before it.
constexpr int accelerator = 3;
int device_type(Device*) { return accelerator; }

}  // namespace
}  // namespace attend_ggml

// What ggml_backend_load looks for.
extern "C" __attribute__((visibility("default"))) attend_ggml::Registry* ggml_backend_init() {
  if (attend_ggml::library() == nullptr || attend_ggml::has_other_interface()) return nullptr;
  if (!attend_adapter::use_backend_of_environment()) {
    std::fprintf(stderr, "attend: this processor or build has no backend called by ATTEND_BACKEND; the fastest stays\n");
  }
  return &attend_ggml::registry();
}
