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

void InputFile::go_to(std::uint64_t position) {
  if (position > size()) fail("at least " + std::to_string(position) + " bytes", std::to_string(size()));
  position_ = position;
}

const void* InputFile::numbers(std::uint64_t count, std::size_t bytes_each) {
  const unsigned char* const found = bytes(count * bytes_each);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  const std::size_t size = static_cast<std::size_t>(count) * bytes_each;
  storage_->copies.emplace_back(new float[(size + sizeof(float) - 1) / sizeof(float)]);
  unsigned char* const copy = static_cast<unsigned char*>(static_cast<void*>(storage_->copies.back().get()));
  for (std::size_t i = 0; i < size; ++i) copy[i] = found[i + bytes_each - 1 - 2 * (i % bytes_each)];
  return copy;
#else
  return found;
#endif
}

}  // namespace app
