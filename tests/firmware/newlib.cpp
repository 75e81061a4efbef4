// What newlib asks of a system, for programs that use the C and C++ libraries: a heap, a console, and a file system that holds
// two read-only files, "model" and "tokenizer", which lie in flash.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "platform.h"

extern "C" {

// The name of this program among shared libraries, of which there are none.
void* __dso_handle = nullptr;

extern const char model_begin[], model_end[], tokenizer_begin[], tokenizer_end[];  // embed.S

namespace {

struct File {
  const char* name;
  const char* begin;
  const char* end;
};

const File files[] = {{"model", model_begin, model_end}, {"tokenizer", tokenizer_begin, tokenizer_end}};
constexpr int file_count = int(sizeof files / sizeof files[0]);

// Descriptors 0, 1 and 2 are the console; each file has one of its own, so it can be open once at a time.
constexpr int first_file = 3;
ptrdiff_t positions[file_count];

int find(const char* name) {
  for (int i = 0; i < file_count; ++i) {
    if (strcmp(name, files[i].name) == 0) return i;
  }
  return -1;
}

bool is_file(int descriptor) { return descriptor >= first_file && descriptor < first_file + file_count; }

int refuse(int error) {
  errno = error;
  return -1;
}

void describe(int index, struct stat* status) {
  *status = {};
  status->st_mode = index < 0 ? S_IFCHR : S_IFREG | S_IRUSR;
  if (index >= 0) status->st_size = files[index].end - files[index].begin;
}

}  // namespace

void* _sbrk(ptrdiff_t bytes) {
  static size_t used = 0;
  const firmware::Memory memory = firmware::free_memory();
  if (bytes > ptrdiff_t(memory.count * sizeof(float) - used)) {
    errno = ENOMEM;
    return reinterpret_cast<void*>(-1);
  }
  char* const begin = reinterpret_cast<char*>(memory.floats) + used;
  used = size_t(ptrdiff_t(used) + bytes);
  return begin;
}

int _open(const char* name, int, int) {
  const int index = find(name);
  if (index < 0) return refuse(ENOENT);
  positions[index] = 0;
  return first_file + index;
}

int _close(int) { return 0; }

int _read(int descriptor, char* to, int count) {
  if (!is_file(descriptor)) return 0;
  const File& file = files[descriptor - first_file];
  ptrdiff_t& position = positions[descriptor - first_file];
  const ptrdiff_t left = file.end - file.begin - position, taken = left < count ? left : count;
  memcpy(to, file.begin + position, size_t(taken));
  position += taken;
  return int(taken);
}

int _write(int descriptor, const char* from, int count) {
  if (is_file(descriptor)) return refuse(EBADF);
  firmware::write(from, size_t(count));
  return count;
}

int _lseek(int descriptor, int offset, int whence) {
  if (!is_file(descriptor)) return refuse(ESPIPE);
  const File& file = files[descriptor - first_file];
  ptrdiff_t& position = positions[descriptor - first_file];
  const ptrdiff_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? position : file.end - file.begin;
  if (from + offset < 0) return refuse(EINVAL);
  position = from + offset;
  return int(position);
}

int _fstat(int descriptor, struct stat* status) {
  describe(is_file(descriptor) ? descriptor - first_file : -1, status);
  return 0;
}

int _stat(const char* name, struct stat* status) {
  const int index = find(name);
  if (index < 0) return refuse(ENOENT);
  describe(index, status);
  return 0;
}

int _isatty(int descriptor) { return is_file(descriptor) ? 0 : 1; }

// No clock: what takes the time here is the emulator.
int _gettimeofday(struct timeval* time, void*) {
  *time = {};
  return 0;
}

int _getpid() { return 1; }
int _kill(int, int) { firmware::finish(1); }
void _exit(int status) { firmware::finish(status); }

}  // extern "C"
