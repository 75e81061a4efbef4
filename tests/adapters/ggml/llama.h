// llama.cpp's library, loaded when a test runs: its functions by name, and the few members of its structs that tests set.
//
// Structs that are passed by value are filled in by the library itself, and larger here than there: such structs lie in memory.
// Members are found by the places that they have in the pinned version, and what the library has put around them is checked.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace llama {

struct ByLibrary {
  alignas(16) unsigned char bytes[1024];

  template <class Number>
  void set(std::size_t place, Number number) {
    std::memcpy(bytes + place, &number, sizeof number);
  }
  template <class Number>
  Number get(std::size_t place) const {
    Number number;
    std::memcpy(&number, bytes + place, sizeof number);
    return number;
  }
};

struct Batch {
  std::int32_t count;
  std::int32_t* tokens;
  float* embeddings;
  std::int32_t* positions;
  std::int32_t* sequence_counts;
  std::int32_t** sequences;
  std::int8_t* outputs;
};

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

template <class Function>
Function* found(void* library, const char* name) {
  void* const address = dlsym(library, name);
  if (address == nullptr) fail(std::string("the library has no ") + name);
  Function* function;
  std::memcpy(&function, &address, sizeof function);
  return function;
}

// Of a context.
struct Settings {
  std::uint32_t context = 512, batch = 512, sequences = 1;
  std::int32_t threads = 1;
  bool flash = true, unified = false;
  int cache_type = 1;  // ggml's number of float16
};

// The library of a folder, the CPU's by its file's name, and the adapter, where its path is not "-".
class Library {
 public:
  Library(const std::string& folder, const std::string& cpu, const std::string& adapter) {
    base_ = opened(folder + "/libggml-base.so");
    ggml_ = opened(folder + "/libggml.v0.5.0.so");
    llama_ = opened(folder + "/libllama.v0.5.0.so");
    function<void(void (*)(int, const char*, void*), void*)>("llama_log_set")(
        [](int level, const char* text, void*) {
          if (std::getenv("LLAMA_LOG") != nullptr || level == 4) std::fputs(text, stderr);
        },
        nullptr);
    if (adapter != "-") load(adapter);
    load(folder + "/" + cpu);
    function<void()>("llama_backend_init")();
  }

  void load(const std::string& path) {
    if (found<void*(const char*)>(ggml_, "ggml_backend_load")(path.c_str()) == nullptr) fail(path + ": ggml does not load it");
  }

  template <class Function>
  Function* function(const char* name) const {
    return found<Function>(llama_, name);
  }
  void* base() const { return base_; }
  void* ggml() const { return ggml_; }

  void* model(const std::string& path) const {
    void* const model = function<void*(const char*, ByLibrary)>("llama_model_load_from_file")(
        path.c_str(), function<ByLibrary()>("llama_model_default_params")());
    if (model == nullptr) fail(path + ": llama.cpp does not load it");
    return model;
  }

  void* context(void* model, const Settings& settings) const {
    ByLibrary params = function<ByLibrary()>("llama_context_default_params")();
    if (params.get<std::uint32_t>(0) != 512 || params.get<std::int32_t>(0x34) != -1 || params.get<std::int32_t>(0x68) != 1 ||
        params.get<std::int32_t>(0x6c) != 1) {
      fail("llama.cpp's parameters lie elsewhere in this version");
    }
    params.set(0x00, settings.context);
    params.set(0x04, settings.batch);
    params.set(0x08, settings.batch);
    params.set(0x0c, settings.sequences);
    params.set(0x34, std::int32_t(settings.flash));
    params.set(0x68, std::int32_t(settings.cache_type));
    params.set(0x6c, std::int32_t(settings.cache_type));
    params.set(0x85, std::uint8_t(settings.unified));
    void* const context = function<void*(void*, ByLibrary)>("llama_init_from_model")(model, params);
    if (context == nullptr) fail("llama.cpp makes no context");
    function<void(void*, std::int32_t, std::int32_t)>("llama_set_n_threads")(context, settings.threads, settings.threads);
    return context;
  }

 private:
  static void* opened(const std::string& path) {
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail(dlerror());
    return library;
  }

  void *base_, *ggml_, *llama_;
};

}  // namespace llama
