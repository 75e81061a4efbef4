#include "household.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "input_file.h"

namespace app {
namespace {

// The kind of weights: int8 with a scale for each row, or floats.
constexpr std::string_view int8_magic = "ATHM0001", float_magic = "ATHM0002";
constexpr std::uint64_t header_fields = 10, header_bytes = 48;
static_assert(int8_magic.size() + header_fields * 4 == header_bytes);
// Far beyond this model; products of these fit into 64 bits.
constexpr std::int32_t largest_extent = 1 << 12, most_layers = 64, most_text = 0xFFFF;

struct Header {
  Config config;
  int first_letter, text_bytes;
  bool floats;
};

constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 15) / 16 * 16; }

int read_extent(InputFile& file, const char* name, std::int32_t least, std::int32_t most) {
  const std::int32_t number = file.read_int32();
  if (number < least || number > most) {
    file.fail(std::string(name) + " within " + std::to_string(least) + " to " + std::to_string(most), std::to_string(number));
  }
  return number;
}

bool holds_floats(InputFile& file) {
  const auto size = static_cast<std::size_t>(file.size() < header_bytes ? 0 : int8_magic.size());
  const std::string_view magic(static_cast<const char*>(static_cast<const void*>(file.bytes(size))), size);
  if (magic != int8_magic && magic != float_magic) {
    file.fail("a model of household commands, which begins with " + std::string(int8_magic) + " or " + std::string(float_magic),
              "something else");
  }
  return magic == float_magic;
}

Header read_header(InputFile& file) {
  const bool floats = holds_floats(file);
  const int dim = read_extent(file, "dim", 2, largest_extent), hidden_dim = read_extent(file, "hidden_dim", 1, largest_extent);
  const int layers = read_extent(file, "layers", 1, most_layers);
  const int heads = read_extent(file, "heads", 1, largest_extent), kv_heads = read_extent(file, "kv_heads", 1, largest_extent);
  const int pieces = read_extent(file, "pieces", letter_count + begin_action + 1, largest_extent);
  const int seq_len = read_extent(file, "seq_len", static_cast<int>(longest_tokens) + longest_action, largest_extent);
  const int first_letter = read_extent(file, "first letter", begin_action + 1, pieces - letter_count);
  read_extent(file, "first word", first_letter + letter_count, first_letter + letter_count);
  const int text_bytes = read_extent(file, "bytes of text", pieces, most_text);
  const Header header{{dim, hidden_dim, layers, heads, kv_heads, pieces, seq_len, true}, first_letter, text_bytes, floats};
  check_heads(header.config, file);
  return header;
}

// Scales of the model in integers for each layer.
int scale_count(const Config& config) { return 2 + config.heads + 2 * config.kv_heads; }

std::uint64_t scale_bytes(const Config& config) {
  return std::uint64_t(config.layers) * padded(std::uint64_t(scale_count(config)) * sizeof(float));
}

// The parts of the file one after the other; each begins at a multiple of 16 bytes.
class Reader {
 public:
  Reader(InputFile& file, const Header& header) : file_(file), header_(header) {}

  const unsigned char* bytes(std::uint64_t count) { return file_.bytes(padded(count)); }

  const float* floats(std::uint64_t count) { return file_.floats(padded(count * sizeof(float)) / sizeof(float)); }

  Matrix matrix(int outputs, int inputs) {
    const std::uint64_t numbers = std::uint64_t(outputs) * std::uint64_t(inputs);
    if (header_.floats) return {outputs, inputs, floats(numbers), nullptr, false, NumberKind::float32};
    const float* const scales = floats(std::uint64_t(outputs));
    return {outputs, inputs, bytes(numbers), scales, false, NumberKind::int8};
  }

  Weights weights() {
    const Config& c = header_.config;
    Weights weights;
    weights.token_embedding = weights.classifier = matrix(c.vocab_size, c.dim);
    for (int i = 0; i < c.layers; ++i) {
      Layer layer;
      layer.attention_norm = floats(std::uint64_t(c.dim));
      layer.query = matrix(c.dim, c.dim);
      layer.key = matrix(c.kv_dim(), c.dim);
      layer.value = matrix(c.kv_dim(), c.dim);
      layer.output = matrix(c.dim, c.dim);
      layer.feed_norm = floats(std::uint64_t(c.dim));
      layer.gate = matrix(c.hidden_dim, c.dim);
      layer.up = matrix(c.hidden_dim, c.dim);
      layer.down = matrix(c.dim, c.hidden_dim);
      weights.layers.push_back(layer);
    }
    weights.final_norm = floats(std::uint64_t(c.dim));
    return weights;
  }

  IntegerScales scales() {
    const auto heads = std::size_t(header_.config.heads), kv_heads = std::size_t(header_.config.kv_heads);
    IntegerScales scales;
    for (int i = 0; i < header_.config.layers; ++i) {
      const float* const from = floats(std::uint64_t(scale_count(header_.config)));
      const float *const query = from + 2, *const key = query + heads, *const value = key + kv_heads;
      if (!std::all_of(from, value + kv_heads, [](float scale) { return scale > 1e-6f && scale < 1e6f; })) {
        file_.fail("scales within 1e-6 to 1e6", "others");
      }
      scales.push_back({from[0], from[1], {query, key}, {key, value}, {value, value + kv_heads}});
    }
    return scales;
  }

 private:
  InputFile& file_;
  const Header& header_;
};

// Bytes that the file has to have.
std::uint64_t count_bytes(const Header& header) {
  const Config& c = header.config;
  const auto vector = [](int count) { return padded(std::uint64_t(count) * sizeof(float)); };
  const auto matrix = [&](int outputs, int inputs) {
    const std::uint64_t numbers = std::uint64_t(outputs) * std::uint64_t(inputs);
    return header.floats ? padded(numbers * sizeof(float)) : vector(outputs) + padded(numbers);
  };
  const std::uint64_t in_layer = 2 * vector(c.dim) + 2 * matrix(c.dim, c.dim) + 2 * matrix(c.kv_dim(), c.dim) +
                                 2 * matrix(c.hidden_dim, c.dim) + matrix(c.dim, c.hidden_dim);
  return header_bytes + padded((std::uint64_t(c.vocab_size) + 1) * 2) + padded(std::uint64_t(header.text_bytes)) +
         matrix(c.vocab_size, c.dim) + std::uint64_t(c.layers) * in_layer + vector(c.dim);
}

std::vector<std::string> read_pieces(InputFile& file, Reader& reader, const Header& header) {
  const std::size_t count = static_cast<std::size_t>(header.config.vocab_size);
  const unsigned char *const offsets = reader.bytes((count + 1) * 2), *const text =
                                                                          reader.bytes(std::uint64_t(header.text_bytes));
  const auto offset = [offsets](std::size_t piece) { return offsets[2 * piece] | offsets[2 * piece + 1] << 8; };
  std::vector<std::string> pieces;
  for (std::size_t piece = 0; piece < count; ++piece) {
    const int begin = offset(piece), end = offset(piece + 1);
    if (begin >= end || end > header.text_bytes || text[end - 1] != 0) {
      file.fail("text with a zero behind it as piece " + std::to_string(piece), "something else");
    }
    pieces.emplace_back(text + begin, text + end - 1);
  }
  if (!std::is_sorted(pieces.begin() + header.first_letter, pieces.begin() + header.first_letter + letter_count) ||
      !std::is_sorted(pieces.begin() + header.first_letter + letter_count, pieces.end())) {
    file.fail("letters and words in ascending order", "another order");
  }
  return pieces;
}

}  // namespace

Household load_household(const std::string& path) {
  InputFile file(path, "a model of household commands");
  const Header header = read_header(file);
  const std::uint64_t bytes = count_bytes(header);
  const bool has_scales = file.size() == bytes + scale_bytes(header.config);
  if (bytes != file.size() && !has_scales)
    file.fail(std::to_string(bytes) + " bytes, as its header says", std::to_string(file.size()));
  Reader reader(file, header);
  Words words(read_pieces(file, reader, header), header.first_letter);
  const Weights weights = reader.weights();
  return {std::move(words), {header.config, weights, {file.storage()}}, has_scales ? reader.scales() : IntegerScales()};
}

std::string with_scales(const std::string& path, const IntegerScales& scales) {
  InputFile file(path, "a model of household commands");
  const std::uint64_t bytes = count_bytes(read_header(file));
  const FileBytes whole = file_bytes(path, "a model of household commands");
  std::string result(whole.begin, whole.begin + bytes);
  const auto put = [&result](float scale) {
    std::uint32_t bits;
    std::memcpy(&bits, &scale, sizeof bits);
    for (int i = 0; i < 4; ++i) result += static_cast<char>(bits >> 8 * i & 0xFF);
  };
  for (const LayerScales& layer : scales) {
    put(layer.input), put(layer.attended);
    for (const std::vector<float>* const heads : {&layer.query, &layer.key, &layer.value}) {
      for (const float scale : *heads) put(scale);
    }
    result.resize(static_cast<std::size_t>(padded(result.size())));
  }
  return result;
}

}  // namespace app
