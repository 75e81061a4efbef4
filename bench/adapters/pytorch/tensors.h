// Tensors of PyTorch as the library takes them, its threads, and refusals as PyTorch's errors.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "../common/attention.h"

namespace attend_pytorch {

using at::Tensor;
using OptionalTensor = c10::optional<Tensor>;

// Threads that PyTorch lends: as many as torch.set_num_threads says, and one where an operator runs inside of another's
// threads. A thread is worth about 2^15 multiplications.
inline attend_adapter::Parallel threads(double multiplications) {
  const double most = multiplications / 32768 + 1;
  const int count = at::in_parallel_region() ? 1 : at::get_num_threads();
  const auto run = [](void*, int parts, attend_adapter::Parallel::Work work, void* context) {
    at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) work(context, int(part));
    });
  };
  return {run, nullptr, most < count ? int(most) : count};
}

// Work memory of the calls of a thread, kept from call to call.
inline attend_adapter::Memory& work_memory() {
  static thread_local attend_adapter::Memory memory;
  return memory;
}

inline void require(attend_status status, const char* name) {
  TORCH_CHECK(status == ATTEND_OK, "attend::", name, ": ", attend_argument_name(status), ": ", attend_error_text(status));
}

inline bool is_taken(at::ScalarType type) { return type == at::kFloat || type == at::kHalf || type == at::kBFloat16; }

// A tensor in the memory of the processor, of a format that the library reads; no gradient flows through it.
inline void require_numbers(const char* name, const char* argument, const Tensor& tensor) {
  TORCH_CHECK(tensor.defined(), "attend::", name, ": ", argument, " is missing");
  TORCH_CHECK(is_taken(tensor.scalar_type()), "attend::", name, ": ", argument, " is of ", tensor.scalar_type(),
              "; expected Float, Half or BFloat16: pass ", argument, ".float()");
  TORCH_CHECK(tensor.device().is_cpu() || tensor.device().is_meta(), "attend::", name, ": ", argument, " is on ",
              tensor.device(), "; expected the processor's memory: pass ", argument, ".cpu()");
  TORCH_CHECK(tensor.layout() == at::kStrided, "attend::", name, ": ", argument, " is ", tensor.layout(),
              "; expected a dense tensor");
  TORCH_CHECK(!(at::GradMode::is_enabled() && tensor.requires_grad()), "attend::", name, ": ", argument,
              " requires a gradient, which Attend does not compute: call it within torch.no_grad(), or pass ", argument,
              ".detach()");
}

// A tensor that goes with another one: on the same device.
inline void require_beside(const char* name, const char* argument, const Tensor& tensor, const Tensor& other) {
  require_numbers(name, argument, tensor);
  TORCH_CHECK(tensor.device() == other.device(), "attend::", name, ": ", argument, " is on ", tensor.device(),
              " beside a tensor on ", other.device(), "; expected the same device");
}

inline bool is_there(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

inline int format_of(const Tensor& tensor) {
  return tensor.scalar_type() == at::kHalf       ? ATTEND_FLOAT16
         : tensor.scalar_type() == at::kBFloat16 ? ATTEND_BFLOAT16
                                                 : ATTEND_FLOAT32;
}

// Contiguous floats: the tensor itself, where it is that already.
inline Tensor floats_of(const Tensor& tensor) { return tensor.to(at::kFloat).contiguous(); }

// A vector of parameters, [count], that goes with a tensor.
inline Tensor parameters(const char* name, const char* argument, const Tensor& tensor, int64_t count, const Tensor& other) {
  require_beside(name, argument, tensor, other);
  TORCH_CHECK(tensor.numel() == count, "attend::", name, ": ", argument, " has the shape ", tensor.sizes(), "; expected ",
              count, " numbers");
  return floats_of(tensor);
}

}  // namespace attend_pytorch
