// The application's models, token by token: tokens in a second, and how much of the read bandwidth their weights take, in one
// run. A memory probe of as many bytes as the weights is timed in turns with the model.
//
//   tokens [checkpoint]     the model of household commands, and a checkpoint of llama2.c
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "../app/household.h"
#include "../app/llama.h"
#include "attend/backend.h"
#include "machine.h"
#include "timing.h"

namespace {

constexpr int tokens = 200, rounds = 15;

// Bytes of the matrices that a token is multiplied by.
std::size_t bytes_of(const app::Weights& weights) {
  const auto bytes = [](const app::Matrix& m) { return app::bytes_of(m.kind, std::size_t(m.outputs) * std::size_t(m.inputs)); };
  std::size_t sum = bytes(weights.classifier);
  for (const app::Layer& l : weights.layers) {
    for (app::Matrix app::Layer::*const matrix : app::layer_matrices) sum += bytes(l.*matrix);
  }
  return sum;
}

void time_model(const char* name, const app::Checkpoint& checkpoint) {
  const app::Checkpoint packed = app::packed(checkpoint);
  const int steps = std::min(tokens, checkpoint.config.seq_len);
  const std::size_t bytes = bytes_of(packed.weights);
  const auto buffer = bench::random_floats(bytes / sizeof(float), 1);
  for (int index = 0; index < attend::backend_count(); ++index) {
    const char* const backend = attend::backend_name(index);
    if (!attend::use_backend(backend)) continue;
    app::Llama llama(packed, steps);
    std::vector<bench::Timed> call = {{name, [&] {
                                         llama.restart();
                                         for (int i = 0; i < steps; ++i) {
                                           llama.advance(i % checkpoint.config.vocab_size);
                                           llama.logits();
                                         }
                                       }}};
    double bandwidth = 0;
    for (int round = 0; round < rounds; ++round) {
      bandwidth = std::max(bandwidth, bench::read_bandwidth(backend, buffer.get(), buffer.count, 0.01));
      bench::time_in_turns(call, 1, 0.02);
    }
    const double rate = steps / call[0].least();
    std::printf("%-28s %-7s %8.0f tokens/s  %6.1f of %6.1f GB/s  %5.1f %%\n", name, backend, rate, rate * double(bytes) * 1e-9,
                bandwidth * 1e-9, 100.0 * rate * double(bytes) / bandwidth);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::puts("model                        backend   tokens in a second; bytes of weights, of the read bandwidth");
  time_model("household, 8 bits", app::load_household("bench/app/model/household.bin").checkpoint);
  if (argc > 1) time_model("checkpoint, floats", app::load_checkpoint(argv[1]));
}
