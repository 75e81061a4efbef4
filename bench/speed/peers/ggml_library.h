// What is needed of ggml, the library of tensors under llama.cpp: its functions by their names, loaded when the program runs.
//
// ggml is compiled once for each kind of processor, as libraries that stand side by side in a folder. Nothing of its headers is
// needed: its types are those of the adapter, and tensors, graphs and buffers stay behind pointers here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../adapters/ggml/ggml.h"

namespace bench::ggml {

using attend_ggml::Backend;
using attend_ggml::Buffer;
using attend_ggml::BufferType;
using attend_ggml::Graph;
using attend_ggml::status_success;
using attend_ggml::Tensor;
using attend_ggml::Type;
struct Context;
struct Threads;

// How the first argument of ggml_init lies in memory.
struct ContextSettings {
  std::size_t bytes;
  void* memory;           // null: the context allocates its own
  bool descriptors_only;  // numbers lie elsewhere
};

// One of the libraries, and a backend of one thread on it.
struct Library {
  Context* (*init)(ContextSettings);
  void (*free)(Context*);
  Tensor* (*new_tensor_1d)(Context*, Type, std::int64_t);
  Tensor* (*new_tensor_2d)(Context*, Type, std::int64_t, std::int64_t);
  Tensor* (*new_tensor_3d)(Context*, Type, std::int64_t, std::int64_t, std::int64_t);
  Tensor* (*view_3d)(Context*, Tensor*, std::int64_t, std::int64_t, std::int64_t, std::size_t, std::size_t, std::size_t);
  Tensor* (*permute)(Context*, Tensor*, int, int, int, int);
  Tensor* (*transpose)(Context*, Tensor*);
  Tensor* (*cont)(Context*, Tensor*);                                                  // a copy without gaps
  Tensor* (*mul_mat)(Context*, Tensor*, Tensor*);                                      // the second times the first transposed
  Tensor* (*soft_max_ext)(Context*, Tensor*, Tensor* mask, float scale, float alibi);  // the mask is added
  Tensor* (*flash_attn_ext)(Context*, Tensor*, Tensor*, Tensor*, Tensor* mask, float scale, float alibi, float soft_cap);
  // Linear attention, null where a library has none. Outputs of all tokens, then the state behind them; copies is 1.
  Tensor* (*gated_delta_net)(Context*, Tensor* query, Tensor* key, Tensor* value, Tensor* gates, Tensor* beta, Tensor* state,
                             std::int64_t copies);
  Tensor* (*ssm_scan)(Context*, Tensor* state, Tensor* x, Tensor* dt, Tensor* a, Tensor* b, Tensor* c, Tensor* sequences,
                      std::int64_t copies);
  Tensor* (*ssm_conv)(Context*, Tensor* inputs, Tensor* weights);
  Tensor* (*silu)(Context*, Tensor*);
  Tensor* (*concat)(Context*, Tensor*, Tensor*, int dimension);
  Tensor* (*cpy)(Context*, Tensor* from, Tensor* to);
  Tensor* (*new_tensor_4d)(Context*, Type, std::int64_t, std::int64_t, std::int64_t, std::int64_t);
  Graph* (*new_graph)(Context*);
  void (*build_forward_expand)(Graph*, Tensor*);
  std::size_t (*row_size)(Type, std::int64_t);
  std::size_t (*quantize_chunk)(Type, const float*, void*, std::int64_t first, std::int64_t rows, std::int64_t columns,
                                const float* weights);
  Backend* (*backend_cpu_init)();
  void (*backend_cpu_set_n_threads)(Backend*, int);
  void (*threadpool_params_init)(void* settings, int);  // of less than 4096 bytes
  Threads* (*threadpool_new)(void* settings);
  void (*backend_cpu_set_threadpool)(Backend*, Threads*);
  int (*backend_graph_compute)(Backend*, Graph*);  // a Status
  BufferType* (*backend_cpu_buffer_type)();
  Buffer* (*backend_cpu_buffer_from_ptr)(void*, std::size_t);
  int (*backend_tensor_alloc)(Buffer*, Tensor*, void*);                   // 0: the tensor's numbers lie there from now on
  Buffer* (*backend_alloc_ctx_tensors_from_buft)(Context*, BufferType*);  // of the tensors that lie nowhere yet
  void (*backend_buffer_free)(Buffer*);
  int (*cpu_has_avx512)();
  int (*cpu_has_avx2)();
  int (*backend_score)();  // 0: this processor lacks something; the largest is the best

  Backend* backend;
};

// The best library of the folder for this processor without AVX-512, and the best with it, each null where there is none. Says
// on standard error why the folder has none at all.
struct Libraries {
  const Library* avx2;
  const Library* avx512;
};
Libraries load(const char* folder);

}  // namespace bench::ggml
