/* What bench/speed/peers calls of ggml, for tests: the fused operator computes attention on float32, products compute nothing. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct Tensor Tensor;
struct Tensor {
  int64_t extents[3];
  size_t strides[3];
  char* data;
  const Tensor *query, *key, *value, *mask; /* of a fused operator */
  float scale;
};
typedef struct {
  size_t bytes;
  void* memory;
  char descriptors_only;
} Settings;

static Tensor* fused[64];
static int fused_count;

static Tensor* make(size_t size, int64_t x, int64_t y, int64_t z) {
  Tensor* tensor = calloc(1, sizeof *tensor);
  const int64_t extents[3] = {x, y, z};
  for (int i = 0; i < 3; ++i) {
    tensor->extents[i] = extents[i];
    tensor->strides[i] = i == 0 ? size : tensor->strides[i - 1] * (size_t)extents[i - 1];
  }
  return tensor;
}
static size_t size_of(int type) { return type == 0 ? 4 : 2; }

void* ggml_init(Settings settings) { return fused_count = 0, malloc(settings.bytes ? 1 : 2); }
void ggml_free(void* context) { free(context); }
Tensor* ggml_new_tensor_1d(void* c, int type, int64_t x) { return (void)c, make(size_of(type), x, 1, 1); }
Tensor* ggml_new_tensor_2d(void* c, int type, int64_t x, int64_t y) { return (void)c, make(size_of(type), x, y, 1); }
Tensor* ggml_new_tensor_3d(void* c, int type, int64_t x, int64_t y, int64_t z) { return (void)c, make(size_of(type), x, y, z); }
Tensor* ggml_view_3d(void* c, Tensor* of, int64_t x, int64_t y, int64_t z, size_t second, size_t third, size_t first) {
  Tensor* view = ggml_new_tensor_3d(c, 0, x, y, z);
  view->strides[1] = second, view->strides[2] = third, view->data = of->data + first;
  return view;
}
/* Only what exchanges the second extent and the third. */
Tensor* ggml_permute(void* c, Tensor* of, int a, int b, int d, int e) {
  Tensor* view = ggml_view_3d(c, of, of->extents[0], of->extents[2], of->extents[1], of->strides[2], of->strides[1], 0);
  return a == 0 && b == 2 && d == 1 && e == 3 ? view : NULL;
}
Tensor* ggml_transpose(void* c, Tensor* of) { return (void)c, of; }
Tensor* ggml_cont(void* c, Tensor* of) { return (void)c, make(4, of->extents[0], of->extents[1], of->extents[2]); }
Tensor* ggml_mul_mat(void* c, Tensor* a, Tensor* b) { return (void)c, make(4, a->extents[1], b->extents[1], b->extents[2]); }
Tensor* ggml_soft_max_ext(void* c, Tensor* of, Tensor* mask, float scale, float alibi) {
  return (void)mask, (void)scale, (void)alibi, ggml_cont(c, of);
}
Tensor* ggml_flash_attn_ext(void* c, Tensor* q, Tensor* k, Tensor* v, Tensor* mask, float scale, float alibi, float cap) {
  Tensor* result = make(4, v->extents[0], q->extents[2], q->extents[1]);
  result->query = q, result->key = k, result->value = v, result->mask = mask, result->scale = scale;
  return (void)c, (void)alibi, (void)cap, fused[fused_count++] = result;
}
void* ggml_new_graph(void* context) { return context; }
void ggml_build_forward_expand(void* graph, Tensor* result) { (void)graph, (void)result; }
size_t ggml_row_size(int type, int64_t count) { return size_of(type) * (size_t)count; }
size_t ggml_quantize_chunk(int type, const float* from, void* to, int64_t first, int64_t rows, int64_t columns, const float* w) {
  return (void)type, (void)from, (void)to, (void)first, (void)w, (size_t)(rows * columns);
}

static const float* row(const Tensor* t, int64_t y, int64_t z) {
  return (const float*)(const void*)(t->data + (size_t)y * t->strides[1] + (size_t)z * t->strides[2]);
}
static void attend(const Tensor* result, int64_t token, int64_t head) {
  const Tensor *key = result->key, *mask = result->mask;
  const int64_t keys = key->extents[1], dims = key->extents[0], kv = head / (result->query->extents[2] / key->extents[2]);
  float* output = (float*)(void*)(result->data + (size_t)head * result->strides[1] + (size_t)token * result->strides[2]);
  double total = 0, sums[512] = {0};
  for (int64_t j = 0; j < keys; ++j) {
    double score = 0;
    uint16_t masked = 0;
    if (mask != NULL) memcpy(&masked, mask->data + (size_t)token * mask->strides[1] + 2 * (size_t)j, 2);
    if (masked != 0) continue;
    for (int64_t d = 0; d < dims; ++d) score += (double)row(result->query, token, head)[d] * (double)row(key, j, kv)[d];
    const double weight = exp(score * (double)result->scale);
    total += weight;
    for (int64_t d = 0; d < dims; ++d) sums[d] += weight * (double)row(result->value, j, kv)[d];
  }
  for (int64_t d = 0; d < dims; ++d) output[d] = (float)(sums[d] / total);
}
int ggml_backend_graph_compute(void* backend, void* graph) {
  (void)backend, (void)graph;
  if (fused_count == 0) return 0;
  for (int64_t token = 0; token < fused[0]->extents[2]; ++token) {
    for (int64_t head = 0; head < fused[0]->extents[1]; ++head) attend(fused[0], token, head);
  }
  return 0;
}

void* ggml_backend_cpu_init(void) { return &fused_count; }
void ggml_backend_cpu_set_n_threads(void* backend, int count) { (void)backend, (void)count; }
void ggml_threadpool_params_init(void* settings, int count) { (void)settings, (void)count; }
void* ggml_threadpool_new(void* settings) { return settings; }
void ggml_backend_cpu_set_threadpool(void* backend, void* threads) { (void)backend, (void)threads; }
void* ggml_backend_cpu_buffer_type(void) { return NULL; }
void* ggml_backend_cpu_buffer_from_ptr(void* first, size_t bytes) { return (void)bytes, first; }
int ggml_backend_tensor_alloc(void* buffer, Tensor* tensor, void* at) { return (void)buffer, tensor->data = at, 0; }
void* ggml_backend_alloc_ctx_tensors_from_buft(void* context, void* type) { return (void)context, type; }
void ggml_backend_buffer_free(void* buffer) { (void)buffer; }
int ggml_cpu_has_avx512(void) { return 0; }
int ggml_cpu_has_avx2(void) { return 1; }
int ggml_backend_score(void) { return 1; }
