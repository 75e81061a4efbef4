// A file that the user named, and the one kind of error that the application reports about files.
#pragma once

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>

namespace app {

// Why the program cannot go on, in one line for the user.
class Failure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A regular file, read from front to back. Its size is known before anything is read, so that a reader can refuse a file that
// does not fit its own header before it allocates anything. Everything that goes wrong is a Failure that names the file.
class InputFile {
 public:
  // kind: what the file should be, as the error calls it ("a checkpoint").
  InputFile(const std::string& path, const std::string& kind);

  // Bytes in the whole file.
  std::uint64_t size() const { return size_; }

  // The next bytes; fails when the file ends before them.
  void read(void* destination, std::uint64_t bytes);

  // The next 4 bytes as a little-endian number.
  std::int32_t read_int32();

  // The next bytes as so many little-endian floats.
  void read_floats(float* destination, std::uint64_t count);

  [[noreturn]] void fail(const std::string& expected, const std::string& found) const;

 private:
  std::string path_;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
  std::ifstream stream_;
};

// A little-endian int32 at 4 bytes in memory.
std::int32_t int32_at(const char* bytes);

}  // namespace app
