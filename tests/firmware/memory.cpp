// What compilers may call for loops and structs, for programs without a C library. Volatile, because such a loop could itself
// be compiled to such a call.
#include <stddef.h>

extern "C" {

void* memset(void* to, int byte, size_t count) {
  volatile char* const bytes = static_cast<volatile char*>(to);
  for (size_t i = 0; i < count; ++i) bytes[i] = char(byte);
  return to;
}

void* memcpy(void* to, const void* from, size_t count) {
  volatile char* const bytes = static_cast<volatile char*>(to);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<const char*>(from)[i];
  return to;
}

void* memmove(void* to, const void* from, size_t count) {
  volatile char* const bytes = static_cast<volatile char*>(to);
  const char* const source = static_cast<const char*>(from);
  if (to <= from) return memcpy(to, from, count);
  for (size_t i = count; i > 0; --i) bytes[i - 1] = source[i - 1];
  return to;
}

}  // extern "C"
