// Executed instructions for each weight and token of the application's model, of household commands or of stories, everything
// that the model computes included.
#include <cstring>
#include <exception>

#include "../app/household.h"
#include "../app/llama.h"
#include "instructions.h"
#include "platform.h"

namespace {

constexpr int tokens = 24;

uint64_t numbers(const app::Matrix& matrix) { return uint64_t(matrix.outputs) * uint64_t(matrix.inputs); }

// What a token is multiplied by: all matrices but the embedding, of which it takes a row.
uint64_t weights_of(const app::Weights& weights) {
  uint64_t count = numbers(weights.classifier);
  for (const app::Layer& l : weights.layers) {
    for (app::Matrix app::Layer::*const matrix : app::layer_matrices) count += numbers(l.*matrix);
  }
  return count;
}

void count() {
  const app::FileBytes file = app::file_bytes("model", "a model");
  const bool is_household = std::memcmp(file.begin, "ATHM", 4) == 0;
  const app::Checkpoint checkpoint = is_household ? app::load_household("model").checkpoint : app::load_checkpoint("model");
  app::Llama llama(checkpoint, tokens);
  const uint64_t instructions = firmware::count_instructions([&] {
    for (int token = 1; token <= tokens; ++token) {
      llama.advance(token);
      llama.logits();
    }
  });
  firmware::print_per(instructions, weights_of(checkpoint.weights) * tokens);
  firmware::print(" instructions per weight and token\n");
}

}  // namespace

int firmware::run() {
  try {
    if (!start_counting()) return 1;
    count();
    return 0;
  } catch (const std::exception& error) {
    print(error.what());
    print("\n");
    return 1;
  }
}
