#include "checkpoint.h"

#include <cstdint>
#include <limits>

#include "input_file.h"

namespace app {
namespace {

static_assert(std::numeric_limits<float>::is_iec559 && sizeof(float) == 4, "the file holds IEEE single precision");

constexpr std::uint64_t header_bytes = 7 * 4;

// Tokens 0, 1 and 2 always exist: unknown, begin and end.
constexpr std::int64_t smallest_vocabulary = 3;

// Larger than any file. Counts stay here instead of overflowing, and so never equal a file's size by accident.
constexpr std::uint64_t uncountable = std::uint64_t(1) << 60;

std::uint64_t product(std::uint64_t a, std::uint64_t b) { return b != 0 && a > uncountable / b ? uncountable : a * b; }

std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a > uncountable - b ? uncountable : a + b; }

// Floats of the arrays in the file's order. Each array has all layers in turn.
std::uint64_t count_floats(const Config& config) {
  const auto layers = std::uint64_t(config.layers), dim = std::uint64_t(config.dim);
  const auto kv_dim = std::uint64_t(config.kv_dim()), hidden_dim = std::uint64_t(config.hidden_dim);
  const std::uint64_t vocabulary = product(std::uint64_t(config.vocab_size), dim);
  const std::uint64_t angles = product(std::uint64_t(config.seq_len), std::uint64_t(config.head_dim() / 2));
  std::uint64_t in_layer = product(dim, 2 + 2 * dim + 2 * kv_dim);
  in_layer = sum(in_layer, product(3 * hidden_dim, dim));
  const std::uint64_t others = sum(sum(vocabulary, dim), 2 * angles);
  return sum(sum(product(layers, in_layer), others), config.shared_classifier ? 0 : vocabulary);
}

// The weights of a file whose size is right.
Weights read_weights(InputFile& file, const Config& c) {
  Weights weights;
  weights.layers.resize(static_cast<std::size_t>(c.layers));
  const auto matrix = [&file](int outputs, int inputs) {
    const float* const numbers = file.floats(std::uint64_t(outputs) * std::uint64_t(inputs));
    return Matrix{outputs, inputs, numbers, nullptr, false, NumberKind::float32};
  };
  const auto vectors = [&](const float* Layer::*place) {
    for (Layer& layer : weights.layers) layer.*place = file.floats(std::uint64_t(c.dim));
  };
  const auto matrices = [&](Matrix Layer::*place, int outputs, int inputs) {
    for (Layer& layer : weights.layers) layer.*place = matrix(outputs, inputs);
  };
  weights.token_embedding = matrix(c.vocab_size, c.dim);
  vectors(&Layer::attention_norm);
  matrices(&Layer::query, c.dim, c.dim);
  matrices(&Layer::key, c.kv_dim(), c.dim);
  matrices(&Layer::value, c.kv_dim(), c.dim);
  matrices(&Layer::output, c.dim, c.dim);
  vectors(&Layer::feed_norm);
  matrices(&Layer::gate, c.hidden_dim, c.dim);
  matrices(&Layer::down, c.dim, c.hidden_dim);
  matrices(&Layer::up, c.hidden_dim, c.dim);
  weights.final_norm = file.floats(std::uint64_t(c.dim));
  // Cosines and sines that older programs read.
  for (int i = 0; i < 2; ++i) file.floats(std::uint64_t(c.seq_len) * std::uint64_t(c.head_dim() / 2));
  weights.classifier = c.shared_classifier ? weights.token_embedding : matrix(c.vocab_size, c.dim);
  return weights;
}

std::string quantity(const char* name, std::int64_t number) { return std::string(name) + " " + std::to_string(number); }

Config read_config(InputFile& file) {
  if (file.size() < header_bytes) {
    file.fail("a checkpoint of at least " + std::to_string(header_bytes) + " bytes", std::to_string(file.size()) + " bytes");
  }
  constexpr const char* names[] = {"dim", "hidden_dim", "n_layers", "n_heads", "n_kv_heads", "vocab_size", "seq_len"};
  constexpr int vocab_field = 5;
  int extents[7];
  bool shared_classifier = true;
  for (int field = 0; field < 7; ++field) {
    const std::int64_t number = file.read_int32();
    const std::int64_t extent = field == vocab_field && number < 0 ? -number : number;
    const std::int64_t smallest = field == vocab_field ? smallest_vocabulary : 1;
    if (extent < smallest || extent > largest_extent) {
      file.fail(std::string(names[field]) + (field == vocab_field ? ", without its sign," : "") + " within " +
                    std::to_string(smallest) + " to " + std::to_string(largest_extent),
                std::to_string(number));
    }
    if (field == vocab_field) shared_classifier = number > 0;
    extents[field] = static_cast<int>(extent);
  }
  const Config config{extents[0], extents[1], extents[2], extents[3], extents[4], extents[5], extents[6], shared_classifier};
  check_heads(config, file);
  return config;
}

std::string dimensions(const Config& config) {
  return quantity("dim", config.dim) + ", " + quantity("hidden_dim", config.hidden_dim) + ", " +
         quantity("n_layers", config.layers) + ", " + quantity("n_heads", config.heads) + ", " +
         quantity("n_kv_heads", config.kv_heads) + ", " +
         quantity("vocab_size", config.shared_classifier ? config.vocab_size : -config.vocab_size) + ", " +
         quantity("seq_len", config.seq_len);
}

}  // namespace

void check_heads(const Config& config, const InputFile& file) {
  const std::string heads = quantity("n_heads", config.heads);
  if (config.dim % config.heads != 0) {
    file.fail("dim to be a multiple of n_heads", quantity("dim", config.dim) + " and " + heads);
  }
  if (config.heads % config.kv_heads != 0) {
    file.fail("n_heads to be a multiple of n_kv_heads", heads + " and " + quantity("n_kv_heads", config.kv_heads));
  }
  if (config.head_dim() % 2 != 0) {
    file.fail("dim / n_heads to be even, as rotation takes pairs", quantity("dim", config.dim) + " and " + heads);
  }
}

Checkpoint load_checkpoint(const std::string& path) {
  InputFile file(path, "a checkpoint");
  const Config config = read_config(file);
  const std::uint64_t floats = count_floats(config);
  const std::uint64_t bytes = sum(product(floats, sizeof(float)), header_bytes);
  if (bytes != file.size()) {
    const std::string expected = bytes == uncountable ? "more bytes than a file can have" : std::to_string(bytes) + " bytes";
    file.fail(expected + " (" + dimensions(config) + ")", std::to_string(file.size()) + " bytes");
  }
  return {config, read_weights(file, config), {file.storage()}};
}

Checkpoint packed(const Checkpoint& checkpoint) {
  Checkpoint result = checkpoint;
  Weights& weights = result.weights;
  for (Layer& layer : weights.layers) {
    for (Matrix Layer::*const matrix : layer_matrices) pack(layer.*matrix, result.storage);
  }
  pack(weights.classifier, result.storage);
  // Otherwise single rows are read of it, where it lies.
  if (checkpoint.config.shared_classifier) weights.token_embedding = weights.classifier;
  return result;
}

}  // namespace app
