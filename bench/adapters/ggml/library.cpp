// ggml's functions: found by name in the library that is loaded already, whatever its file is called and however it was loaded.
#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstring>

#include "ggml.h"

namespace attend_ggml {
namespace {

// A part of ggml, as its file is called in every package; or the program itself.
void* opened(const char* part) {
  struct Search {
    const char* part;
    void* found;
  } search = {part, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* of) {
        Search& to = *static_cast<Search*>(of);
        if (info->dlpi_name == nullptr) return 0;
        const char* const folder = std::strrchr(info->dlpi_name, '/');
        if (std::strstr(folder == nullptr ? info->dlpi_name : folder, to.part) == nullptr) return 0;
        to.found = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
        return to.found == nullptr ? 0 : 1;
      },
      &search);
  return search.found == nullptr ? RTLD_DEFAULT : search.found;
}

constexpr char tensors[] = "ggml-base", registries[] = "libggml.";  // the parts that have them

template <class Function>
bool find(void* in, const char* name, Function*& to) {
  void* const address = dlsym(in, name);
  std::memcpy(&to, &address, sizeof address);
  if (address == nullptr) std::fprintf(stderr, "attend: ggml has no %s, this adapter needs another version of it\n", name);
  return address != nullptr;
}

bool load(Library& to) {
  void* const in = opened(tensors);
  if (!(find(in, "ggml_op_name", to.operation_name) && find(in, "ggml_unary_op_name", to.unary_name) &&
        find(in, "ggml_glu_op_name", to.glu_name) && find(in, "ggml_tensor_overhead", to.tensor_overhead) &&
        find(in, "ggml_graph_n_nodes", to.graph_size) && find(in, "ggml_graph_node", to.graph_node) &&
        find(in, "ggml_backend_cpu_buffer_type", to.cpu_buffer_type) && find(in, "ggml_backend_buft_is_host", to.is_host) &&
        find(in, "ggml_backend_buffer_init", to.init_buffer))) {
    return false;
  }
  constexpr std::size_t object_bytes = 32;  // what a context keeps beside a tensor
  if (to.tensor_overhead() != sizeof(Tensor) + object_bytes) {
    std::fprintf(stderr,
                 "attend: this version of ggml lays out tensors in another way than the one that this adapter was made for\n");
    return false;
  }
  to.has_alternatives = dlsym(in, "ggml_build_forward_select") != nullptr;
  return true;
}

}  // namespace

const Library* library() {
  static Library found{};
  static const bool there = load(found);
  return there ? &found : nullptr;
}

bool has_other_interface() {
  std::size_t (*count)() = nullptr;
  Registry* (*at)(std::size_t) = nullptr;
  void *const in = opened(registries), *const addresses[] = {dlsym(in, "ggml_backend_reg_count"),
                                                             dlsym(in, "ggml_backend_reg_get")};
  if (addresses[0] == nullptr || addresses[1] == nullptr) return false;
  std::memcpy(&count, &addresses[0], sizeof count);
  std::memcpy(&at, &addresses[1], sizeof at);
  for (std::size_t i = 0; i < count(); ++i) {
    const int version = at(i)->version;  // the first member in every version
    if (version == interface_version) continue;
    std::fprintf(stderr, "attend: ggml's interface for backends is of version %d, and this adapter of version %d\n", version,
                 interface_version);
    return true;
  }
  return false;
}

}  // namespace attend_ggml
