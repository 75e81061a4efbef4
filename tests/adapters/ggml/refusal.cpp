// A process with another ggml, or none: the adapter says what is missing and is not loaded.
//   refusal ADAPTER
// Compiled with -rdynamic, and with OTHER_LAYOUT as a program that has ggml's functions, but tensors of another size.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

#ifdef OTHER_LAYOUT
#define ATTEND_TEST_FUNCTION(name) \
  extern "C" std::size_t name();   \
  std::size_t name() { return 8; }
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

int main(int count, char** arguments) {
  void* const adapter = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* const init = adapter == nullptr ? nullptr : dlsym(adapter, "ggml_backend_init");
  if (init == nullptr) return 2;
  return reinterpret_cast<void* (*)()>(init)() == nullptr ? 0 : 1;
}
