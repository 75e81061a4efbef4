#include "household.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "input_file.h"

namespace app {
namespace {

constexpr std::string_view magic = "ATHM0001";
constexpr std::uint64_t header_fields = 10, header_bytes = 48;
static_assert(magic.size() + header_fields * 4 == header_bytes);
// Far beyond this model; products of these fit into 64 bits.
constexpr std::int32_t largest_extent = 1 << 12, most_layers = 64, most_text = 0xFFFF;

struct Header {
  Config config;
  int first_letter, text_bytes;
};

constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 15) / 16 * 16; }

int read_extent(InputFile& file, const char* name, std::int32_t least, std::int32_t most) {
  const std::int32_t number = file.read_int32();
  if (number < least || number > most) {
    file.fail(std::string(name) + " within " + std::to_string(least) + " to " + std::to_string(most), std::to_string(number));
  }
  return number;
}

Header read_header(InputFile& file) {
  char first[magic.size()] = {};
  if (file.size() >= header_bytes) file.read(first, sizeof first);
  if (std::string_view(first, sizeof first) != magic) {
    file.fail("a model of household commands, which begins with " + std::string(magic), "something else");
  }
  const int dim = read_extent(file, "dim", 2, largest_extent), hidden_dim = read_extent(file, "hidden_dim", 1, largest_extent);
  const int layers = read_extent(file, "layers", 1, most_layers);
  const int heads = read_extent(file, "heads", 1, largest_extent), kv_heads = read_extent(file, "kv_heads", 1, largest_extent);
  const int pieces = read_extent(file, "pieces", letter_count + begin_action + 1, largest_extent);
  const int seq_len = read_extent(file, "seq_len", static_cast<int>(longest_tokens) + longest_action, largest_extent);
  const int first_letter = read_extent(file, "first letter", begin_action + 1, pieces - letter_count);
  read_extent(file, "first word", first_letter + letter_count, first_letter + letter_count);
  const int text_bytes = read_extent(file, "bytes of text", pieces, most_text);
  const Header header{{dim, hidden_dim, layers, heads, kv_heads, pieces, seq_len, true}, first_letter, text_bytes};
  check_heads(header.config, file);
  return header;
}

// One array of Weights and its extents for one layer: a vector has no inputs.
struct Part {
  const float* Weights::*place;
  int outputs, inputs;
  bool in_layers;

  std::uint64_t count() const { return std::uint64_t(outputs) * std::uint64_t(std::max(inputs, 1)); }
  std::uint64_t bytes() const { return padded(std::uint64_t(outputs) * sizeof(float)) + (inputs == 0 ? 0 : padded(count())); }
};

// In the file's order: one before the layers, one after them.
std::vector<Part> parts_of(const Config& c) {
  return {
      {&Weights::token_embedding, c.vocab_size, c.dim, false},
      {&Weights::attention_norm, c.dim, 0, true},
      {&Weights::query, c.dim, c.dim, true},
      {&Weights::key, c.kv_dim(), c.dim, true},
      {&Weights::value, c.kv_dim(), c.dim, true},
      {&Weights::output, c.dim, c.dim, true},
      {&Weights::feed_norm, c.dim, 0, true},
      {&Weights::gate, c.hidden_dim, c.dim, true},
      {&Weights::up, c.hidden_dim, c.dim, true},
      {&Weights::down, c.dim, c.hidden_dim, true},
      {&Weights::final_norm, c.dim, 0, false},
  };
}

// The parts of the file one after the other.
class Reader {
 public:
  explicit Reader(InputFile& file) : file_(file) {}

  std::vector<char> bytes(std::uint64_t count) {
    std::vector<char> found(static_cast<std::size_t>(padded(count)));
    file_.read(found.data(), found.size());
    return found;
  }

  // count floats of a part, as numbers with the scales of their rows.
  void floats(const Part& part, float* to) {
    const std::size_t rows = static_cast<std::size_t>(part.outputs), columns = static_cast<std::size_t>(part.inputs);
    scales_.resize(static_cast<std::size_t>(padded(rows * sizeof(float))) / sizeof(float));
    file_.read_floats(scales_.data(), scales_.size());
    if (columns == 0) {
      std::copy_n(scales_.begin(), rows, to);
      return;
    }
    const std::vector<char> numbers = bytes(rows * columns);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t c = 0; c < columns; ++c) {
        to[row * columns + c] = scales_[row] * static_cast<float>(static_cast<signed char>(numbers[row * columns + c]));
      }
    }
  }

 private:
  InputFile& file_;
  std::vector<float> scales_;
};

std::vector<std::string> read_pieces(InputFile& file, Reader& reader, const Header& header) {
  const std::size_t count = static_cast<std::size_t>(header.config.vocab_size);
  const std::vector<char> offsets = reader.bytes((count + 1) * 2), text = reader.bytes(std::uint64_t(header.text_bytes));
  const auto offset = [&](std::size_t piece) {
    return static_cast<unsigned char>(offsets[2 * piece]) | static_cast<unsigned char>(offsets[2 * piece + 1]) << 8;
  };
  std::vector<std::string> pieces;
  for (std::size_t piece = 0; piece < count; ++piece) {
    const int begin = offset(piece), end = offset(piece + 1);
    if (begin >= end || end > header.text_bytes || text[static_cast<std::size_t>(end) - 1] != '\0') {
      file.fail("text with a zero behind it as piece " + std::to_string(piece), "something else");
    }
    pieces.emplace_back(text.data() + begin, static_cast<std::size_t>(end - begin - 1));
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
  const auto layers = std::uint64_t(header.config.layers);
  const std::vector<Part> parts = parts_of(header.config);
  std::uint64_t bytes =
      header_bytes + padded((std::uint64_t(header.config.vocab_size) + 1) * 2) + padded(std::uint64_t(header.text_bytes));
  std::uint64_t floats = 0;
  for (const Part& part : parts) {
    bytes += part.bytes() * (part.in_layers ? layers : 1);
    floats += part.count() * (part.in_layers ? layers : 1);
  }
  if (bytes != file.size()) file.fail(std::to_string(bytes) + " bytes, as its header says", std::to_string(file.size()));

  Reader reader(file);
  Words words(read_pieces(file, reader, header), header.first_letter);
  Checkpoint checkpoint{header.config, {}, std::make_unique<float[]>(std::size_t(floats))};
  // The application wants each array for all layers in turn.
  std::vector<float*> place;
  float* next = checkpoint.storage.get();
  for (const Part& part : parts) {
    checkpoint.weights.*part.place = next;
    place.push_back(next);
    next += part.count() * (part.in_layers ? layers : 1);
  }
  checkpoint.weights.classifier = checkpoint.weights.token_embedding;
  const auto read_parts = [&](bool in_layers, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (parts[i].in_layers != in_layers) continue;
      reader.floats(parts[i], place[i]);
      place[i] += parts[i].count();
    }
  };
  read_parts(false, 0, 1);
  for (std::uint64_t layer = 0; layer < layers; ++layer) read_parts(true, 0, parts.size());
  read_parts(false, 1, parts.size());
  return {std::move(words), std::move(checkpoint)};
}

}  // namespace app
