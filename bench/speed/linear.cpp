// Linear projections, y = W x, beside the machine's limits and OpenBLAS, in turns, in one run.
//
//   linear [file]     a table on standard output; rows of tab-separated numbers to the file
//
// Several tokens: a fraction of the FMA peak. One token: bytes of weights in a second, as a fraction of what reading a buffer
// of as many bytes reaches. Weights of other formats are given as tokens in a second beside those of packed floats.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "attend/layers.h"
#include "attend/layers/core_linear.h"
#include "machine.h"
#include "peers/peers.h"
#include "timing.h"

namespace {

using attend::core::Format;
using attend::core::Linear;
using bench::Memory, bench::random_floats, bench::Timed, bench::time_in_turns;

// ATTEND_QUICK: one round of the smaller shapes tells that all of it runs.
const bool quick = std::getenv("ATTEND_QUICK") != nullptr;

struct Shape {
  int tokens, inputs, outputs;

  double weights() const { return double(inputs) * double(outputs); }
};

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
    case Format::int4:
      return run_linear<Format::int4>(linear);
    case Format::int16:  // no weights
      return;
  }
}

std::FILE* rows = nullptr;

void time_shape(const std::string& backend, const Shape& s, const std::vector<Format>& formats) {
  if (quick && s.weights() > 1e6) return;
  attend::use_backend(backend.c_str());
  const std::size_t tokens = std::size_t(s.tokens), inputs = std::size_t(s.inputs), outputs = std::size_t(s.outputs);
  const auto input = random_floats(tokens * inputs, 1), scales = random_floats(outputs, 2);
  const Memory<float> output(tokens * outputs), work(attend::core::linear_work_floats);
  Linear linear{};
  linear.input = input.get();
  linear.output = output.get();
  linear.input_stride = linear.weight_stride = s.inputs;
  linear.output_stride = s.outputs;
  linear.inputs = s.inputs;
  linear.outputs = s.outputs;
  linear.tokens = s.tokens;
  linear.work = work.get();
  const std::size_t numbers = attend::core::packed_weight_numbers(s.outputs, s.inputs);
  const auto weights = random_floats(numbers, 3);
  std::vector<Timed> calls;
  std::vector<double> bytes_of_weights;  // of each call
  std::vector<Memory<std::uint8_t>> others;
  const char* const names[] = {"float32", "float16", "bfloat16", "int8", "", "int4"};
  for (const Format format : formats) {
    for (const bool panels : {true, false}) {
      Linear of = linear;
      of.panels = panels;
      of.weights = weights.get();
      const std::size_t bytes = attend::core::format_bytes(format, numbers);
      if (format != Format::float32) {
        others.emplace_back(bytes);
        std::memset(others.back().get(), 0x31, bytes);
        of.weights = others.back().get();
        if (format == Format::int8) of.scales = scales.get();
      }
      calls.push_back({std::string(names[int(format)]) + (panels ? " packed" : " rows"), [format, of] { run(format, of); }});
      bytes_of_weights.push_back(double(bytes));
    }
  }
  for (int i = 0; i < bench::peer_count(); ++i) {
    const auto project = bench::peer(i).project;
    if (project == nullptr) continue;
    bytes_of_weights.push_back(double(numbers) * 4.0);
    calls.push_back({bench::peer(i).name, [&, project] {
                       project({linear.input, weights.get(), linear.output, s.tokens, s.inputs, s.outputs});
                     }});
  }
  double limit = 0.0;
  const int rounds = quick ? 1 : s.tokens > 1 ? 5 : 7;
  const auto probe = [&] {
    return s.tokens > 1 ? bench::fma_peak(backend.c_str(), 0.02)
                        : bench::read_bandwidth(backend.c_str(), weights.get(), numbers, 0.02);
  };
  for (int round = 0; round < rounds; ++round) {
    limit = std::max(limit, probe());
    time_in_turns(calls, 1, 0.03);
  }
  limit = std::max(limit, probe());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Timed& call = calls[i];
    const double seconds = call.least();
    const double rate = s.tokens > 1 ? 2.0 * s.weights() * s.tokens / seconds : bytes_of_weights[i] / seconds;
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
  const std::vector<Format> all = {Format::float32, Format::float16, Format::bfloat16, Format::int8, Format::int4};
  std::puts("        tokens x inputs x outputs, one thread; of the FMA peak, with one token of the read bandwidth");
  for (int i = attend::backend_count(); i-- > 0;) {
    const char* const backend = attend::backend_name(i);
    if (std::string(backend) == "scalar" || !attend::use_backend(backend)) continue;
    for (const Shape& s : {Shape{128, 512, 512}, Shape{1024, 1024, 1024}}) time_shape(backend, s, floats);
    time_shape(backend, {16, 64, 192}, floats);
    for (const Shape& s : {Shape{4, 512, 512}, Shape{1, 384, 512}, Shape{1, 1024, 4096}, Shape{1, 4096, 16384}})
      time_shape(backend, s, all);
  }
  if (rows) std::fclose(rows);
}
