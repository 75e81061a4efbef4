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

int memcmp(const void* a, const void* b, size_t count) {
  const volatile unsigned char* const x = static_cast<const volatile unsigned char*>(a);
  const volatile unsigned char* const y = static_cast<const volatile unsigned char*>(b);
  for (size_t i = 0; i < count; ++i) {
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  }
  return 0;
}

// The same by the names of Arm's run-time ABI, which Clang calls.
#if defined(__ARM_EABI__)
void __aeabi_memset(void* to, size_t count, int byte) { memset(to, byte, count); }
void __aeabi_memset4(void* to, size_t count, int byte) { memset(to, byte, count); }
void __aeabi_memset8(void* to, size_t count, int byte) { memset(to, byte, count); }
void __aeabi_memclr(void* to, size_t count) { memset(to, 0, count); }
void __aeabi_memclr4(void* to, size_t count) { memset(to, 0, count); }
void __aeabi_memclr8(void* to, size_t count) { memset(to, 0, count); }
void __aeabi_memcpy(void* to, const void* from, size_t count) { memcpy(to, from, count); }
void __aeabi_memcpy4(void* to, const void* from, size_t count) { memcpy(to, from, count); }
void __aeabi_memcpy8(void* to, const void* from, size_t count) { memcpy(to, from, count); }
#endif

}  // extern "C"
