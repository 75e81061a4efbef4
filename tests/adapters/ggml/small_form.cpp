// The small form (attend_ggml.h) in graphs of ggml's CPU, beside the adapter's FLASH_ATTN_EXT, which is checked beside float64:
// the same bits.
//   small_form GGML_LIBRARY CPU_LIBRARY ADAPTER
// Prints what is wrong, and how many nodes there were.
#include "nodes.h"

// What <ggml.h> declares, as far as the small form uses it; the function is found in the library that is loaded.
struct ggml_context;
struct ggml_tensor {
  int type;
  void* buffer;
  std::int64_t ne[4];
};
constexpr int GGML_TYPE_F32 = 0, GGML_N_TASKS_MAX = -1;
using Custom = void (*)(ggml_tensor*, int, int, void*);
static const nodes::Runtime* runtime_of_test;
static ggml_tensor* ggml_custom_4d(ggml_context* context, int type, std::int64_t a, std::int64_t b, std::int64_t c,
                                   std::int64_t d, ggml_tensor** sources, int count, Custom function, int tasks, void* data) {
  return runtime_of_test->call<ggml_tensor*>("ggml_custom_4d", context, type, a, b, c, d, sources, count, function, tasks,
                                             data);
}
#include "../../../bench/adapters/ggml/attend_ggml.h"

using namespace attend_ggml;
using nodes::Room;

namespace {

int wrong = 0;
void complain(const char* what) {
  ++wrong;
  std::printf("WRONG %s\n", what);
}

ggml_tensor* public_of(Tensor* tensor) { return reinterpret_cast<ggml_tensor*>(tensor); }

std::string bytes_of(const nodes::Runtime& runtime, const Room& room, Backend* backend, Tensor* node) {
  Graph* const graph = runtime.call<Graph*>("ggml_new_graph", room.context());
  runtime.call<void>("ggml_build_forward_expand", graph, node);
  std::memset(node->data, 0x7f, std::size_t(nodes::count(*node)) * sizeof(float));
  if (runtime.call<int>("ggml_backend_graph_compute", backend, graph) != 0) complain("a graph fails");
  return {static_cast<const char*>(node->data), std::size_t(nodes::count(*node)) * sizeof(float)};
}

Tensor* mask_of(Room& room, std::int64_t cells, std::int64_t queries, std::int64_t heads) {
  Tensor* const mask = room.empty(type_float16, {cells, queries, heads, 1});
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < cells * queries * heads; ++i) {
    const std::int64_t cell = i % cells, query = i / cells % queries, head = i / cells / queries;
    numbers.push_back(cell > cells - queries + query || (head + cell) % 5 == 4
                          ? -INFINITY
                          : 0.125f * float((cell + query) % 3) * float(head));
  }
  room.store(*mask, numbers);
  return mask;
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 4) nodes::fail("expected GGML_LIBRARY CPU_LIBRARY ADAPTER");
  const nodes::Runtime runtime(arguments[1], arguments[3]);
  runtime_of_test = &runtime;
  void* const library = dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) nodes::fail(dlerror());
  Registry* const registry = reinterpret_cast<Registry* (*)()>(dlsym(library, "ggml_backend_init"))();
  Device* const device = registry->device(registry, 0);
  Backend* const cpu = device->init(device, nullptr);
  const auto set_threads =
      reinterpret_cast<void (*)(Backend*, int)>(registry->function(registry, "ggml_backend_set_n_threads"));
  int count = 0;
  for (const int type : {type_float32, type_float16, type_bfloat16, type_q8_0, type_q4_0}) {
    for (int form = 0; form < 8; ++form) {
      Room room(runtime);
      const std::int64_t queries = form % 2 == 0 ? 1 : 7, heads = 6, cells = 41, batch = 2;
      const auto permuted = [&](Tensor* t) { return runtime.call<Tensor*>("ggml_permute", room.context(), t, 0, 2, 1, 3); };
      Tensor* const q = permuted(room.random(type_float32, {64, heads, queries, batch}));
      Tensor* const k = permuted(room.random(type, {64, 2, cells, batch}));
      Tensor* const v = permuted(room.random(type, {32, 2, cells, batch}));
      Tensor* const mask = form < 2 ? nullptr : mask_of(room, cells, queries, form < 4 ? 1 : heads);
      attend_ggml_options options = {0.125f, form < 6 ? 0.0f : 5.0f};
      Tensor* const whole =
          runtime.call<Tensor*>("ggml_flash_attn_ext", room.context(), q, k, v, mask, options.scale, 0.0f, options.soft_cap);
      ggml_context* const context = static_cast<ggml_context*>(room.context());
      ggml_tensor* const custom = attend_ggml_attention(context, public_of(q), public_of(k), public_of(v),
                                                        mask == nullptr ? nullptr : public_of(mask), &options);
      if (custom == nullptr) {
        complain("a node is not taken");
        continue;
      }
      const std::string right = bytes_of(runtime, room, runtime.backend(), whole);
      for (int threads = 1; threads <= 3; ++threads) {
        set_threads(cpu, threads);
        if (bytes_of(runtime, room, cpu, reinterpret_cast<Tensor*>(custom)) != right)
          complain("a node has other bits than FLASH_ATTN_EXT");
      }
      ++count;
      // Not taken, and nothing happens: another type, other extents, no options.
      Tensor *const whole_numbers = room.empty(type_int32, {64, heads, queries, batch}), *const longer = room.empty(
                                                                                             type, {96, cells, 2, batch});
      if (attend_ggml_attention(context, public_of(whole_numbers), public_of(k), public_of(v), nullptr, &options) != nullptr ||
          attend_ggml_attention(context, public_of(q), public_of(longer), public_of(v), nullptr, &options) != nullptr ||
          attend_ggml_attention(context, public_of(q), public_of(k), public_of(v), public_of(q), &options) != nullptr ||
          attend_ggml_attention(context, public_of(q), nullptr, public_of(v), nullptr, &options) != nullptr ||
          attend_ggml_attention(context, public_of(q), public_of(k), public_of(v), nullptr, nullptr) != nullptr) {
        complain("a node that is none is taken");
      }
    }
  }
  std::printf("nodes\t%d\n", count);
  return wrong == 0 ? 0 : 1;
}
