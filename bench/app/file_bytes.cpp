// Files on operating systems: mapped into memory. A file that is cut short meanwhile ends the program.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "input_file.h"

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

std::string last_error() { return std::generic_category().message(errno); }

}  // namespace

FileBytes file_bytes(const std::string& path, const std::string& kind) {
  // Asked before opening: opening a pipe would wait for its other end, and a directory opens but cannot be read.
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::none) fail_on_file(path, kind, error.message());
  if (status.type() != std::filesystem::file_type::regular) fail_on_file(path, kind, describe(status.type()));
  const int descriptor = open(path.c_str(), O_RDONLY);
  if (descriptor < 0) fail_on_file(path, kind, last_error());
  const off_t end = lseek(descriptor, 0, SEEK_END);
  void* const pages = end <= 0 ? MAP_FAILED : mmap(nullptr, std::size_t(end), PROT_READ, MAP_PRIVATE, descriptor, 0);
  const std::string reason = end == 0 ? "an empty file" : last_error();
  close(descriptor);
  if (pages == MAP_FAILED) fail_on_file(path, kind, reason);
  const std::size_t size = std::size_t(end);
  return {static_cast<const unsigned char*>(pages), size, {pages, [size](void* begin) { munmap(begin, size); }}};
}

}  // namespace app
