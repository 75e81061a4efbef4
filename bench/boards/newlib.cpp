// What newlib asks of a system, for programs that use the C and C++ libraries: a heap and a console; and the application's
// two files, "model" and "tokenizer", which lie in flash.
#include <errno.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "../app/input_file.h"
#include "platform.h"

extern "C" {

// The name of this program among shared libraries, of which there are none.
void* __dso_handle = nullptr;

extern const unsigned char model_begin[], model_end[], tokenizer_begin[], tokenizer_end[];  // embed.S

static size_t used = 0;  // of the heap

void* _sbrk(ptrdiff_t bytes) {
  const firmware::Memory memory = firmware::free_memory();
  if (bytes > ptrdiff_t(memory.count * sizeof(float) - used)) {
    errno = ENOMEM;
    return reinterpret_cast<void*>(-1);
  }
  char* const begin = reinterpret_cast<char*>(memory.floats) + used;
  used = size_t(ptrdiff_t(used) + bytes);
  return begin;
}

int _write(int, const char* from, int count) {
  firmware::write(from, size_t(count));
  return count;
}

// Files are read by app::file_bytes.
int _open(const char*, int, int) {
  errno = ENOENT;
  return -1;
}
int _close(int) { return 0; }
int _read(int, char*, int) { return 0; }
int _lseek(int, int, int) { return 0; }
int _isatty(int) { return 1; }
int _fstat(int, struct stat* status) {
  *status = {};
  status->st_mode = S_IFCHR;
  return 0;
}

// No clock: what takes the time here is the emulator.
int _gettimeofday(struct timeval* time, void*) {
  *time = {};
  return 0;
}

int _getpid() { return 1; }
int _kill(int, int) { firmware::finish(1); }
void _exit(int status) { firmware::finish(status); }

}  // extern "C"

namespace firmware {
size_t heap_bytes() { return used; }
}  // namespace firmware

namespace app {

FileBytes file_bytes(const std::string& path, const std::string& kind) {
  const bool is_model = path == "model";
  if (!is_model && path != "tokenizer") fail_on_file(path, kind, "no such file");
  const unsigned char* const begin = is_model ? model_begin : tokenizer_begin;
  return {begin, size_t((is_model ? model_end : tokenizer_end) - begin), nullptr};
}

}  // namespace app
