// Attributes of a kernel, and of a node that no kernel was made for yet.
#include "node.h"

namespace attend_adapter::onnx {
namespace {

// Of operators of attention, rotary positions and products, in the domains of ONNX and of ONNX Runtime.
// clang-format off
constexpr const char* specified[] = {
    "alpha", "axis", "beta", "block_size", "broadcast", "causal", "do_rotary", "epsilon", "interleaved", "is_causal",
    "is_packed_batching", "k_cache_dtype", "k_quant_type", "kv_cache_bit_width", "kv_cache_layout", "kv_num_heads",
    "left_window_size", "local_window_size", "mask_filter_value", "max_sequence_length", "num_heads",
    "past_present_share_buffer", "q_num_heads", "qk_matmul_output_mode", "qk_norm_epsilon", "qk_output", "qkv_hidden_sizes",
    "right_window_size", "rotary_embedding", "rotary_embedding_dim", "rotary_interleaved", "scale", "sliding_window", "sliding_window_cache",
    "smooth_softmax", "softcap", "softmax_precision", "stash_type", "static_kv", "transA", "transB", "transBatchA",
    "transBatchB", "unidirectional", "v_cache_dtype", "v_quant_type", "window_left", "window_right", "window_size"};
// clang-format on

}  // namespace

template <class Entry, class Number>
Number Attributes::read(const Entry& entry, const char* name, Number otherwise) const {
  Number number;
  read_.insert(name);
  if (found(entry(info_, name, &number))) return number;
  expect_absent(name);
  return otherwise;
}

int64_t Attributes::integer(const char* name, int64_t otherwise) const {
  return node_ != nullptr ? node_->integer(name, otherwise) : read(KernelInfoGetAttribute_int64, name, otherwise);
}

float Attributes::number(const char* name, float otherwise) const {
  return node_ != nullptr ? node_->number(name, otherwise) : read(KernelInfoGetAttribute_float, name, otherwise);
}

std::vector<int64_t> Attributes::integers(const char* name) const {
  if (node_ != nullptr) return node_->integers(name);
  read_.insert(name);
  std::size_t count = 0;
  if (!found(KernelInfoGetAttributeArray_int64(info_, name, nullptr, &count))) {
    expect_absent(name);
    return {};
  }
  std::vector<int64_t> numbers(count);
  if (count > 0) check(KernelInfoGetAttributeArray_int64(info_, name, numbers.data(), &count));
  return numbers;
}

std::string Attributes::text(const char* name, const char* otherwise) const {
  if (node_ != nullptr) return node_->text(name, otherwise);
  read_.insert(name);
  std::size_t size = 0;
  if (!found(KernelInfoGetAttribute_string(info_, name, nullptr, &size)) || size == 0) {
    expect_absent(name);
    return otherwise;
  }
  std::string text(size, '\0');
  check(KernelInfoGetAttribute_string(info_, name, text.data(), &size));
  return text.c_str();  // the size counts the zero at the end
}

bool Attributes::has(const char* name) const {
  int64_t integer;
  float number;
  std::size_t size = 0;
  return found(KernelInfoGetAttribute_int64(info_, name, &integer)) ||
         found(KernelInfoGetAttribute_float(info_, name, &number)) ||
         found(KernelInfoGetAttribute_string(info_, name, nullptr, &size)) ||
         found(KernelInfoGetAttributeArray_int64(info_, name, nullptr, &size)) ||
         found(KernelInfoGetAttributeArray_float(info_, name, nullptr, &size));
}

void Attributes::expect_absent(const char* name) const {
  expect(!has(name), std::string("attribute ") + name + " is of another type than it is read by");
}

void Attributes::refuse_others() const {
  for (const char* const name : specified)
    expect(read_.count(name) != 0 || !has(name), std::string("attribute ") + name + " is not known for this operator");
}

std::size_t Attributes::inputs() const {
  std::size_t count = 0;
  check(KernelInfo_GetInputCount(info_, &count));
  return count;
}

Tensor Attributes::constant(int input) const {
  int is_constant = 0;
  const OrtValue* value = nullptr;
  check(KernelInfoGetConstantInput_tensor(info_, std::size_t(input), &is_constant, &value));
  return is_constant == 0 ? Tensor{} : tensor_of(value);
}

}  // namespace attend_adapter::onnx
