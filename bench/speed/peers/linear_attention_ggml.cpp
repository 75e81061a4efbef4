// Linear attention by ggml's operators, as llama.cpp's models have it: gated_delta_net, and for Mamba-2 ssm_scan. The
// convolution in front of both: ssm_conv and silu.
#include "linear_attention_ggml.h"

#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "ggml_library.h"

namespace bench {
namespace {

using ggml::Library;
using ggml::Tensor;

class Operator {
 public:
  Operator(const Library& library, const LinearAttentionProblem& p) : Operator(library) {
    const std::int64_t keys = p.key_heads, values = p.value_heads, tokens = p.tokens;
    Tensor* const query = tensor(p.query, p.head_dim, keys, tokens);
    Tensor* const key = tensor(p.key, p.head_dim, keys, tokens);
    Tensor* const value = tensor(p.value, p.value_dim, values, tokens);
    Tensor* output;
    if (p.a == nullptr) {
      Tensor* const state = tensor(p.state, p.value_dim, p.head_dim, values);
      output = library.gated_delta_net(context_, query, key, value, tensor(p.gates, 1, values, tokens),
                                       tensor(p.beta, 1, values, tokens), state, 1);
    } else {
      Tensor* const sequences = library.new_tensor_1d(context_, attend_ggml::type_int32, 1);
      place(sequences, &first_, sizeof first_);
      Tensor* const state = tensor(p.state, p.head_dim, p.value_dim, values);
      Tensor* const a = library.new_tensor_2d(context_, attend_ggml::type_float32, 1, values);
      place(a, p.a, std::size_t(values) * sizeof(float));
      output = library.ssm_scan(context_, state, value, tensor(p.gates, values, tokens, 1), a, key, query, sequences, 1);
    }
    finish(output, p.output, std::size_t(values) * std::size_t(p.value_dim) * std::size_t(p.tokens + p.head_dim));
  }
  Operator(const Library& library, const ConvolutionProblem& p) : Operator(library) {
    const std::int64_t before = p.width - 1, channels = p.channels, tokens = p.tokens;
    Tensor* inputs;
    if (p.state == nullptr) {
      inputs = tensor(p.inputs, before + tokens, channels, 1);
    } else {
      Tensor* const state = tensor(p.state, before, channels, 1);
      inputs = library.concat(context_, state, library.transpose(context_, tensor(p.inputs, channels, tokens, 1)), 0);
      const std::size_t row = std::size_t(before + tokens) * sizeof(float);
      Tensor* const last = library.view_3d(context_, inputs, before, channels, 1, row, row * std::size_t(channels),
                                           std::size_t(tokens) * sizeof(float));
      library.build_forward_expand(graph_, library.cpy(context_, last, state));
    }
    Tensor* const sums = library.ssm_conv(context_, inputs, tensor(p.weights, p.width, channels, 1));
    finish(p.silu ? library.silu(context_, sums) : sums, p.output, std::size_t(channels * tokens));
  }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
  ~Operator() {
    for (ggml::Buffer* const buffer : buffers_) {
      if (buffer != nullptr) library_.backend_buffer_free(buffer);
    }
    library_.free(context_);
  }
  void run() const {
    if (library_.backend_graph_compute(library_.backend, graph_) != ggml::status_success)
      throw std::runtime_error("ggml has failed");
  }

 private:
  explicit Operator(const Library& library) : library_(library) {
    context_ = library.init({std::size_t(1) << 20, nullptr, true});
    graph_ = library.new_graph(context_);
  }
  void finish(Tensor* output, float* at, std::size_t floats) {
    place(output, at, floats * sizeof(float));
    library_.build_forward_expand(graph_, output);
    buffers_.push_back(library_.backend_alloc_ctx_tensors_from_buft(context_, library_.backend_cpu_buffer_type()));
  }
  // Memory begins at a multiple of 64 bytes.
  void place(Tensor* tensor, const void* at, std::size_t bytes) {
    if (reinterpret_cast<std::uintptr_t>(at) % 64 != 0) throw std::runtime_error("ggml needs memory that is aligned");
    buffers_.push_back(library_.backend_cpu_buffer_from_ptr(const_cast<void*>(at), bytes));
    if (library_.backend_tensor_alloc(buffers_.back(), tensor, const_cast<void*>(at)) != 0)
      throw std::runtime_error("ggml has failed");
  }
  Tensor* tensor(const float* at, std::int64_t a, std::int64_t b, std::int64_t c) {
    Tensor* const made = library_.new_tensor_4d(context_, attend_ggml::type_float32, a, b, c, 1);
    place(made, at, std::size_t(a * b * c) * sizeof(float));
    return made;
  }

  const Library& library_;
  alignas(64) const std::int32_t first_ = 0;
  ggml::Context* context_;
  ggml::Graph* graph_;
  std::vector<ggml::Buffer*> buffers_;
};

const Library* library_of(bool wide) {
  static const ggml::Libraries loaded = [] {
    const char* const folder = std::getenv("GGML_LIBRARIES");
    return folder && *folder ? ggml::load(folder) : ggml::Libraries{};
  }();
  return wide ? loaded.avx512 : loaded.avx2;
}
template <class Problem>
std::function<void()> made_for(const Library& library, const Problem& problem) {
  const auto made = std::make_shared<Operator>(library, problem);
  return [made] { made->run(); };
}

}  // namespace

std::function<void()> linear_attention_by_ggml(const LinearAttentionProblem& problem, bool wide) {
  const Library* const library = library_of(wide);
  if (library == nullptr || !library->gated_delta_net || !library->ssm_scan || !library->new_tensor_4d) return nullptr;
  return made_for(*library, problem);
}
std::function<void()> convolution_by_ggml(const ConvolutionProblem& problem, bool wide) {
  const Library* const library = library_of(wide);
  if (library == nullptr || !library->ssm_conv || !library->silu || !library->concat || !library->cpy ||
      !library->new_tensor_4d)
    return nullptr;
  return made_for(*library, problem);
}

}  // namespace bench
