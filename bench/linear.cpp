// Linear projections, y = W x, beside the machine's limits and OpenBLAS, in turns, in one run.
//
//   linear [file]     a table on standard output; rows of tab-separated numbers to the file
//
// Several tokens: a fraction of the FMA peak. One token: bytes of weights in a second, as a fraction of what reading a buffer
// of as many bytes reaches. Weights of other formats are given as tokens in a second beside those of packed floats.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../tests/support/random.h"
#include "attend/attend.h"
#include "attend/core_linear.h"
#include "machine.h"
#include "peers/peers.h"

namespace {

using attend::core::Format;
using attend::core::Linear;

struct Free {
  void operator()(void* p) const { std::free(p); }
};

struct Memory {
  explicit Memory(std::size_t count) : bytes(count) {
    constexpr std::size_t page = std::size_t(1) << 21;
    data.reset(std::aligned_alloc(page, (count + page - 1) / page * page));
    if (!data) throw std::bad_alloc();
    std::memset(data.get(), 0, count);
  }
  float* floats() const { return static_cast<float*>(data.get()); }
  std::size_t bytes;
  std::unique_ptr<void, Free> data;
};

Memory random_floats(std::size_t count, std::uint64_t seed) {
  Memory memory(count * sizeof(float));
  attend_test::Random(seed).fill(memory.floats(), count);
  return memory;
}

struct Shape {
  int tokens, inputs, outputs;

  double weights() const { return double(inputs) * double(outputs); }
};

// Something to time: its times, of which the least counts.
struct Timed {
  std::string name;
  double bytes;  // of weights
  std::function<void()> run;
  std::vector<double> seconds{};

  double least() const { return *std::min_element(seconds.begin(), seconds.end()); }
};

void time_in_turns(std::vector<Timed>& calls, int rounds, double window) {
  for (Timed& call : calls) call.run();
  for (int round = 0; round < rounds; ++round) {
    for (Timed& call : calls) {
      int runs = 0;
      const double begin = bench::seconds_now();
      double end;
      do {
        call.run();
        ++runs;
        end = bench::seconds_now();
      } while (end - begin < window);
      call.seconds.push_back((end - begin) / runs);
    }
  }
}

void run(Format format, const Linear& linear) {
  using namespace attend::core;
  switch (format) {
    case Format::float32:
      return run_linear<Format::float32>(linear);
    case Format::float16:
      return run_linear<Format::float16>(linear);
    case Format::bfloat16:
      return run_linear<Format::bfloat16>(linear);
    case Format::int8:
      return run_linear<Format::int8>(linear);
  }
}

std::FILE* rows = nullptr;

void time_shape(const std::string& backend, const Shape& s, const std::vector<Format>& formats) {
  attend::use_backend(backend.c_str());
  const std::size_t tokens = std::size_t(s.tokens), inputs = std::size_t(s.inputs), outputs = std::size_t(s.outputs);
  const Memory input = random_floats(tokens * inputs, 1), output(tokens * outputs * sizeof(float));
  const Memory scales = random_floats(outputs, 2), work(attend::core::linear_work_floats * sizeof(float));
  Linear linear{};
  linear.input = input.floats();
  linear.output = output.floats();
  linear.input_stride = linear.weight_stride = s.inputs;
  linear.output_stride = s.outputs;
  linear.inputs = s.inputs;
  linear.outputs = s.outputs;
  linear.tokens = s.tokens;
  linear.work = work.floats();
  const std::size_t numbers = attend::core::packed_weight_numbers(s.outputs, s.inputs);
  const Memory weights = random_floats(numbers, 3);
  std::vector<Timed> calls;
  std::vector<std::unique_ptr<Memory>> others;
  const char* const names[] = {"float32", "float16", "bfloat16", "int8"};
  for (const Format format : formats) {
    for (const bool panels : {true, false}) {
      Linear of = linear;
      of.panels = panels;
      of.weights = weights.floats();
      const std::size_t bytes = numbers * attend::core::format_bytes(format);
      if (format != Format::float32) {
        others.emplace_back(new Memory(bytes));
        std::memset(others.back()->data.get(), 0x31, bytes);
        of.weights = others.back()->data.get();
        if (format == Format::int8) of.scales = scales.floats();
      }
      calls.push_back(
          {std::string(names[int(format)]) + (panels ? " packed" : " rows"), double(bytes), [format, of] { run(format, of); }});
    }
  }
  for (int i = 0; i < bench::peer_count(); ++i) {
    const auto project = bench::peer(i).project;
    if (project == nullptr) continue;
    calls.push_back({bench::peer(i).name, double(numbers) * 4.0, [&, project] {
                       project({linear.input, weights.floats(), linear.output, s.tokens, s.inputs, s.outputs});
                     }});
  }
  double limit = 0.0;
  const int rounds = s.tokens > 1 ? 5 : 7;
  const auto probe = [&] {
    return s.tokens > 1 ? bench::fma_peak(backend.c_str(), 0.02)
                        : bench::read_bandwidth(backend.c_str(), weights.floats(), numbers, 0.02);
  };
  for (int round = 0; round < rounds; ++round) {
    limit = std::max(limit, probe());
    time_in_turns(calls, 1, 0.03);
  }
  limit = std::max(limit, probe());
  for (const Timed& call : calls) {
    const double seconds = call.least();
    const double rate = s.tokens > 1 ? 2.0 * s.weights() * s.tokens / seconds : call.bytes / seconds;
    std::printf("%-7s %5d x %5d x %5d  %-16s %8.1f %s  %5.1f %%   %.2f x packed floats\n", backend.c_str(), s.tokens, s.inputs,
                s.outputs, call.name.c_str(), rate * 1e-9, s.tokens > 1 ? "GFLOP/s" : "GB/s   ", 100.0 * rate / limit,
                calls[0].least() / seconds);
    if (rows) {
      std::fprintf(rows, "%s\t%d\t%d\t%d\t%s\t%.3f\t%.4f\t%.4f\n", backend.c_str(), s.tokens, s.inputs, s.outputs,
                   call.name.c_str(), rate * 1e-9, rate / limit, calls[0].least() / seconds);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) rows = std::fopen(argv[1], "w");
  const std::vector<Format> floats = {Format::float32};
  const std::vector<Format> all = {Format::float32, Format::float16, Format::bfloat16, Format::int8};
  std::puts("        tokens x inputs x outputs, one thread; of the FMA peak, with one token of the read bandwidth");
  for (const char* backend : {"avx2", "avx512", "neon", "rvv"}) {
    if (!attend::use_backend(backend)) continue;
    for (const Shape& s : {Shape{128, 512, 512}, Shape{1024, 1024, 1024}}) time_shape(backend, s, floats);
    time_shape(backend, {4, 512, 512}, floats);
    time_shape(backend, {16, 64, 192}, floats);
    for (const Shape& s : {Shape{1, 384, 512}, Shape{1, 1024, 4096}, Shape{1, 4096, 16384}}) time_shape(backend, s, all);
  }
  if (rows) std::fclose(rows);
}
