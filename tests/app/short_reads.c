/* In the place of the C library's read and write, by LD_PRELOAD: some bytes at a time, and now and then none because of a signal. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>

static unsigned calls;

/* The file SHORT_READS says that something went this way. */
__attribute__((destructor)) static void end(void) {
  if (calls > 1 && getenv("SHORT_READS") != NULL) creat(getenv("SHORT_READS"), 0600);
}

static size_t some(size_t count) {
  const size_t most = 1 + ++calls * 7 % 13;
  return count < most ? count : most;
}

ssize_t read(int file, void* bytes, size_t count) {
  ssize_t (*next)(int, void*, size_t) = (ssize_t(*)(int, void*, size_t))dlsym(RTLD_NEXT, "read");
  return calls % 5 == 4 ? (++calls, errno = EINTR, -1) : next(file, bytes, some(count));
}

ssize_t write(int file, const void* bytes, size_t count) {
  ssize_t (*next)(int, const void*, size_t) = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  return calls % 5 == 4 ? (++calls, errno = EINTR, -1) : next(file, bytes, some(count));
}

ssize_t writev(int file, const struct iovec* parts, int count) {
  for (; count > 1 && parts->iov_len == 0; --count) ++parts;
  return write(file, parts->iov_base, parts->iov_len);
}
