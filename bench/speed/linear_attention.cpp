// Linear attention beside the machine's limits and ggml, in turns, in one run, on one thread; then in two parts on two threads.
//
//   linear_attention [file]     a table on standard output; rows of tab-separated numbers to the file
//
// Useful operations of a token for each number of the state: 2 to add into it, 2 to read it, 1 for a gate, 2 for the
// correction of a delta rule. Multiply-adds count twice; the gate is a multiplication, so that gated rules cannot reach the
// peak: gated delta at most 7/8 of it, gated 5/6.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "attend/attend.h"
#include "attend/linear_attention.h"
#include "machine.h"
#include "peers/linear_attention_ggml.h"
#include "team.h"
#include "timing.h"

namespace {

using attend::Decay, attend::LinearRule, attend::core::LinearAttention;
using bench::Memory, bench::random_floats, bench::Timed, bench::time_in_turns;

// ATTEND_QUICK: one round tells that all of it runs.
const bool quick = std::getenv("ATTEND_QUICK") != nullptr;
std::FILE* rows = nullptr;

using Run = void (*)(const LinearAttention& call, int part, int parts);
struct Rule {
  const char* name;
  Run run;
  int operations;  // for each number of the state
  bool by_key;
};
template <LinearRule rule, Decay decay>
constexpr Run run_of = attend::core::run_linear_attention<rule, decay>;
const Rule gated = {"gated", run_of<LinearRule::gated, Decay::per_head>, 5, false};
const Rule gated_delta = {"gated delta", run_of<LinearRule::gated_delta, Decay::per_head>, 7, false};
const Rule rules[] = {{"linear", run_of<LinearRule::linear, Decay::per_head>, 4, false},
                      gated,
                      {"gated, a gate a key dimension", run_of<LinearRule::gated, Decay::per_key>, 5, true},
                      {"delta", run_of<LinearRule::delta, Decay::per_head>, 6, false},
                      gated_delta,
                      {"gated delta, a gate a key dimension", run_of<LinearRule::gated_delta, Decay::per_key>, 7, true}};

struct Shape {
  int key_heads, value_heads, head_dim, value_dim, tokens;
};

// Arrays of a call: keys of norm 1, beta 0 ... 1, gates of e^-0.05 on average.
struct Arrays {
  Arrays(const Rule& rule, const Shape& s)
      : query(numbers(s.key_heads, s.head_dim, s, 1)),
        key(numbers(s.key_heads, s.head_dim, s, 2)),
        value(numbers(s.value_heads, s.value_dim, s, 3)),
        gates(numbers(s.value_heads, rule.by_key ? s.head_dim : 1, s, 4)),
        beta(numbers(s.value_heads, 1, s, 5)),
        output(value.count),
        state(attend::core::linear_state_floats(s.value_heads, s.head_dim, s.value_dim)) {
    const auto dims = std::size_t(s.head_dim);
    for (float* k = key.get(); k < key.get() + key.count; k += dims) {
      double sum = 0.0;
      for (std::size_t d = 0; d < dims; ++d) sum += double(k[d]) * double(k[d]);
      for (std::size_t d = 0; d < dims; ++d) k[d] = float(k[d] / std::sqrt(sum));
    }
    for (std::size_t i = 0; i < gates.count; ++i) gates.get()[i] = -0.1f * std::fabs(gates.get()[i]);
    for (std::size_t i = 0; i < beta.count; ++i) beta.get()[i] = std::fabs(beta.get()[i]);
    call.query = {query.get(), s.key_heads * s.head_dim, s.head_dim};
    call.key = {key.get(), s.key_heads * s.head_dim, s.head_dim};
    call.value = {value.get(), s.value_heads * s.value_dim, s.value_dim};
    const int gate_width = rule.by_key ? s.head_dim : 1;
    call.gates = {gates.get(), s.value_heads * gate_width, gate_width};
    call.beta = {beta.get(), s.value_heads, 1};
    call.output = {output.get(), s.value_heads * s.value_dim, s.value_dim};
    call.state = state.get();
    call.query_heads = call.kv_heads = s.key_heads;
    call.value_heads = s.value_heads;
    call.head_dim = s.head_dim, call.value_dim = s.value_dim;
    call.tokens = s.tokens;
    call.scale = attend::default_scale(s.head_dim);
  }
  static Memory<float> numbers(int heads, int width, const Shape& s, std::uint64_t seed) {
    return random_floats(std::size_t(heads) * std::size_t(width) * std::size_t(s.tokens), seed);
  }

  const Memory<float> query, key, value, gates, beta, output, state;
  LinearAttention call{};
};

void time_prefill(const std::string& backend, const Rule& rule) {
  constexpr int dims = 128, tokens = 1024, few = 8;
  const Arrays arrays(rule, {1, 1, dims, dims, tokens});
  const LinearAttention& call = arrays.call;
  std::vector<Timed> calls = {{"1024 tokens", [&] { rule.run(call, 0, 1); }},
                              {"8 tokens a call", [&] {
                                 for (int token = 0; token < tokens; token += few) {
                                   LinearAttention some = call;
                                   some.first = token, some.tokens = token + few;
                                   rule.run(some, 0, 1);
                                 }
                               }}};
  double peak = 0.0;
  for (int round = 0; round < (quick ? 1 : 40); ++round) {
    peak = std::max(peak, bench::fma_peak(backend.c_str(), 0.004));
    time_in_turns(calls, 1, 0.004);
  }
  std::printf("%-7s %-36s", backend.c_str(), rule.name);
  for (const Timed& timed : calls) {
    const double rate = double(rule.operations) * dims * dims * tokens / timed.least();
    std::printf("  %s %6.1f GFLOP/s %5.1f %%", timed.name.c_str(), 1e-9 * rate, 100.0 * rate / peak);
    if (rows) {
      std::fprintf(rows, "%s\t%s\t%s\t%.3f\t%.4f\n", backend.c_str(), rule.name, timed.name.c_str(), 1e-9 * rate, rate / peak);
    }
  }
  std::printf("\n");
}

// Whether ggml computes the same, before it is timed.
void compare(const char* name, const float* ours, const float* theirs, std::size_t count) {
  double most = 0.0, worst = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double output = double(ours[i]);
    most = std::max(most, std::fabs(output)), worst = std::max(worst, std::fabs(output - double(theirs[i])));
  }
  if (!(worst <= 1e-5 * most)) throw std::runtime_error(std::string(name) + ": ggml's outputs differ");
}

// The first of the calls, and what it is compared with.
void print(const std::string& backend, const char* name, const std::vector<Timed>& calls) {
  const double ours = calls[0].least();
  std::printf("%-7s %-48s %9.1f us", backend.c_str(), name, 1e6 * ours);
  for (const Timed& timed : calls) {
    const double least = timed.least();
    if (&timed != calls.data()) std::printf("  %s %9.1f us  %5.2f x", timed.name.c_str(), 1e6 * least, least / ours);
    if (rows) std::fprintf(rows, "%s\t%s\t%s\t%.3f\t\n", backend.c_str(), name, timed.name.c_str(), 1e6 * least);
  }
  std::printf("\n");
}

// Beside ggml, from an empty state. Where there is `a`, Mamba-2: gates and values times dt are computed beforehand, ggml does
// it within the call. ggml copies the state, ours moves on.
void time_beside(const std::string& backend, const char* name, const Rule& rule, const Shape& shape, bool mamba) {
  Arrays arrays(rule, shape);
  const Shape& s = shape;
  LinearAttention& call = arrays.call;
  const std::size_t numbers = arrays.state.count;
  const Memory<float> empty(numbers), a(std::size_t(s.value_heads)), x(arrays.value.count), dt(arrays.gates.count),
      other(arrays.output.count + numbers);
  if (mamba) {
    call.scale = 1.0f;
    for (std::size_t i = 0; i < a.count; ++i) a.get()[i] = -0.5f - float(i % 8) * 0.1f;
    for (std::size_t i = 0; i < dt.count; ++i) {
      dt.get()[i] = arrays.gates.get()[i] * 20.0f;
      const double step = std::log1p(std::exp(double(dt.get()[i])));
      arrays.gates.get()[i] = float(step * double(a.get()[i % a.count]));
      for (std::size_t c = i * std::size_t(s.value_dim); c < (i + 1) * std::size_t(s.value_dim); ++c) {
        x.get()[c] = arrays.value.get()[c];
        arrays.value.get()[c] = float(step * double(x.get()[c]));
      }
    }
  }
  const auto theirs =
      bench::linear_attention_by_ggml({arrays.query.get(), arrays.key.get(), mamba ? x.get() : arrays.value.get(),
                                       mamba ? dt.get() : arrays.gates.get(), arrays.beta.get(), mamba ? a.get() : nullptr,
                                       empty.get(), other.get(), s.key_heads, s.value_heads, s.head_dim, s.value_dim, s.tokens},
                                      backend == "avx512");
  std::vector<Timed> calls = {{"ours", [&] { rule.run(call, 0, 1); }}};
  if (theirs) {
    rule.run(call, 0, 1), theirs();
    compare(name, arrays.output.get(), other.get(), arrays.output.count);
    calls.push_back({"ggml", theirs});
  }
  time_in_turns(calls, quick ? 1 : 25, 0.004);
  print(backend, name, calls);
}

// The convolution in front, from a state that moves on. ggml's operators once by themselves, and once with what
// llama.cpp has in front of them: inputs are turned and joined to the state, which is copied.
void time_convolution(const std::string& backend, const char* name, int tokens, bool silu) {
  constexpr int channels = 8192, width = 4, before = width - 1;
  const std::size_t count = std::size_t(channels) * std::size_t(tokens), row = std::size_t(before + tokens);
  const Memory<float> input = random_floats(count, 1), weights = random_floats(channels * width, 2), output(count),
                      other(count), turned(channels * row), state(channels * before), other_state(channels * before);
  for (std::size_t i = 0; i < count; ++i) turned.get()[i % channels * row + before + i / channels] = input.get()[i];
  attend::core::Convolution call{};
  call.input = input.get(), call.weights = weights.get(), call.output = output.get();
  call.channels = channels, call.width = width, call.tokens = tokens, call.state = state.get();
  call.input_stride = call.output_stride = channels;
  const auto run = silu ? attend::core::run_convolution<attend::ConvActivation::silu>
                        : attend::core::run_convolution<attend::ConvActivation::identity>;
  std::vector<Timed> calls = {{"ours", [&call, run] { run(call, 0, 1); }}};
  for (float* const begin : {static_cast<float*>(nullptr), other_state.get()}) {
    const auto theirs = bench::convolution_by_ggml(
        {begin ? input.get() : turned.get(), weights.get(), begin, other.get(), channels, width, tokens, silu},
        backend == "avx512");
    if (!theirs) continue;
    std::fill_n(state.get(), state.count, 0.0f);
    calls[0].run(), theirs();
    compare(name, output.get(), other.get(), count);
    calls.push_back({begin ? "with its layout" : "ggml", theirs});
  }
  time_in_turns(calls, quick ? 1 : 100, 0.001);
  print(backend, name, calls);
}

// In two parts, each on a thread of its own, beside one, in turns. Times are the wall's, of few calls, behind one that wakes
// the other thread: what else the machine does meets some of them only.
void time_parts(const std::string& backend, const char* name, const Shape& shape) {
  const Arrays arrays(gated_delta, shape);
  const auto part = [&arrays](int index) { gated_delta.run(arrays.call, index, 2); };
  bench::Team<decltype(part)> team(2, part);
  std::vector<Timed> calls = {{"two threads", [&team] { team.run(); }},
                              {"one", [&arrays] { gated_delta.run(arrays.call, 0, 1); }}};
  constexpr int few = 4;
  for (int round = 0; round < (quick ? 1 : 1000); ++round) {
    for (Timed& call : calls) {
      call.run();
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < few; ++i) call.run();
      call.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / few);
    }
  }
  print(backend, name, calls);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) rows = std::fopen(argv[1], "w");
  std::puts("one head of 128 x 128, gates included, one thread; of the FMA peak");
  for (int i = attend::backend_count(); i-- > 0;) {
    const std::string backend = attend::backend_name(i);
    if (backend == "scalar" || backend == "sse2" || !attend::use_backend(backend.c_str())) continue;
    for (const Rule& rule : rules) time_prefill(backend, rule);
    time_beside(backend, "gated delta, one head of 128 x 128, 1024 tokens", gated_delta, {1, 1, 128, 128, 1024}, false);
    time_beside(backend, "gated delta, 32 heads of 128 x 128, 1 token", gated_delta, {32, 32, 128, 128, 1}, false);
    time_beside(backend, "Mamba-2, 48 heads of 128 x 64, 256 tokens", gated, {1, 48, 128, 64, 256}, true);
    time_convolution(backend, "convolution of 8192 channels, silu, 1 token", 1, true);
    time_convolution(backend, "convolution of 8192 channels, silu, 64 tokens", 64, true);
    time_convolution(backend, "convolution of 8192 channels, 64 tokens", 64, false);
    time_parts(backend, "gated delta, 32 heads of 128 x 128, 16 tokens", {32, 32, 128, 128, 16});
    time_parts(backend, "gated delta, 32 heads of 128 x 128, 1 token", {32, 32, 128, 128, 1});
  }
  if (rows) std::fclose(rows);
}
