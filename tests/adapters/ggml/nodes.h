// Graphs of one node for the adapter's backend, made with ggml's own functions, and their numbers as doubles.
#pragma once

#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "../../../bench/adapters/ggml/ggml.h"
#include "../../support/random.h"

namespace nodes {

using attend_ggml::Backend;
using attend_ggml::Device;
using attend_ggml::Graph;
using attend_ggml::Registry;
using attend_ggml::Tensor;
using Extents = std::vector<std::int64_t>;

struct ContextSettings {
  std::size_t bytes;
  void* memory;
  bool descriptors_only;
};

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

// ggml's library and the adapter, each by its path.
class Runtime {
 public:
  Runtime(const char* ggml, const char* adapter) : ggml_(dlopen(ggml, RTLD_NOW | RTLD_LOCAL)) {
    if (ggml_ == nullptr) fail(dlerror());
    void* const library = dlopen(adapter, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail(dlerror());
    registry_ = reinterpret_cast<Registry* (*)()>(dlsym(library, "ggml_backend_init"))();
    if (registry_ == nullptr) fail("the adapter refuses this version of ggml");
    device_ = registry_->device(registry_, 0);
    backend_ = device_->init(device_, nullptr);
  }

  // ggml's function of a name, called with what follows.
  template <class Result, class... Arguments>
  Result call(const char* name, Arguments... arguments) const {
    void* const address = dlsym(ggml_, name);
    if (address == nullptr) fail(std::string("ggml has no ") + name);
    return reinterpret_cast<Result (*)(Arguments...)>(address)(arguments...);
  }

  Registry* registry() const { return registry_; }
  Device* device() const { return backend_->device; }
  Device* found_device() const { return device_; }
  Backend* backend() const { return backend_; }
  void set_threads(int count) const {
    reinterpret_cast<void (*)(Backend*, int)>(registry_->function(registry_, "ggml_backend_set_n_threads"))(backend_, count);
  }

 private:
  void* ggml_;
  Registry* registry_;
  Device* device_;
  Backend* backend_;
};

inline std::int64_t count(const Tensor& t) { return t.extents[0] * t.extents[1] * t.extents[2] * t.extents[3]; }

// Memory of a node and its sources.
class Room {
 public:
  explicit Room(const Runtime& runtime) : runtime_(runtime) {
    context_ = runtime.call<void*>("ggml_init", ContextSettings{std::size_t(64) << 20, nullptr, false});
  }
  ~Room() { runtime_.call<void>("ggml_free", context_); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  void* context() const { return context_; }

  Tensor* empty(int type, const Extents& extents) const {
    std::int64_t all[4] = {1, 1, 1, 1};
    for (std::size_t i = 0; i < extents.size(); ++i) all[i] = extents[i];
    return runtime_.call<Tensor*>("ggml_new_tensor_4d", context_, type, all[0], all[1], all[2], all[3]);
  }

  // Random numbers of a type, between -spread and spread.
  Tensor* random(int type, const Extents& extents, float spread = 1) {
    Tensor* const tensor = empty(type, extents);
    std::vector<float> numbers(std::size_t(count(*tensor)));
    random_.fill(numbers.data(), numbers.size(), spread);
    store(*tensor, numbers);
    return tensor;
  }

  void store(Tensor& to, const std::vector<float>& numbers) const {
    const std::int64_t rows = count(to) / to.extents[0];
    switch (to.type) {
      case attend_ggml::type_float16:
        return runtime_.call<void>("ggml_fp32_to_fp16_row", numbers.data(), to.data, std::int64_t(numbers.size()));
      case attend_ggml::type_bfloat16:
        return runtime_.call<void>("ggml_fp32_to_bf16_row", numbers.data(), to.data, std::int64_t(numbers.size()));
      case attend_ggml::type_q8_0:
      case attend_ggml::type_q4_0:
        runtime_.call<std::size_t>("ggml_quantize_chunk", to.type, numbers.data(), to.data, std::int64_t(0), rows,
                                   to.extents[0], static_cast<const float*>(nullptr));
        return;
      default:
        std::memcpy(to.data, numbers.data(), numbers.size() * sizeof(float));
    }
  }

  // A row as floats, by ggml's own functions.
  std::vector<float> row(const Tensor& from, const char* at) const {
    std::vector<float> numbers(std::size_t(from.extents[0]));
    const char* const names[] = {"ggml_fp16_to_fp32_row", "ggml_bf16_to_fp32_row", "dequantize_row_q8_0",
                                 "dequantize_row_q4_0"};
    const int types[] = {attend_ggml::type_float16, attend_ggml::type_bfloat16, attend_ggml::type_q8_0, attend_ggml::type_q4_0};
    for (int i = 0; i < 4; ++i) {
      if (from.type == types[i]) runtime_.call<void>(names[i], static_cast<const void*>(at), numbers.data(), from.extents[0]);
    }
    if (from.type == attend_ggml::type_float32) {
      for (std::size_t i = 0; i < numbers.size(); ++i) std::memcpy(&numbers[i], at + i * from.strides[0], sizeof(float));
    }
    return numbers;
  }

  attend_test::Random& numbers() { return random_; }

 private:
  const Runtime& runtime_;
  void* context_;
  attend_test::Random random_{7};
};

// A tensor's numbers, by places on its four axes.
class Values {
 public:
  Values(const Room& room, const Tensor& tensor) : tensor_(&tensor) {
    for (std::int64_t l = 0; l < tensor.extents[3]; ++l) {
      for (std::int64_t k = 0; k < tensor.extents[2]; ++k) {
        for (std::int64_t j = 0; j < tensor.extents[1]; ++j) {
          const char* const at = static_cast<const char*>(tensor.data) + std::size_t(j) * tensor.strides[1] +
                                 std::size_t(k) * tensor.strides[2] + std::size_t(l) * tensor.strides[3];
          for (const float number : room.row(tensor, at)) numbers_.push_back(double(number));
        }
      }
    }
  }
  // Places beyond an extent begin again, as of what is repeated.
  double operator()(std::int64_t i, std::int64_t j = 0, std::int64_t k = 0, std::int64_t l = 0) const {
    const std::int64_t* const e = tensor_->extents;
    return numbers_[std::size_t(((l % e[3] * e[2] + k % e[2]) * e[1] + j % e[1]) * e[0] + i % e[0])];
  }
  std::int64_t extent(int axis) const { return tensor_->extents[axis]; }

 private:
  const Tensor* tensor_;
  std::vector<double> numbers_;
};

}  // namespace nodes
