// A GGUF file, versions 2 and 3, little endian: values with names, and tensors with names.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "input_file.h"
#include "matrix.h"

namespace app {

// Whether a file begins as they do. Throws Failure where it cannot be read.
bool is_gguf(const std::string& path);

// Everything that is wrong, missing or of another kind than asked for is a Failure that names the file and what it is about.
class GgufFile {
 public:
  explicit GgufFile(const std::string& path);

  bool has(const std::string& key) const { return values_.count(key) != 0; }
  std::int64_t whole_number(const std::string& key, std::int64_t least, std::int64_t most) const;
  double real_number(const std::string& key, double least, double most) const;
  bool truth(const std::string& key, bool otherwise) const;
  std::string_view text(const std::string& key) const;
  // A text that is one of those that the program knows.
  std::string_view known_text(const std::string& key, std::initializer_list<std::string_view> known) const;
  std::vector<std::string_view> texts(const std::string& key) const;
  std::vector<float> floats(const std::string& key) const;
  std::vector<std::int32_t> int32s(const std::string& key) const;

  bool has_tensor(const std::string& name) const { return tensors_.count(name) != 0; }
  std::uint64_t rows(const std::string& name) const { return tensor(name).rows; }
  Matrix matrix(const std::string& name, int outputs, int inputs);
  const float* vector(const std::string& name, int count);

  // Fails where a tensor was not asked for: the model computes something that the program does not.
  void check_all_are_used() const;

  const InputFile& file() const { return file_; }

 private:
  struct Value {
    std::uint32_t type;  // of the elements
    bool is_array;
    std::uint64_t count;
    const unsigned char* bytes;
  };

  struct Tensor {
    NumberKind kind;
    std::uint64_t inputs, rows;
    std::uint64_t offset;  // in the file
    bool is_used;
  };

  std::uint64_t read_count(const char* name, std::uint64_t most);
  std::string_view read_name();
  std::string_view read_text(const char* name);
  void read_value();
  void read_tensor(std::uint64_t alignment);
  const Value& value(const std::string& key, const char* expected) const;
  const Value& array(const std::string& key, std::uint32_t type, const char* expected) const;
  const Tensor& tensor(const std::string& name) const;

  std::uint64_t data_bytes_ = 0;  // of the tensors that were read
  InputFile file_;
  std::unordered_map<std::string, Value> values_;
  std::unordered_map<std::string, Tensor> tensors_;
};

}  // namespace app
