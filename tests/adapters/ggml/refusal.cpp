// A process with another ggml, or none: the adapter says what is missing and is not loaded.
//   refusal ADAPTER
// Compiled with -rdynamic. TENSOR_BYTES=N makes it a program that has ggml's functions, and tensors of that size;
// INTERFACE_VERSION=N, one that also has a backend of that version of the interface.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

#ifdef TENSOR_BYTES
#define ATTEND_TEST_FUNCTION(name) \
  extern "C" std::size_t name();   \
  std::size_t name() { return TENSOR_BYTES; }
ATTEND_TEST_FUNCTION(ggml_op_name)
ATTEND_TEST_FUNCTION(ggml_unary_op_name)
ATTEND_TEST_FUNCTION(ggml_glu_op_name)
ATTEND_TEST_FUNCTION(ggml_tensor_overhead)
ATTEND_TEST_FUNCTION(ggml_graph_n_nodes)
ATTEND_TEST_FUNCTION(ggml_graph_node)
ATTEND_TEST_FUNCTION(ggml_backend_cpu_buffer_type)
ATTEND_TEST_FUNCTION(ggml_backend_buft_is_host)
ATTEND_TEST_FUNCTION(ggml_backend_buffer_init)
#endif

#ifdef INTERFACE_VERSION
extern "C" {
std::size_t ggml_backend_reg_count();
const int* ggml_backend_reg_get(std::size_t);
}
std::size_t ggml_backend_reg_count() { return 1; }
const int* ggml_backend_reg_get(std::size_t) {
  static const int version = INTERFACE_VERSION;  // of all that a registry has, its first member alone
  return &version;
}
#endif

int main(int count, char** arguments) {
  void* const adapter = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* const init = adapter == nullptr ? nullptr : dlsym(adapter, "ggml_backend_init");
  if (init == nullptr) return 2;
  return reinterpret_cast<void* (*)()>(init)() == nullptr ? 0 : 1;
}
