// ggml, on which llama.cpp runs, in the two ways in which that computes attention: the fused operator, or products and a
// softmax.
//
// Each way is a peer of its own, with the best library for AVX2 and the best for AVX-512. Float32 keys and values are read
// where they lie; caches of other formats, and values that lie transposed, as llama.cpp keeps them for products, are made in
// advance.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

#include "../timing.h"
#include "ggml_library.h"
#include "peers.h"

namespace bench {
namespace {

using ggml::Library;
using ggml::Tensor;
using Bytes = Memory<unsigned char>;

enum class Way { flash, products };

ggml::Type type_of(Format format) {
  return format == Format::float32   ? attend_ggml::type_float32
         : format == Format::float16 ? attend_ggml::type_float16
                                     : attend_ggml::type_q8_0;
}

// A graph costs some tenths of a microsecond by itself. A model's has all of its layers, so small problems stand in theirs
// several times.
int copies_of(const PeerProblem& p) {
  const double operations = 4.0 * p.queries * p.keys * p.head_dim * p.query_heads;
  return int(std::clamp(2e6 / operations, 1.0, 16.0));
}

// A problem as a graph of ggml's, ready to run.
class Attention {
 public:
  Attention(const Library& library, Way way, const PeerProblem& problem)
      : library_(library), problem_(problem), type_(type_of(problem.format)) {
    context_ = library.init({std::size_t(1) << 20, nullptr, true});
    Tensor* const query = queries();
    Tensor* const key = cached(problem.key, key_memory_);
    Tensor* const value = way == Way::flash || !in_cache() ? cached(problem.value, value_memory_) : transposed_cache();
    Tensor* const mask = problem.causal ? causal_mask() : nullptr;
    graph_ = library.new_graph(context_);
    for (int copy = 0; copy < copies_of(problem); ++copy) {
      Tensor* const output = way == Way::flash ? flash(query, key, value, mask) : products(query, key, value, mask);
      if (copy == 0) place(output, problem.output, query_numbers() * sizeof(float));
      library.build_forward_expand(graph_, output);
    }
    buffers_.push_back(library.backend_alloc_ctx_tensors_from_buft(context_, library.backend_cpu_buffer_type()));
  }
  Attention(const Attention&) = delete;
  Attention& operator=(const Attention&) = delete;
  ~Attention() {
    for (ggml::Buffer* const buffer : buffers_) library_.backend_buffer_free(buffer);
    library_.free(context_);
  }

  void run() const {
    if (library_.backend_graph_compute(library_.backend, graph_) != ggml::status_success)
      throw std::runtime_error("ggml has failed");
  }

 private:
  std::size_t query_numbers() const {
    return std::size_t(problem_.queries) * std::size_t(problem_.query_heads) * std::size_t(problem_.head_dim);
  }
  std::size_t key_numbers() const {
    return std::size_t(problem_.keys) * std::size_t(problem_.kv_heads) * std::size_t(problem_.head_dim);
  }
  // Whether keys and values are a cache, each head in one piece, and not arrays that were computed just before.
  bool in_cache() const { return problem_.kv_head_stride != problem_.head_dim; }

  // A buffer has to begin at a multiple of 64 bytes. It is no more than the limits between which the tensor lies.
  void place(Tensor* tensor, const void* at, std::size_t bytes) {
    unsigned char* const first = static_cast<unsigned char*>(const_cast<void*>(at));
    const std::size_t before = reinterpret_cast<std::uintptr_t>(first) % 64;
    buffers_.push_back(library_.backend_cpu_buffer_from_ptr(first - before, bytes + before));
    if (library_.backend_tensor_alloc(buffers_.back(), tensor, first) != 0) throw std::runtime_error("ggml has failed");
  }

  // [query heads][tokens][head_dim], which lie by tokens.
  Tensor* queries() {
    Tensor* const tensor =
        library_.new_tensor_3d(context_, attend_ggml::type_float32, problem_.head_dim, problem_.query_heads, problem_.queries);
    place(tensor, problem_.query, query_numbers() * sizeof(float));
    return library_.permute(context_, tensor, 0, 2, 1, 3);
  }

  // The bytes of rows of floats in the problem's format: where they are, if that is float32.
  const void* converted(const float* rows, int columns, Bytes& memory) {
    if (problem_.format == Format::float32) return rows;
    const auto count = std::int64_t(key_numbers()) / columns;
    memory = Bytes(library_.row_size(type_, columns) * std::size_t(count));
    library_.quantize_chunk(type_, rows, memory.get(), 0, count, columns, nullptr);
    return memory.get();
  }

  // Keys or values as [kv heads][keys][head_dim], wherever the problem has tokens and heads.
  Tensor* cached(const float* rows, Bytes& memory) {
    const void* const at = converted(rows, problem_.head_dim, memory);
    Tensor* const all = library_.new_tensor_1d(context_, type_, std::int64_t(key_numbers()));
    place(all, at, library_.row_size(type_, std::int64_t(key_numbers())));
    return library_.view_3d(context_, all, problem_.head_dim, problem_.keys, problem_.kv_heads,
                            library_.row_size(type_, problem_.kv_token_stride),
                            library_.row_size(type_, problem_.kv_head_stride), 0);
  }

  // Values as [kv heads][head_dim][keys].
  Tensor* transposed_cache() {
    transposed_ = Memory<float>(key_numbers());
    float* to = transposed_.get();
    for (int head = 0; head < problem_.kv_heads; ++head) {
      for (int d = 0; d < problem_.head_dim; ++d) {
        const float* from = problem_.value + head * problem_.kv_head_stride + d;
        for (int j = 0; j < problem_.keys; ++j) *to++ = from[j * problem_.kv_token_stride];
      }
    }
    const void* const at = converted(transposed_.get(), problem_.keys, value_memory_);
    Tensor* const values = library_.new_tensor_3d(context_, type_, problem_.keys, problem_.head_dim, problem_.kv_heads);
    place(values, at, library_.row_size(type_, std::int64_t(key_numbers())));
    if (at != transposed_.get()) transposed_ = Memory<float>(0);
    return values;
  }

  // Float16 numbers that are added to scores: 0, or minus infinity. Some versions of ggml want the rows padded to 64.
  Tensor* causal_mask() {
    const int rows = (problem_.queries + 63) / 64 * 64;
    mask_ = Bytes(2 * std::size_t(rows) * std::size_t(problem_.keys));
    constexpr std::uint16_t minus_infinity = 0xfc00;
    auto* const mask = static_cast<std::uint16_t*>(mask_.data.get());
    for (int i = 0; i < rows; ++i) {
      for (int j = problem_.keys - problem_.queries + i + 1; j < problem_.keys; ++j) {
        mask[std::ptrdiff_t(i) * problem_.keys + j] = minus_infinity;
      }
    }
    Tensor* const tensor = library_.new_tensor_2d(context_, attend_ggml::type_float16, problem_.keys, rows);
    place(tensor, mask, mask_.count);
    return tensor;
  }

  Tensor* flash(Tensor* query, Tensor* key, Tensor* value, Tensor* mask) const {
    return library_.flash_attn_ext(context_, query, key, value, mask, problem_.scale, 0.0f, 0.0f);
  }

  // The values of a cache lie transposed; those that were computed just before are transposed here.
  Tensor* products(Tensor* query, Tensor* key, Tensor* value, Tensor* mask) const {
    Tensor* const scores = library_.mul_mat(context_, key, query);
    Tensor* const weights = library_.soft_max_ext(context_, scores, mask, problem_.scale, 0.0f);
    Tensor* const columns = in_cache() ? value : library_.cont(context_, library_.transpose(context_, value));
    Tensor* const heads = library_.mul_mat(context_, columns, weights);  // [heads][tokens][head_dim]
    if (problem_.queries == 1 || problem_.query_heads == 1) return heads;
    return library_.cont(context_, library_.permute(context_, heads, 0, 2, 1, 3));
  }

  const Library& library_;
  const PeerProblem problem_;
  const ggml::Type type_;
  Bytes key_memory_{0}, value_memory_{0}, mask_{0};
  Memory<float> transposed_{0};
  ggml::Context* context_;
  ggml::Graph* graph_;
  std::vector<ggml::Buffer*> buffers_;
};

const ggml::Libraries& libraries() {
  static const ggml::Libraries loaded = [] {
    const char* const folder = std::getenv("GGML_LIBRARIES");
    return folder && *folder ? ggml::load(folder) : ggml::Libraries{};
  }();
  return loaded;
}

// One of ggml's libraries in one of its ways.
template <const Library* ggml::Libraries::*library, Way way>
struct Runner {
  static std::shared_ptr<void> prepare(const PeerProblem& problem) {
    auto made = std::make_shared<Attention>(*(libraries().*library), way, problem);
    current = made.get();
    return made;
  }
  static void run(const PeerProblem&) { current->run(); }
  static constexpr Peer peer(const char* name) {
    return {name, run, 1 << 20, nullptr, way == Way::flash ? 3 : 2, prepare, copies_of};
  }
  inline static const Attention* current = nullptr;
};

const Peer avx2[] = {Runner<&ggml::Libraries::avx2, Way::flash>::peer("ggml-avx2:flash"),
                     Runner<&ggml::Libraries::avx2, Way::products>::peer("ggml-avx2:products")};
const Peer avx512[] = {Runner<&ggml::Libraries::avx512, Way::flash>::peer("ggml-avx512:flash"),
                       Runner<&ggml::Libraries::avx512, Way::products>::peer("ggml-avx512:products")};

}  // namespace

std::vector<const Peer*> ggml_peers() {
  std::vector<const Peer*> list;
  if (libraries().avx2) list.insert(list.end(), {&avx2[0], &avx2[1]});
  if (libraries().avx512) list.insert(list.end(), {&avx512[0], &avx512[1]});
  return list;
}

}  // namespace bench
