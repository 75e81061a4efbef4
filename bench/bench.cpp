// Benchmarks: every figure is a fraction of what the same process measures of the machine, just before and after.
//
// Names say what is timed: operation/format/backend/shape, e.g. prefill/f32/avx2/q1024_k1024_d64_h8_causal.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../tests/random.h"
#include "attend/attend.h"
#include "machine.h"

namespace {

using attend::core::Problem;

constexpr double probe_seconds = 0.05;

struct Free {
  void operator()(float* p) const { std::free(p); }
};
using Buffer = std::unique_ptr<float[], Free>;

Buffer random_buffer(std::size_t floats, std::uint64_t seed) {
  const std::size_t bytes = (floats * sizeof(float) + 4095) / 4096 * 4096;
  Buffer buffer(static_cast<float*>(std::aligned_alloc(4096, bytes)));
  if (!buffer) throw std::bad_alloc();
  attend_test::Random(seed).fill(buffer.get(), floats);
  return buffer;
}

struct Shape {
  int queries, keys, head_dim, query_heads, kv_heads;
  bool causal;

  std::string name() const {
    std::string text = "q" + std::to_string(queries) + "_k" + std::to_string(keys) + "_d" + std::to_string(head_dim) + "_h" +
                       std::to_string(query_heads);
    if (kv_heads != query_heads) text += "_kv" + std::to_string(kv_heads);
    return causal ? text + "_causal" : text;
  }
};

// Memory for one problem over arrays (self-attention when causal) or over a cache.
struct Case {
  Case(const Shape& s, bool cache)
      : query(random_buffer(std::size_t(s.queries * s.query_heads * s.head_dim), 1)),
        output(random_buffer(std::size_t(s.queries * s.query_heads * s.head_dim), 2)) {
    const int rows = attend::core::rows_per_kv_head(s.query_heads, s.kv_heads, s.queries);
    const int row_block = std::min(rows, attend::config::row_block);
    const int key_block = cache && s.queries == 1 ? attend::segment_keys : attend::config::key_block;
    key_floats = attend::core::cache_key_floats(s.kv_heads, s.head_dim, s.keys);
    value_floats = attend::core::cache_value_floats(s.kv_heads, s.head_dim, s.keys);
    memory = random_buffer(key_floats + value_floats, 3);  // keys, then values: read one after the other
    scratch = random_buffer(attend::core::scratch_floats(row_block, key_block, s.head_dim, s.head_dim, s.keys, cache), 4);
    const int q_width = s.query_heads * s.head_dim, kv_width = s.kv_heads * s.head_dim;
    problem.query = {query.get(), q_width, s.head_dim};
    problem.output = {output.get(), q_width, s.head_dim};
    problem.key = {memory.get(), kv_width, s.head_dim};
    problem.value = {memory.get() + key_floats, kv_width, s.head_dim};
    if (cache) {
      problem.key = {memory.get(), 0, std::ptrdiff_t(key_floats) / s.kv_heads};
      problem.value = {memory.get() + key_floats, s.head_dim, std::ptrdiff_t(s.keys) * s.head_dim};
    }
    problem.query_heads = s.query_heads;
    problem.kv_heads = s.kv_heads;
    problem.head_dim = problem.value_dim = s.head_dim;
    problem.queries = s.queries;
    problem.keys = s.keys;
    problem.offset = s.keys - s.queries;
    problem.scale = attend::default_scale(s.head_dim);
    problem.causal = s.causal;
    problem.key_panels = cache;
    problem.row_block = row_block;
    problem.key_block = key_block;
    problem.scratch = scratch.get();
  }

  Buffer query, output, memory, scratch;
  std::size_t key_floats, value_floats;
  Problem problem{};
};

// Operations that count: two multiply-adds for each visible (query, key) pair and dimension.
double operations(const Shape& s) {
  double pairs = 0;
  for (int i = 0; i < s.queries; ++i) pairs += s.causal ? s.keys - s.queries + i + 1 : s.keys;
  return 4.0 * pairs * s.head_dim * s.query_heads;
}

// Runs the timed loop between two probes of the machine's limit; the better probe is the limit.
template <class Probe>
double timed(benchmark::State& state, const Problem& problem, Probe probe) {
  attend::core::run(problem);  // pages are mapped, the cache is warm
  double limit = probe();
  for (auto _ : state) attend::core::run(problem);
  limit = std::max(limit, probe());
  return limit;
}

void prefill(benchmark::State& state, const std::string& backend, const Shape& shape, bool cache) {
  attend::use_backend(backend.c_str());
  const Case made(shape, cache);
  const double peak = timed(state, made.problem, [&] { return bench::fma_peak(backend.c_str(), probe_seconds); });
  const double done = operations(shape) * double(state.iterations());
  state.counters["gflops"] = benchmark::Counter(done * 1e-9, benchmark::Counter::kIsRate);
  state.counters["peak_fraction"] = benchmark::Counter(done / peak, benchmark::Counter::kIsRate);
}

void decode(benchmark::State& state, const std::string& backend, const Shape& shape) {
  attend::use_backend(backend.c_str());
  const Case made(shape, true);
  const std::size_t floats = made.key_floats + made.value_floats;
  const double bandwidth = timed(
      state, made.problem, [&] { return bench::read_bandwidth(backend.c_str(), made.memory.get(), floats, probe_seconds); });
  const double done = double(floats) * sizeof(float) * double(state.iterations());
  state.counters["gbps"] = benchmark::Counter(done * 1e-9, benchmark::Counter::kIsRate);
  state.counters["bandwidth_fraction"] = benchmark::Counter(done / bandwidth, benchmark::Counter::kIsRate);
}

void add(const std::string& backend, const char* operation, const Shape& shape) {
  const std::string name = std::string(operation) + "/f32/" + backend + "/" + shape.name();
  if (std::strcmp(operation, "decode") == 0) {
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { decode(state, backend, shape); });
  } else {
    const bool cache = std::strcmp(operation, "prefill_cache") == 0;
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { prefill(state, backend, shape, cache); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 0; i < attend::backend_count(); ++i) {
    if (!attend::backend_available(i)) continue;
    const std::string backend = attend::backend_name(i);
    if (backend == "scalar") {  // the reference; with a software multiply-add on x86, so small
      add(backend, "prefill", {64, 64, 32, 4, 4, true});
      continue;
    }
    for (const bool causal : {false, true}) {
      add(backend, "prefill", {1024, 1024, 64, 1, 1, causal});
      add(backend, "prefill", {1024, 1024, 64, 8, 8, causal});
      add(backend, "prefill_cache", {1024, 1024, 64, 8, 8, causal});
      add(backend, "prefill", {1024, 1024, 128, 8, 8, causal});
      add(backend, "prefill", {128, 128, 64, 8, 8, causal});
    }
    add(backend, "prefill", {197, 197, 64, 12, 12, false});
    add(backend, "prefill", {4096, 4096, 64, 1, 1, true});
    add(backend, "prefill", {64, 64, 32, 4, 4, true});
    add(backend, "prefill", {16, 16, 16, 4, 4, true});
    add(backend, "decode", {1, 4096, 64, 8, 8, false});
    add(backend, "decode", {1, 512, 64, 8, 8, false});
    add(backend, "decode", {1, 128, 64, 8, 8, false});
    add(backend, "decode", {1, 4096, 128, 8, 8, false});
    add(backend, "decode", {1, 4096, 128, 32, 8, false});
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
