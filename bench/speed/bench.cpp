// Benchmarks: every figure is a fraction of what the same process measures of the machine, just before and after.
//
// Names say what is timed: operation/format/backend or peer/shape, e.g. prefill/f32/avx2/q1024_k1024_d64_h8_causal.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "attend/attend.h"
#include "cases.h"
#include "machine.h"
#include "peers/peers.h"
#include "team.h"

namespace {

using bench::Case;
using bench::Format;
using bench::Layout;
using bench::Peer;
using bench::Shape;

constexpr double probe_seconds = 0.02;

// What one row times.
struct Row {
  std::string name;
  std::string backend;  // that computes, or whose limits a peer's figures are fractions of
  const Peer* peer;     // or null: ours
  Shape shape;
  bool decode;
  Layout layout;
  Format format;   // of a cache
  int threads;     // 0: the whole problem in one call, as everybody without threads makes it
  bool key_parts;  // whether threads share keys, and not heads or tokens
};

bool failed = false;

// Repetitions are interleaved, so that results come late; this shows that something happens.
void show_progress(const std::string& name) {
  static int runs = 0;
  ++runs;
  if (isatty(2)) {
    std::fprintf(stderr, "\r  %5d %-70s", runs, name.c_str());
  } else if (runs % 100 == 0) {
    std::fprintf(stderr, "  %5d runs, now %s\n", runs, name.c_str());
  }
}

// Runs the timed loop between two probes of the machine's limit; the better probe is the limit.
template <class Work, class Probe>
double timed(benchmark::State& state, Work work, Probe probe) {
  work();  // pages are mapped, the cache is warm
  double limit = probe();
  for (auto _ : state) work();
  return std::max(limit, probe());
}

// Each thread takes some segments of keys into states, and then one merges and finishes these.
template <class Probe>
double timed_key_parts(benchmark::State& state, const Row& row, const Case& made, Probe probe) {
  namespace core = attend::core;
  const Shape& s = row.shape;
  const int nodes = core::state_nodes(s.keys), rows = s.query_heads * s.queries, last = row.threads - 1;
  const auto floats = std::ptrdiff_t(core::state_floats(s.head_dim, nodes));
  const std::size_t work = core::option_scratch_floats(1, attend::config::key_block, s.head_dim, s.head_dim, 0);
  std::vector<std::vector<float>> states(std::size_t(row.threads), std::vector<float>(std::size_t(rows * floats)));
  std::vector<std::vector<float>> scratch(std::size_t(row.threads), std::vector<float>(work));
  const auto with_states = [&](int part) {
    core::Options options;
    options.states = {states[std::size_t(part)].data(), s.query_heads * floats, floats};
    options.begins = true;
    return options;
  };
  const auto cut = [&](int part) { return s.keys / attend::segment_keys * part / row.threads * attend::segment_keys; };
  bench::Team team(row.threads, [&](int part) {
    core::Problem problem = made.ours(part);
    core::Options options = with_states(part);
    options.first_key = cut(part);
    problem.keys = part == last ? s.keys : cut(part + 1);
    problem.row_block = 1, problem.key_block = attend::config::key_block;
    problem.scratch = scratch[std::size_t(part)].data();
    core::Floats::run(problem, options);
  });
  return timed(
      state,
      [&] {
        team.run();
        for (int part = 0; part < last; ++part)
          core::Floats::merge(states[std::size_t(last)].data(), states[std::size_t(part)].data(), false, rows, s.head_dim,
                              nodes);
        core::Floats::finish(made.ours(), with_states(last));
      },
      probe);
}

template <class Probe>
double timed(benchmark::State& state, const Row& row, const Case& made, Probe probe) {
  if (row.threads == 0) return timed(state, made.call(row.peer), probe);
  if (row.key_parts) return timed_key_parts(state, row, made, probe);
  bench::Team team(row.threads, [&](int part) { attend::core::Floats::run_part(made.ours(part), part, row.threads); });
  return timed(
      state, [&] { team.run(); }, probe);
}

void measure(benchmark::State& state, const Row& row) {
  attend::use_backend(row.backend.c_str());
  const Case made(row.shape, row.layout, row.format);
  static std::set<std::string> checked;
  if (checked.insert(row.name).second) made.check(row.name, row.peer);
  const double threads = std::max(row.threads, 1), copies = made.copies(row.peer);
  if (row.decode) {
    const std::size_t floats = made.cache_floats();
    const double limit = timed(state, row, made,
                               [&] { return bench::read_bandwidth(row.backend.c_str(), made.cache(), floats, probe_seconds); });
    const double done = double(floats) * sizeof(float) * copies * double(state.iterations());
    state.counters["gbps"] = benchmark::Counter(done * 1e-9, benchmark::Counter::kIsRate);
    state.counters["bandwidth_fraction"] = benchmark::Counter(done / (limit * threads), benchmark::Counter::kIsRate);
  } else {
    const double limit = timed(state, row, made, [&] { return bench::fma_peak(row.backend.c_str(), probe_seconds); });
    const double done = bench::operations(row.shape) * copies * double(state.iterations());
    state.counters["gflops"] = benchmark::Counter(done * 1e-9, benchmark::Counter::kIsRate);
    state.counters["peak_fraction"] = benchmark::Counter(done / (limit * threads), benchmark::Counter::kIsRate);
  }
}

void run(benchmark::State& state, const Row& row) {
  show_progress(row.name);
  try {
    measure(state, row);
  } catch (const std::bad_alloc&) {
    static std::set<std::string> told;
    if (told.insert(row.name).second) std::fprintf(stderr, "\nbench: %s is left out: not enough memory\n", row.name.c_str());
    state.SkipWithError("not enough memory");
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "\nbench: %s\n", error.what());
    state.SkipWithError("wrong output");
    failed = true;
  }
}

std::vector<std::string> backends() {
  std::vector<std::string> names;
  for (int i = 0; i < attend::backend_count(); ++i) {
    if (attend::backend_available(i)) names.push_back(attend::backend_name(i));
  }
  return names;
}

void add_row(const std::string& operation, const std::string& who, Row row) {
  static const char* const formats[] = {"f32", "f16", "i8"};
  row.name = operation + "/" + formats[int(row.format)] + "/" + who + "/" + row.shape.name();
  if (row.threads > 0) row.name += "_t" + std::to_string(row.threads);
  auto* added = benchmark::RegisterBenchmark(row.name.c_str(), [row](benchmark::State& state) { run(state, row); });
  if (row.threads > 0) added->UseRealTime();
}

// One shape, by each backend and, without threads, each peer: over arrays, or each over the cache that it reads best. The
// scalar backend, the reference, multiplies and adds in software on many hosts and runs only small prefills.
void add(const std::string& operation, const Shape& shape, int threads = 0, Format format = Format::float32) {
  const bool key_parts = operation == "decode_key_parts", decode = key_parts || operation == "decode",
             cached = decode || operation == "prefill_cache";
  const Layout layout = cached ? Layout::cache : Layout::tokens, peer_layout = cached ? Layout::heads : Layout::tokens;
  const std::vector<std::string> names = backends();
  for (const std::string& backend : names) {
    if (backend == "scalar" && names.size() > 1 && (decode || shape.queries > 64)) continue;
    add_row(operation, backend, {"", backend, nullptr, shape, decode, layout, format, threads, key_parts});
  }
  if (threads > 0) return;
  for (int i = 0; i < bench::peer_count(); ++i) {
    const Peer& peer = bench::peer(i);
    if (shape.queries <= peer.longest && int(format) < peer.formats)
      add_row(operation, peer.name, {"", names[0], &peer, shape, decode, peer_layout, format, threads, false});
  }
}

void add_all() {
  for (const bool causal : {false, true}) {
    for (const int length : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}) add("prefill", {length, length, 64, 1, 1, causal});
    for (const int head_dim : {64, 128}) {
      for (const int length : {1024, 2048, 4096}) add("prefill", {length, length, head_dim, 1, 1, causal});
    }
  }
  add("prefill", {197, 197, 64, 12, 12, false});
  for (const bool causal : {false, true}) add("prefill", {128, 128, 64, 8, 8, causal});
  add("prefill", {64, 64, 32, 4, 4, true});
  add("prefill", {16, 16, 16, 4, 4, true});
  for (const bool causal : {false, true}) {
    add("prefill", {1024, 1024, 64, 8, 8, causal});
    add("prefill_cache", {1024, 1024, 64, 8, 8, causal});
  }
  for (const int keys : {64, 128, 256, 512, 2048, 4096, 16384, 131072}) add("decode", {1, keys, 64, 8, 8, false});
  add("decode", {1, 16, 16, 4, 4, false});
  for (const int query_heads : {8, 32}) add("decode", {1, 4096, 128, query_heads, 8, false});
  for (const Format format : {Format::float16, Format::int8}) {
    for (const bool causal : {false, true}) add("prefill_cache", {1024, 1024, 64, 8, 8, causal}, 0, format);
    for (const int keys : {256, 2048, 131072}) add("decode", {1, keys, 64, 8, 8, false}, 0, format);
  }
  for (const int threads : {1, 2}) {
    add("prefill", {1024, 1024, 64, 8, 8, false}, threads);
    add("decode", {1, 256, 64, 8, 8, false}, threads);
    add("decode_key_parts", {1, 2048, 64, 1, 1, false}, threads);
  }
}

}  // namespace

int main(int argc, char** argv) {
  add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  if (isatty(2)) std::fputs("\n", stderr);
  return failed ? 1 : 0;
}
