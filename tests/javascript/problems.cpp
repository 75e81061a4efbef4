// Computes the problems of problems.mjs with the native library, and compares every bit: problems FILE
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <vector>

#include "attend/attend_c.h"

namespace {

struct Fields {
  std::int32_t batch, heads, kv_heads, head_dim, value_dim, queries, keys, causal, left, right, heads_first, masked, biased, cached,
      format, weights, alibi, placed, sinks;
  float scale, soft_cap;
};

struct FreeAligned {
  void operator()(void* memory) const { ::operator delete(memory, std::align_val_t(ATTEND_ALIGNMENT)); }
};
using Memory = std::unique_ptr<void, FreeAligned>;
Memory aligned(std::size_t bytes) { return Memory(::operator new(bytes + 1, std::align_val_t(ATTEND_ALIGNMENT))); }

std::vector<char> file;
std::size_t at = 0;

const float* next(std::size_t bytes) {
  const std::size_t begin = at;
  at += bytes;
  if (at > file.size()) {
    std::puts("the file ends too soon");
    std::exit(1);
  }
  return static_cast<const float*>(static_cast<const void*>(file.data() + begin));
}

bool holds(attend_status status, int number) {
  if (status == ATTEND_OK) return true;
  std::printf("problem %d: %s: %s\n", number, attend_argument_name(status), attend_error_text(status));
  return false;
}

bool same(int number, const char* what, const std::vector<float>& expected) {
  if (std::memcmp(expected.data(), next(expected.size() * sizeof(float)), expected.size() * sizeof(float)) == 0) return true;
  std::printf("problem %d: another %s\n", number, what);
  return false;
}

bool run(int number) {
  Fields f;
  std::memcpy(&f, next(sizeof f), sizeof f);
  const auto count = [](std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
    return std::size_t(a) * std::size_t(b) * std::size_t(c) * std::size_t(d);
  };
  const std::size_t outputs = count(f.batch, f.queries, f.heads, f.value_dim), rows = count(f.batch, f.queries, f.heads, 1);
  attend_problem problem;
  attend_problem_init(&problem, sizeof problem);
  problem.batch = f.batch, problem.query_heads = f.heads, problem.kv_heads = f.kv_heads;
  problem.head_dim = f.head_dim, problem.value_dim = f.value_dim, problem.queries = f.queries;
  problem.scale = f.scale, problem.soft_cap = f.soft_cap;
  if (f.causal != 0) problem.options = ATTEND_CAUSAL;
  problem.window_left = f.left, problem.window_right = f.right, problem.sink_tokens = f.sinks;
  if (f.heads_first != 0) problem.layout = ATTEND_BATCH_HEAD_TOKEN_DIM;
  if (f.placed != 0) problem.offset = f.keys - f.queries;
  problem.query.data = next(count(f.batch, f.queries, f.heads, f.head_dim) * sizeof(float));
  const float* const key = next(count(f.batch, f.keys, f.kv_heads, f.head_dim) * sizeof(float));
  const float* const value = next(count(f.batch, f.keys, f.kv_heads, f.value_dim) * sizeof(float));
  const float* const mask = next((count(f.queries, f.keys, 1, 1) + 3) / 4 * 4);
  const float* const bias = next(count(f.heads, f.queries, f.keys, 1) * sizeof(float));
  const float* const slopes = next(std::size_t(f.heads) * sizeof(float));
  if (f.masked != 0) problem.mask = {mask, 0, 0, ATTEND_DENSE, ATTEND_ALL_KEYS, ATTEND_MASK_BYTES};
  if (f.biased != 0) problem.bias = {bias, 0, ATTEND_DENSE, ATTEND_DENSE, ATTEND_ALL_KEYS};
  if (f.alibi != 0) problem.alibi_slopes = slopes;
  Memory memory;
  if (f.cached != 0) {
    attend_cache_shape shape;
    attend_cache_shape_init(&shape, sizeof shape);
    shape.kv_heads = f.kv_heads, shape.head_dim = f.head_dim, shape.value_dim = f.value_dim, shape.max_tokens = f.keys;
    shape.key_format = shape.value_format = f.format;
    memory = aligned(attend_cache_size(&shape));
    attend_cache* cache = nullptr;
    const attend_input k = {key, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE}, v = {value, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
    if (!holds(attend_cache_init(&shape, memory.get(), attend_cache_size(&shape), &cache), number)) return false;
    if (!holds(attend_cache_append(cache, f.keys, &k, &v), number)) return false;
    problem.cache = cache, problem.keys = ATTEND_ALL_KEYS;
  } else {
    problem.key.data = key, problem.value.data = value, problem.keys = f.keys;
  }
  std::vector<float> output(outputs), lse(rows), scores(f.weights != 0 ? rows * std::size_t(f.keys) : 0);
  problem.output.data = output.data(), problem.lse.data = lse.data();
  if (f.weights != 0) problem.scores.data = scores.data(), problem.scores.stage = ATTEND_SCORES_WEIGHTS;
  const std::size_t bytes = attend_workspace_size(&problem);
  const Memory work = aligned(bytes);
  if (!holds(attend_run(&problem, work.get(), bytes), number)) return false;
  return same(number, "output", output) && same(number, "log-sum-exp", lse) && same(number, "weight", scores);
}

}  // namespace

int main(int, char** arguments) {
  std::ifstream stream(arguments[1], std::ios::binary);
  file.assign(std::istreambuf_iterator<char>(stream), {});
  int number = 0;
  while (at < file.size()) {
    if (!run(number++)) return 1;
  }
  std::printf("%d problems\n", number);
  return number > 0 ? 0 : 1;
}
