#include "gguf.h"

#include <cstring>
#include <utility>

#include "checkpoint.h"

namespace app {
namespace {

enum Type : std::uint32_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  float32,
  boolean,
  text_type,
  array_type,
  uint64,
  int64,
  float64
};

constexpr std::string_view magic = "GGUF";
constexpr const char* alignment_key = "general.alignment";
constexpr std::uint64_t usual_alignment = 32;

// Tensors have at most so many dimensions, and names so many bytes.
constexpr int most_dimensions = 4;
constexpr std::uint64_t most_name = 256;

// Bytes of one number; 0 for what is none.
std::uint64_t size_of(std::uint32_t type) {
  constexpr unsigned char sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return type < sizeof sizes ? sizes[type] : 0;
}

std::uint64_t unsigned_at(const unsigned char* bytes, std::uint64_t size) {
  std::uint64_t number = 0;
  for (std::uint64_t i = size; i-- > 0;) number = number << 8 | bytes[i];
  return number;
}

template <class Number, class Bits>
Number number_of(Bits bits) {
  static_assert(sizeof(Number) == sizeof(Bits));
  Number number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

std::string_view text_at(const unsigned char* bytes, std::uint64_t size) {
  return {static_cast<const char*>(static_cast<const void*>(bytes)), static_cast<std::size_t>(size)};
}

// How the numbers of a type of tensors lie. False: not one that the program reads.
bool numbers_of(std::uint32_t type, NumberKind& numbers) {
  constexpr std::pair<std::uint32_t, NumberKind> known[] = {{0, NumberKind::float32}, {1, NumberKind::float16},
                                                            {2, NumberKind::q4_0},    {8, NumberKind::q8_0},
                                                            {14, NumberKind::q6_k},   {30, NumberKind::bfloat16}};
  for (const auto& [number, kind] : known) {
    if (number == type) return numbers = kind, true;
  }
  return false;
}

std::uint64_t padded(std::uint64_t bytes, std::uint64_t alignment) { return (bytes + alignment - 1) & ~(alignment - 1); }

std::string shape(std::uint64_t inputs, std::uint64_t rows) { return std::to_string(inputs) + " x " + std::to_string(rows); }

}  // namespace

bool is_gguf(const std::string& path) {
  const FileBytes file = file_bytes(path, "a model");
  return file.size >= magic.size() && std::memcmp(file.begin, magic.data(), magic.size()) == 0;
}

GgufFile::GgufFile(const std::string& path) : file_(path, "a GGUF file") {
  if (text_at(file_.bytes(magic.size()), magic.size()) != magic)
    file_.fail("\"GGUF\" at the beginning (a checkpoint needs --tokenizer)", "something else");
  const std::int32_t version = file_.read_int32();
  if (version != 2 && version != 3) file_.fail("version 2 or 3 of GGUF, little endian", std::to_string(version));
  const std::uint64_t tensors = read_count("tensors", file_.size() / 24), values = read_count("values", file_.size() / 13);
  for (std::uint64_t i = 0; i < values; ++i) read_value();
  const auto alignment = has(alignment_key) ? std::uint64_t(whole_number(alignment_key, 4, 1 << 16)) : usual_alignment;
  if ((alignment & (alignment - 1)) != 0) {
    file_.fail("a power of two as " + std::string(alignment_key), std::to_string(alignment));
  }
  for (std::uint64_t i = 0; i < tensors; ++i) read_tensor(alignment);
  const std::uint64_t data = padded(file_.position(), alignment);
  for (auto& [name, tensor] : tensors_) tensor.offset += data;
}

std::uint64_t GgufFile::read_count(const char* name, std::uint64_t most) {
  const std::uint64_t count = unsigned_at(file_.bytes(8), 8);
  if (count > most) file_.fail("at most " + std::to_string(most) + " " + name, std::to_string(count));
  return count;
}

std::string_view GgufFile::read_text(const char* name) {
  const std::uint64_t size = read_count(name, file_.size());
  return text_at(file_.bytes(size), size);
}

std::string_view GgufFile::read_name() {
  const std::uint64_t size = read_count("bytes of a name", most_name);
  return text_at(file_.bytes(size), size);
}

void GgufFile::read_value() {
  const std::string key(read_name());
  Value value{std::uint32_t(file_.read_int32()), false, 1, nullptr};
  if (value.type == array_type) {
    value.is_array = true;
    value.type = std::uint32_t(file_.read_int32());
    value.count = read_count("elements of an array", file_.size());
  }
  value.bytes = file_.bytes(0);
  if (value.type == text_type) {
    for (std::uint64_t i = 0; i < value.count; ++i) read_text("bytes of a text");
  } else if (size_of(value.type) != 0) {
    file_.bytes(value.count * size_of(value.type));
  } else {
    file_.fail("numbers or texts as " + key, "type " + std::to_string(value.type));
  }
  if (!values_.emplace(key, value).second) file_.fail("one " + key, "two");
}

void GgufFile::read_tensor(std::uint64_t alignment) {
  const std::string name(read_name());
  const std::int32_t dimensions = file_.read_int32();
  if (dimensions < 1 || dimensions > most_dimensions) {
    file_.fail("1 to " + std::to_string(most_dimensions) + " dimensions of tensor " + name, std::to_string(dimensions));
  }
  Tensor tensor{NumberKind::float32, 1, 1, 0, false};
  for (int i = 0; i < dimensions; ++i) {
    const std::uint64_t extent = unsigned_at(file_.bytes(8), 8);
    if (extent < 1 || extent > std::uint64_t(largest_extent) || (i > 1 && extent != 1)) {
      file_.fail("a vector or a matrix of at most " + std::to_string(largest_extent) + " rows and columns as tensor " + name,
                 std::to_string(extent));
    }
    if (i < 2) (i == 0 ? tensor.inputs : tensor.rows) = extent;
  }
  const auto type = std::uint32_t(file_.read_int32());
  if (!numbers_of(type, tensor.kind)) {
    file_.fail("F32, F16, BF16, Q8_0, Q6_K or Q4_0 as the type of tensor " + name, "type " + std::to_string(type));
  }
  const auto columns = std::uint64_t(block_inputs(tensor.kind));
  if (tensor.inputs % columns != 0) {
    file_.fail("a multiple of " + std::to_string(columns) + " columns in tensor " + name, std::to_string(tensor.inputs));
  }
  // One behind another, so that a file cannot stand for more than it holds.
  tensor.offset = unsigned_at(file_.bytes(8), 8);
  if (tensor.offset != data_bytes_) {
    file_.fail("tensor " + name + " at byte " + std::to_string(data_bytes_) + " of the tensors, behind the one before",
               std::to_string(tensor.offset));
  }
  data_bytes_ += padded(bytes_of(tensor.kind, tensor.inputs * tensor.rows), alignment);
  if (data_bytes_ > file_.size() + alignment) {
    file_.fail(std::to_string(data_bytes_) + " bytes of tensors up to " + name, std::to_string(file_.size()) + " in all");
  }
  if (!tensors_.emplace(name, tensor).second) file_.fail("one tensor " + name, "two");
}

const GgufFile::Value& GgufFile::value(const std::string& key, const char* expected) const {
  const auto found = values_.find(key);
  if (found == values_.end()) file_.fail(std::string(expected) + " as " + key, "none");
  return found->second;
}

const GgufFile::Value& GgufFile::array(const std::string& key, std::uint32_t type, const char* expected) const {
  const Value& found = value(key, expected);
  if (!found.is_array || found.type != type) file_.fail(std::string(expected) + " as " + key, "something else");
  return found;
}

std::int64_t GgufFile::whole_number(const std::string& key, std::int64_t least, std::int64_t most) const {
  const Value& found = value(key, "a whole number");
  const std::uint64_t size = size_of(found.type);
  if (found.is_array || size == 0 || found.type == float32 || found.type == float64 || found.type == boolean) {
    file_.fail("a whole number as " + key, "something else");
  }
  const bool is_signed = found.type == int8 || found.type == int16 || found.type == int32 || found.type == int64;
  const std::uint64_t bits = unsigned_at(found.bytes, size), sign = std::uint64_t(1) << (8 * size - 1);
  const bool too_large = !is_signed && bits >> 63 != 0;
  const std::int64_t number = number_of<std::int64_t>(is_signed ? (bits ^ sign) - sign : bits);
  if (too_large || number < least || number > most) {
    file_.fail(key + " within " + std::to_string(least) + " to " + std::to_string(most),
               too_large ? std::to_string(bits) : std::to_string(number));
  }
  return number;
}

double GgufFile::real_number(const std::string& key, double least, double most) const {
  const Value& found = value(key, "a number");
  if (found.is_array || (found.type != float32 && found.type != float64))
    file_.fail("a real number as " + key, "something else");
  const std::uint64_t bits = unsigned_at(found.bytes, size_of(found.type));
  const double number = found.type == float32 ? double(number_of<float>(std::uint32_t(bits))) : number_of<double>(bits);
  if (!(number >= least && number <= most)) {
    file_.fail(key + " within " + std::to_string(least) + " to " + std::to_string(most), std::to_string(number));
  }
  return number;
}

bool GgufFile::truth(const std::string& key, bool otherwise) const {
  if (!has(key)) return otherwise;
  const Value& found = value(key, "");
  if (found.is_array || found.type != boolean) file_.fail("true or false as " + key, "something else");
  return *found.bytes != 0;
}

std::string_view GgufFile::text(const std::string& key) const {
  const Value& found = value(key, "a text");
  if (found.is_array || found.type != text_type) file_.fail("a text as " + key, "something else");
  return text_at(found.bytes + 8, unsigned_at(found.bytes, 8));
}

std::string_view GgufFile::known_text(const std::string& key, std::initializer_list<std::string_view> known) const {
  const std::string_view found = text(key);
  std::string expected;
  for (const std::string_view name : known) {
    if (found == name) return found;
    expected += (expected.empty() ? "\"" : name == *(known.end() - 1) ? " or \"" : ", \"") + std::string(name) + "\"";
  }
  file_.fail(expected + " as " + key, "\"" + std::string(found.substr(0, 64)) + "\"");
}

std::vector<std::string_view> GgufFile::texts(const std::string& key) const {
  const Value& found = array(key, text_type, "texts");
  std::vector<std::string_view> result;
  const unsigned char* at = found.bytes;
  for (std::uint64_t i = 0; i < found.count; ++i) {
    result.push_back(text_at(at + 8, unsigned_at(at, 8)));
    at += 8 + result.back().size();
  }
  return result;
}

std::vector<float> GgufFile::floats(const std::string& key) const {
  const Value& found = array(key, float32, "floats");
  std::vector<float> result;
  for (std::uint64_t i = 0; i < found.count; ++i) {
    result.push_back(number_of<float>(std::uint32_t(unsigned_at(found.bytes + 4 * i, 4))));
  }
  return result;
}

std::vector<std::int32_t> GgufFile::int32s(const std::string& key) const {
  const Value& found = array(key, int32, "numbers of 32 bits");
  std::vector<std::int32_t> result;
  for (std::uint64_t i = 0; i < found.count; ++i) result.push_back(int32_at(found.bytes + 4 * i));
  return result;
}

const GgufFile::Tensor& GgufFile::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) file_.fail("a tensor " + name, "none");
  return found->second;
}

Matrix GgufFile::matrix(const std::string& name, int outputs, int inputs) {
  const Tensor& found = tensor(name);
  if (found.inputs != std::uint64_t(inputs) || found.rows != std::uint64_t(outputs)) {
    file_.fail(shape(std::uint64_t(inputs), std::uint64_t(outputs)) + " numbers as tensor " + name,
               shape(found.inputs, found.rows));
  }
  tensors_[name].is_used = true;
  const std::uint64_t count = found.inputs * found.rows;
  file_.go_to(found.offset);
  const void* const numbers = in_blocks(found.kind) ? file_.bytes(bytes_of(found.kind, count))
                                                    : file_.numbers(count, std::size_t(bytes_of(found.kind, 1)));
  return {outputs, inputs, numbers, nullptr, false, found.kind};
}

const float* GgufFile::vector(const std::string& name, int count) {
  const Matrix found = matrix(name, 1, count);
  if (found.kind != NumberKind::float32) file_.fail("F32 as the type of tensor " + name, "another");
  return static_cast<const float*>(found.numbers);
}

void GgufFile::check_all_are_used() const {
  for (const auto& [name, tensor] : tensors_) {
    if (!tensor.is_used) file_.fail("no tensors but those that the program computes with", name);
  }
}

}  // namespace app
