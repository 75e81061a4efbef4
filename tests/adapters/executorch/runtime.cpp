// What ExecuTorch's headers leave undefined and the kernels need, in the place of its runtime: tensors that can be resized
// within their memory, the log, a registry, a pool of threads. Nothing of the runtime's own code runs here.
#include "runtime.h"

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace stub {
std::vector<executorch::runtime::Kernel>& kernels() {
  static std::vector<executorch::runtime::Kernel> all;
  return all;
}
std::string& log() {
  static std::string text;
  return text;
}
int threads = 1;
}  // namespace stub

namespace executorch {
namespace runtime {

void runtime_abort() {
  std::printf("FAIL the kernels end the program: %s\n", stub::log().c_str());
  std::fflush(stdout);
  std::abort();
}

namespace internal {
et_timestamp_t get_log_timestamp() { return 0; }
void vlogf(LogLevel, et_timestamp_t, const char*, const char*, size_t, const char* format, va_list arguments) {
  char line[512];
  std::vsnprintf(line, sizeof line, format, arguments);
  stub::log() += line;
  stub::log() += '\n';
}
}  // namespace internal

Error register_kernels(const Span<const Kernel> kernels) {
  for (const Kernel& kernel : kernels) stub::kernels().push_back(kernel);
  return Error::Ok;
}

namespace etensor {
TensorImpl::TensorImpl(ScalarType type, ssize_t dim, SizesType* sizes, void* data, DimOrderType* dim_order,
                       StridesType* strides, TensorShapeDynamism dynamism, DeviceType device_type, DeviceIndex device_index)
    : sizes_(sizes),
      dim_order_(dim_order),
      strides_(strides),
      data_(data),
      dim_(dim),
      numel_(1),
      numel_bound_(0),
      type_(type),
      shape_dynamism_(dynamism),
      device_(device_type, device_index) {
  for (ssize_t axis = 0; sizes != nullptr && axis < dim; ++axis) numel_ *= sizes[axis];
  numel_bound_ = size_t(numel_);
}

// Sizes that need no more memory than the tensor was made with; strides become dense.
Error TensorImpl::internal_resize_contiguous(ArrayRef<SizesType> sizes) {
  if (ssize_t(sizes.size()) != dim_ || sizes_ == nullptr) return Error::InvalidArgument;
  ssize_t count = 1;
  for (const SizesType size : sizes) count *= size;
  if (count < 0 || size_t(count) > numel_bound_) return Error::NotSupported;
  StridesType stride = 1;
  for (ssize_t axis = dim_ - 1; axis >= 0; --axis) {
    sizes_[axis] = sizes[size_t(axis)];
    if (strides_ != nullptr) strides_[axis] = stride;
    stride *= sizes_[axis];
  }
  numel_ = count;
  return Error::Ok;
}
}  // namespace etensor

namespace internal {
class TensorResizerFriend {
 public:
  static Error resize(executorch::aten::TensorImpl* tensor, executorch::aten::ArrayRef<executorch::aten::SizesType> sizes) {
    return tensor->internal_resize_contiguous(sizes);
  }
};
Error resize_tensor_impl(executorch::aten::TensorImpl* tensor, executorch::aten::ArrayRef<executorch::aten::SizesType> sizes) {
  return TensorResizerFriend::resize(tensor, sizes);
}
}  // namespace internal
}  // namespace runtime

namespace extension {
bool parallel_for(const int64_t begin, const int64_t end, const int64_t grain,
                  runtime::FunctionRef<void(int64_t, int64_t)> work) {
  std::vector<std::thread> others;
  const auto share = [&](int64_t thread) {
    for (int64_t item = begin + thread * grain; item < end; item += grain * stub::threads)
      work(item, std::min(end, item + grain));
  };
  for (int thread = 1; thread < stub::threads; ++thread) others.emplace_back(share, thread);
  share(0);
  for (std::thread& other : others) other.join();
  return true;
}
}  // namespace extension
}  // namespace executorch
