#include "input_file.h"

#include <cstring>

namespace app {

void fail_on_file(const std::string& path, const std::string& expected, const std::string& found) {
  throw Failure(path + ": expected " + expected + ", found " + found);
}

std::int32_t int32_at(const unsigned char* bytes) {
  std::uint32_t number = 0;
  for (int i = 3; i >= 0; --i) number = number << 8 | bytes[i];
  return static_cast<std::int32_t>(number);
}

InputFile::InputFile(const std::string& path, const std::string& kind)
    : path_(path), storage_(std::make_shared<Storage>(Storage{file_bytes(path, kind), {}})) {}

const unsigned char* InputFile::bytes(std::uint64_t count) {
  const std::uint64_t left = size() - position_;
  if (count > left) {
    fail(std::to_string(count) + " more bytes at byte " + std::to_string(position_), std::to_string(left));
  }
  const unsigned char* const found = storage_->file.begin + position_;
  position_ += count;
  return found;
}

std::int32_t InputFile::read_int32() { return int32_at(bytes(4)); }

const float* InputFile::floats(std::uint64_t count) {
  const unsigned char* const found = bytes(count * sizeof(float));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  const std::size_t floats = static_cast<std::size_t>(count);
  storage_->copies.emplace_back(new float[floats]);
  float* const copy = storage_->copies.back().get();
  for (std::size_t i = 0; i < floats; ++i) {
    const std::int32_t bits = int32_at(found + i * sizeof(float));
    std::memcpy(copy + i, &bits, sizeof bits);
  }
  return copy;
#else
  return static_cast<const float*>(static_cast<const void*>(found));
#endif
}

}  // namespace app
