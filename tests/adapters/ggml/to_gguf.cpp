// Writes a model of the application as a GGUF file of floats:
//   to_gguf FILE household MODEL              the model of household commands, without a vocabulary: its tokens are numbers
//   to_gguf FILE story MODEL TOKENIZER        a model in the format of llama2.c
#include <cstdio>
#include <exception>
#include <list>
#include <string>
#include <vector>

#include "../../../bench/app/household.h"
#include "../../support/gguf_writer.h"

namespace {

// The same with all matrices as rows of floats, which are kept in `memory`.
app::Checkpoint as_floats(app::Checkpoint checkpoint, std::list<std::vector<float>>& memory) {
  const auto widen = [&](app::Matrix& matrix) {
    memory.emplace_back(std::size_t(matrix.outputs) * std::size_t(matrix.inputs));
    for (int row = 0; row < matrix.outputs; ++row)
      app::read_row(matrix, row, memory.back().data() + std::ptrdiff_t(row) * matrix.inputs);
    matrix = {matrix.outputs, matrix.inputs, memory.back().data(), nullptr, false, app::NumberKind::float32};
  };
  widen(checkpoint.weights.token_embedding);
  if (!checkpoint.config.shared_classifier) widen(checkpoint.weights.classifier);
  for (app::Layer& layer : checkpoint.weights.layers) {
    for (app::Matrix app::Layer::*const matrix : app::layer_matrices) widen(layer.*matrix);
  }
  return checkpoint;
}

std::string file_of(int count, char** arguments) {
  std::list<std::vector<float>> memory;
  attend_test::GgufWriter file;
  if (std::string(arguments[2]) == "household") {
    const app::Household household = app::load_household(arguments[3]);
    put_llama(file, as_floats(household.checkpoint, memory), app::NumberKind::float32);
    file.text("tokenizer.ggml.model", "no_vocab");
    file.whole("llama.vocab_size", std::uint32_t(household.checkpoint.config.vocab_size));
  } else {
    if (count != 5) throw std::runtime_error("a story needs a tokenizer");
    const app::Checkpoint checkpoint = app::load_checkpoint(arguments[3]);
    put_llama(file, as_floats(checkpoint, memory), app::NumberKind::float32);
    put_vocabulary(file, app::load_vocabulary(arguments[4], checkpoint.config.vocab_size));
  }
  return file.bytes();
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count < 4) return 1;
    const std::string bytes = file_of(count, arguments);
    std::FILE* const to = std::fopen(arguments[1], "wb");
    return to == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), to) != bytes.size() || std::fclose(to) != 0 ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
