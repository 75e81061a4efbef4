// A file that the user named, and the one kind of error that the application reports about files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace app {

// Why the program cannot go on, in one line for the user.
class Failure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// "path: expected …, found …"
[[noreturn]] void fail_on_file(const std::string& path, const std::string& expected, const std::string& found);

// A whole file in memory: mapped by operating systems, in flash on boards, which have a file_bytes of their own. At least
// aligned to 16 bytes.
struct FileBytes {
  const unsigned char* begin;
  std::size_t size;
  std::shared_ptr<const void> owner;  // the bytes are there as long as this is; null for flash
};

// Throws Failure unless the path names a regular file that is not empty.
//   kind: what the file should be, as the error calls it ("a checkpoint")
FileBytes file_bytes(const std::string& path, const std::string& kind);

// A file, read piece by piece. Its size is known before anything is read, so that a reader can refuse a file that does not
// fit its own header before it allocates anything. Everything that goes wrong is a Failure that names the file.
class InputFile {
 public:
  InputFile(const std::string& path, const std::string& kind);

  // Bytes in the whole file.
  std::uint64_t size() const { return storage_->file.size; }

  // The next bytes, where they lie; fails when the file ends before them.
  const unsigned char* bytes(std::uint64_t count);

  // The next 4 bytes as a little-endian number.
  std::int32_t read_int32();

  // The next bytes as so many little-endian numbers of 2 or 4 bytes, at a multiple of that: where they lie, or a copy on
  // machines that read them otherwise.
  const void* numbers(std::uint64_t count, std::size_t bytes_each);
  const float* floats(std::uint64_t count) { return static_cast<const float*>(numbers(count, sizeof(float))); }

  // Where the next bytes are read; fails beyond the end.
  std::uint64_t position() const { return position_; }
  void go_to(std::uint64_t position);

  // What keeps bytes and floats in memory.
  std::shared_ptr<const void> storage() const { return storage_; }

  [[noreturn]] void fail(const std::string& expected, const std::string& found) const { fail_on_file(path_, expected, found); }

 private:
  struct Storage {
    FileBytes file;
    std::vector<std::unique_ptr<float[]>> copies;  // floats, so that they are aligned
  };

  std::string path_;
  std::shared_ptr<Storage> storage_;
  std::uint64_t position_ = 0;
};

// A little-endian int32 at 4 bytes in memory.
std::int32_t int32_at(const unsigned char* bytes);

}  // namespace app
