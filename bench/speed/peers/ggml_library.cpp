#include "ggml_library.h"

#include <dlfcn.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <type_traits>

namespace bench::ggml {
namespace {

template <class Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (!function) std::fprintf(stderr, "bench: a library of ggml has no %s and is left out\n", name);
  return function != nullptr;
}

bool find_all(void* handle, Library& library) {
  const auto look_for = [handle](const char* name, auto& function) {  // null where there is none
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, name));
  };
  look_for("ggml_gated_delta_net", library.gated_delta_net), look_for("ggml_ssm_scan", library.ssm_scan);
  look_for("ggml_ssm_conv", library.ssm_conv), look_for("ggml_silu", library.silu);
  look_for("ggml_concat", library.concat), look_for("ggml_cpy", library.cpy);
  look_for("ggml_new_tensor_4d", library.new_tensor_4d);
  return find(handle, "ggml_init", library.init) && find(handle, "ggml_free", library.free) &&
         find(handle, "ggml_new_tensor_1d", library.new_tensor_1d) &&
         find(handle, "ggml_new_tensor_2d", library.new_tensor_2d) &&
         find(handle, "ggml_new_tensor_3d", library.new_tensor_3d) && find(handle, "ggml_view_3d", library.view_3d) &&
         find(handle, "ggml_permute", library.permute) && find(handle, "ggml_transpose", library.transpose) &&
         find(handle, "ggml_cont", library.cont) && find(handle, "ggml_mul_mat", library.mul_mat) &&
         find(handle, "ggml_soft_max_ext", library.soft_max_ext) &&
         find(handle, "ggml_flash_attn_ext", library.flash_attn_ext) && find(handle, "ggml_new_graph", library.new_graph) &&
         find(handle, "ggml_build_forward_expand", library.build_forward_expand) &&
         find(handle, "ggml_row_size", library.row_size) && find(handle, "ggml_quantize_chunk", library.quantize_chunk) &&
         find(handle, "ggml_backend_cpu_init", library.backend_cpu_init) &&
         find(handle, "ggml_backend_cpu_set_n_threads", library.backend_cpu_set_n_threads) &&
         find(handle, "ggml_threadpool_params_init", library.threadpool_params_init) &&
         find(handle, "ggml_threadpool_new", library.threadpool_new) &&
         find(handle, "ggml_backend_cpu_set_threadpool", library.backend_cpu_set_threadpool) &&
         find(handle, "ggml_backend_graph_compute", library.backend_graph_compute) &&
         find(handle, "ggml_backend_cpu_buffer_type", library.backend_cpu_buffer_type) &&
         find(handle, "ggml_backend_cpu_buffer_from_ptr", library.backend_cpu_buffer_from_ptr) &&
         find(handle, "ggml_backend_tensor_alloc", library.backend_tensor_alloc) &&
         find(handle, "ggml_backend_alloc_ctx_tensors_from_buft", library.backend_alloc_ctx_tensors_from_buft) &&
         find(handle, "ggml_backend_buffer_free", library.backend_buffer_free) &&
         find(handle, "ggml_cpu_has_avx512", library.cpu_has_avx512) &&
         find(handle, "ggml_cpu_has_avx2", library.cpu_has_avx2) && find(handle, "ggml_backend_score", library.backend_score);
}

// Whether the library is for this processor. One that is not is closed again, and so is one that is no library of ggml.
bool open(const std::string& path, Library& library, std::string& error) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // several versions of the same names stay apart
  if (!handle) {
    error = dlerror();
    return false;
  }
  if (find_all(handle, library) && library.backend_score() > 0) return true;
  dlclose(handle);
  return false;
}

// One thread that stays, as programs on ggml have it.
void start(Library& library) {
  library.backend = library.backend_cpu_init();
  library.backend_cpu_set_n_threads(library.backend, 1);
  alignas(16) unsigned char settings[4096] = {};
  library.threadpool_params_init(settings, 1);
  library.backend_cpu_set_threadpool(library.backend, library.threadpool_new(settings));
}

}  // namespace

Libraries load(const char* folder) {
  static Library avx2, avx512;
  std::string error = "it has no library for this processor", names[2];
  std::error_code failed;
  for (const auto& file : std::filesystem::directory_iterator(folder, failed)) {
    const std::string name = file.path().filename().string();
    Library library = {};
    if (name.rfind("libggml-cpu-", 0) != 0 || !open(file.path().string(), library, error)) continue;
    const bool wide = library.cpu_has_avx512() != 0;
    Library& best = wide ? avx512 : avx2;
    if (!library.cpu_has_avx2() || (best.init && best.backend_score() >= library.backend_score())) continue;
    best = library;
    names[wide ? 1 : 0] = " " + name;
  }
  if (failed) error = failed.message();
  for (Library* library : {&avx2, &avx512}) {
    if (library->init) start(*library);
  }
  if (avx2.init || avx512.init) {
    std::fprintf(stderr, "bench: ggml is%s%s\n", names[0].c_str(), names[1].c_str());
  } else {
    std::fprintf(stderr, "bench: ggml is left out: %s: %s\n", folder, error.c_str());
  }
  return {avx2.init ? &avx2 : nullptr, avx512.init ? &avx512 : nullptr};
}

}  // namespace bench::ggml
