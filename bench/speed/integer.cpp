// Integer attention beside the same call in float32, in turns, in one run, on one thread; decode beside reading as many bytes;
// and projections beside those in float32. A table on standard output.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../../src/layers/list.h"
#include "../../tests/support/random.h"
#include "attend/attend.h"
#include "attend/core/integer.h"
#include "attend/integer.h"
#include "attend/layers/core_linear.h"
#include "machine.h"
#include "timing.h"

namespace {

using attend::core::Problem;
using bench::Memory, bench::random_floats, bench::Timed, bench::time_in_turns;
namespace core = attend::core;
namespace config = attend::config;

const core::ScoreScale score_scale = core::score_scale(1.0 / 4096);
const core::OutputScale output_scale = core::output_scale(1.0);

Memory<std::int8_t> random_bytes(std::size_t count, std::uint64_t seed) {
  Memory<std::int8_t> memory(count);
  attend_test::Random random(seed);
  for (std::size_t i = 0; i < count; ++i) memory.get()[i] = std::int8_t(random.between(-128, 127));
  return memory;
}

void time_prefill(const std::string& backend, int tokens, int dims) {
  const std::size_t numbers = std::size_t(tokens) * std::size_t(dims);
  const auto query = random_floats(numbers, 1), key = random_floats(numbers, 2), value = random_floats(numbers, 3);
  Memory<float> output(numbers);
  Problem f{};
  f.query = {query.get(), dims, dims};
  f.key = {key.get(), dims, dims};
  f.value = {value.get(), dims, dims};
  f.output = {output.get(), dims, dims};
  f.query_heads = f.kv_heads = 1;
  f.head_dim = f.value_dim = dims;
  f.queries = f.keys = tokens;
  f.scale = attend::default_scale(dims);
  f.row_block = std::min(tokens, config::row_block);
  f.key_block = std::min(core::whole_chains(tokens), config::key_block);
  Memory<float> float_scratch(core::scratch_floats(f.row_block, f.key_block, dims, dims, tokens, false));
  f.scratch = float_scratch.get();

  const auto query_8 = random_bytes(numbers, 4), key_8 = random_bytes(numbers, 5), value_8 = random_bytes(numbers, 6);
  Memory<std::int8_t> output_8(numbers);
  Problem i{};
  i.query = {query_8.get(), dims, dims};
  i.key = {key_8.get(), dims, dims};
  i.value = {value_8.get(), dims, dims};
  i.output = {output_8.get(), dims, dims};
  i.query_heads = i.kv_heads = 1;
  i.head_dim = i.value_dim = dims;
  i.queries = i.keys = tokens;
  i.score_scales = &score_scale;
  i.output_scales = &output_scale;
  i.row_block = std::min(tokens, config::integer_row_block);
  i.key_block = config::integer_key_block;
  Memory<char> scratch(core::integer_scratch_bytes(i.row_block, i.key_block, dims, dims, core::segment_levels(tokens)));
  i.scratch = scratch.get();

  Problem causal_f = f;
  Problem causal_i = i;
  causal_f.causal = causal_i.causal = true;
  std::vector<Timed> calls = {{"float32", [&] { core::Floats::run(f); }},
                              {"integers", [&] { core::Integers::run(i); }},
                              {"causal, float32", [&] { core::Floats::run(causal_f); }},
                              {"causal, integers", [&] { core::Integers::run(causal_i); }}};
#if ATTEND_X86
  // The library takes AVX-VNNI where it can.
  if (backend == "avx2") {
    calls.push_back({"integers without VNNI", [&] { attend::avx2::Backend::run_integers(i); }});
  }
#endif
  time_in_turns(calls, 25, 0.005);
  std::printf("\nprefill, %s, %d x %d, head_dim %d, one head\n", backend.c_str(), tokens, tokens, dims);
  for (std::size_t c = 0; c < calls.size(); ++c) {
    const bool causal = c == 2 || c == 3;
    const double work = 4.0 * tokens * double(numbers) / (causal ? 2 : 1), floats = calls[causal ? 2 : 0].least();
    std::printf("  %-22s %9.1f us  %7.1f G operations/s  %5.2f times float32\n", calls[c].name.c_str(), 1e6 * calls[c].least(),
                1e-9 * work / calls[c].least(), floats / calls[c].least());
  }
}

void time_decode(const std::string& backend, int tokens, int heads, int dims, bool panels) {
  const std::size_t width = std::size_t(heads) * std::size_t(dims), bytes = 2 * width * std::size_t(tokens);
  const auto query = random_bytes(width, 7), cache = random_bytes(bytes, 8);
  Memory<std::int8_t> output(width);
  Problem p{};
  p.query = {query.get(), 0, dims};
  p.key = {cache.get(), dims, std::ptrdiff_t(tokens) * dims};
  p.value = {cache.get() + bytes / 2, dims, std::ptrdiff_t(tokens) * dims};
  p.output = {output.get(), 0, dims};
  p.query_heads = p.kv_heads = heads;
  p.head_dim = p.value_dim = dims;
  p.queries = 1;
  p.keys = tokens;
  p.key_panels = panels;
  p.score_scales = &score_scale;
  p.output_scales = &output_scale;
  p.row_block = 1;
  p.key_block = config::integer_key_block;
  Memory<char> scratch(core::integer_scratch_bytes(1, p.key_block, dims, dims, core::segment_levels(tokens)));
  p.scratch = scratch.get();
  const auto read = [&] {
    return bench::read_bandwidth(backend.c_str(), reinterpret_cast<const float*>(cache.get()), bytes / sizeof(float), 0.02);
  };
  std::vector<Timed> calls = {{"decode", [&] { core::Integers::run(p); }}};
  double limit = 0;
  for (int round = 0; round < 10; ++round) {
    limit = std::max(limit, read());
    time_in_turns(calls, 1, 0.02);
  }
  const double rate = double(bytes) / calls[0].least();
  std::printf(
      "decode, %d heads x %5d keys, head_dim %d, %4.1f MB in %-6s %7.1f us, %6.1f GB/s, %3.0f %% of reading (%.1f GB/s)\n",
      heads, tokens, dims, double(bytes) / (1 << 20), panels ? "panels" : "rows", 1e6 * calls[0].least(), 1e-9 * rate,
      100 * rate / limit, 1e-9 * limit);
}

// Outputs of 8 bits, with a zero point, beside packed floats with work memory.
void time_projection(const std::string& backend, int tokens, int inputs, int outputs) {
  const std::size_t in = std::size_t(tokens) * std::size_t(inputs), out = std::size_t(tokens) * std::size_t(outputs);
  const auto input = random_floats(in, 9), weights = random_floats(core::packed_weight_numbers(outputs, inputs), 10);
  const Memory<float> output(out), work(core::linear_work_floats);
  core::Linear f{};
  f.input = input.get(), f.output = output.get(), f.weights = weights.get(), f.work = work.get();
  f.input_stride = f.inputs = inputs;
  f.output_stride = f.outputs = outputs;
  f.tokens = tokens;
  f.panels = true;

  const auto input_8 = random_bytes(in, 11), rows = random_bytes(std::size_t(outputs) * std::size_t(inputs), 12);
  const Memory<std::int8_t> packed(core::packed_integer_weight_bytes(outputs, inputs)), output_8(out);
  std::vector<const std::int8_t*> row;
  for (int o = 0; o < outputs; ++o) row.push_back(rows.get() + std::ptrdiff_t(o) * inputs);
  core::pack_integer_weights(row, outputs, inputs, packed.get());
  const std::vector<core::IntegerMultiplier> multipliers(std::size_t(outputs), core::integer_multiplier(1e-4));
  core::IntegerLinear i{};
  i.input = input_8.get(), i.output = output_8.get(), i.weights = rows.get(), i.multipliers = multipliers.data();
  i.multiplier_stride = 1;
  i.input_stride = i.weight_stride = i.inputs = inputs;
  i.output_stride = i.outputs = outputs;
  i.tokens = tokens;
  i.input_zero = -7;
  core::IntegerLinear p = i;
  p.weights = packed.get();
  // The clock takes longer than a small projection.
  const int repeats = 1 + 2000000 / (tokens * inputs * outputs);
  std::vector<Timed> calls;
  const auto add = [&](const char* name, auto run) {
    calls.push_back({name, [run, repeats] {
                       for (int n = 0; n < repeats; ++n) run();
                     }});
  };
  add("float32", [&] { core::run_linear<core::Format::float32>(f); });
  add("integers", [&] { core::run_packed_integer_linear<1>(p); });
  add("rows", [&] { core::run_integer_linear<1>(i); });
#if ATTEND_X86
  if (backend == "avx2") add("without VNNI", [&] { attend::avx2::layers::Backend::run_integer_linear(p, 1, true); });
#endif
  time_in_turns(calls, 25, 0.002);
  std::printf("projection, %-6s %3d tokens, %4d x %4d:", backend.c_str(), tokens, inputs, outputs);
  for (const Timed& call : calls) {
    std::printf("  %s %.2f us, %.2f times float32;", call.name.c_str(), 1e6 * call.least() / repeats,
                calls[0].least() / call.least());
  }
  std::puts("");
}

}  // namespace

int main() {
  for (int i = 0; i < attend::backend_count(); ++i) {
    const std::string backend = attend::backend_name(i);
    if (!attend::use_backend(backend.c_str()) || (backend == "scalar" && i > 0)) continue;
    time_prefill(backend, 1024, 64);
    for (const bool panels : {false, true}) {
      for (const int tokens : {512, 8192, 65504}) time_decode(backend, tokens, 8, 64, panels);
    }
    for (const int tokens : {1, 16, 128}) {
      for (const int size : {128, 512, 2048}) time_projection(backend, tokens, size, size);
    }
  }
}
