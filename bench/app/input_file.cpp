#include "input_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace app {
namespace {

std::string describe(std::filesystem::file_type type) {
  switch (type) {
    case std::filesystem::file_type::not_found:
      return "no such file";
    case std::filesystem::file_type::directory:
      return "a directory";
    case std::filesystem::file_type::character:
      return "a character device";
    case std::filesystem::file_type::block:
      return "a block device";
    case std::filesystem::file_type::fifo:
      return "a pipe";
    case std::filesystem::file_type::socket:
      return "a socket";
    default:
      return "something that is not a file";
  }
}

}  // namespace

std::int32_t int32_at(const char* bytes) {
  std::uint32_t number = 0;
  for (int i = 3; i >= 0; --i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<std::int32_t>(number);
}

InputFile::InputFile(const std::string& path, const std::string& kind) : path_(path) {
  // Asked before opening: opening a pipe would wait for its other end, and a directory opens but cannot be read.
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::none) fail(kind, error.message());
  if (status.type() != std::filesystem::file_type::regular) fail(kind, describe(status.type()));
  errno = 0;
  stream_.open(path, std::ios::binary);
  if (!stream_) fail(kind, errno != 0 ? std::generic_category().message(errno) : "a file that cannot be opened");
  stream_.seekg(0, std::ios::end);
  const std::streamoff end = stream_.tellg();
  stream_.seekg(0, std::ios::beg);
  if (!stream_ || end < 0) fail(kind, "a file of unknown size");
  size_ = static_cast<std::uint64_t>(end);
  if (size_ == 0) fail(kind, "an empty file");
}

void InputFile::read(void* destination, std::uint64_t bytes) {
  const std::uint64_t left = size_ - position_;
  if (bytes > left) {
    fail(std::to_string(bytes) + " more bytes at byte " + std::to_string(position_), std::to_string(left));
  }
  stream_.read(static_cast<char*>(destination), static_cast<std::streamsize>(bytes));
  if (!stream_) fail(std::to_string(size_) + " readable bytes", "a read error after byte " + std::to_string(position_));
  position_ += bytes;
}

std::int32_t InputFile::read_int32() {
  char bytes[4];
  read(bytes, sizeof bytes);
  return int32_at(bytes);
}

void InputFile::read_floats(float* destination, std::uint64_t count) {
  read(destination, count * sizeof(float));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  for (std::uint64_t i = 0; i < count; ++i) {
    char bytes[4];
    std::memcpy(bytes, destination + i, sizeof bytes);
    const std::int32_t bits = int32_at(bytes);
    std::memcpy(destination + i, &bits, sizeof bits);
  }
#endif
}

void InputFile::fail(const std::string& expected, const std::string& found) const {
  throw Failure(path_ + ": expected " + expected + ", found " + found);
}

}  // namespace app
